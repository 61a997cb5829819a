// Recovery of a peer from the records of earlier boots.
//
// A damaged record costs only the job or thread it belongs to: a job of this home ends with an error; a thread kept for another peer is
// lost here, which its home learns when it asks for it. A job of this home whose grid has a damaged record ends with an error too: in any
// other grid its code would go to peers that its owner has not chosen. Every loss is notified.

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"
#include "peer/peer.h"
#include "wire/messages/peer_messages.h"
#include "wire/messages/rules.h"

namespace gw::peer {

using job::HomeRecords;
using job::KeeperRecords;
using job::RecordKey;
using job::RecordKind;

// The records by what they belong to.
struct Peer::Found {
  std::map<JobId, HomeRecords> homes;
  std::map<JobId, std::string> damaged_homes;  // and why
  std::map<job::Keeper::Name, KeeperRecords> kept;
  std::set<job::Keeper::Name> damaged_kept;
  std::map<GridId, std::vector<std::string>> peers;
  std::map<job::Balance::Name, job::Balance::Entry> balances;
  Grids::Stored grids;
  std::vector<std::string> sentences;  // damage that costs no job or thread
  std::vector<std::string> useless;    // keys

  void add(const std::string& key, const std::string& value);
  void add_damaged(const std::string& key);

 private:
  bool parse(const RecordKey& key, const std::string& value);
  bool parse_grid(const GridId& id, const std::string& value);
};

namespace {

std::string_view name_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::job:
      return "the record of the job";
    case RecordKind::counters:
      return "the record of its counters";
    case RecordKind::thread:
      return "the record of a thread";
    case RecordKind::output:
      return "the record of where its output ends";
    case RecordKind::suspension:
      return "the record of its suspension";
    case RecordKind::input:
      return "a piece of standard input";
    case RecordKind::mail:
    case RecordKind::mail_mark:
    case RecordKind::watch:
      return "a message between threads";
    case RecordKind::task_file:
      return "the record of a file of a task";
    case RecordKind::kept:
      return "the record of a kept thread";
    case RecordKind::determinants:
      return "the record of determinants";
    case RecordKind::peers:
      return "the list of peers";
    case RecordKind::grid:
      return "the record of a grid";
    case RecordKind::balance:
    case RecordKind::consumer_balance:
      return "the balance with a peer";
  }
  return "a record";
}

// Check everything: a damaged store, or a job file from a stranger, may contain anything.
bool is_hash_or_none(const std::string& bytes) { return bytes.empty() || bytes.size() == sizeof(Hash256); }

bool parse_thread(const std::string& value, wire::pb::ThreadRecord& record) {
  return record.ParseFromString(value) && is_hash_or_none(record.host()) && record.keepers_size() <= wire::kMaxKeepers &&
         std::ranges::all_of(record.keepers(), [](const std::string& keeper) { return keeper.size() == sizeof(Hash256); });
}

bool parse_counters(const std::string& value, wire::pb::RecoveryCountersRecord& record) {
  return record.ParseFromString(value) &&
         std::ranges::all_of(record.peers(), [](const auto& peer) { return peer.peer().size() == sizeof(Hash256); });
}

// The keeper sends all determinants of a thread in one message, which has to fit.
bool parse_determinants(const std::string& value, wire::pb::DeterminantsRecord& record) {
  return record.ParseFromString(value) && wire::check_determinants(record.determinants()).has_value();
}

bool parse_file(const std::string& value, wire::pb::FilePieceRecord& record) {
  return record.ParseFromString(value) && is_hash_or_none(record.hash());
}

bool parse_kept(const std::string& value, wire::pb::KeptRecord& record) {
  return record.ParseFromString(value) && is_hash_or_none(record.image_root());
}

}  // namespace

bool Peer::Found::parse(const RecordKey& key, const std::string& value) {
  switch (key.kind) {
    case RecordKind::job:
      return homes[key.job].job.ParseFromString(value);
    case RecordKind::counters:
      return parse_counters(value, homes[key.job].counters);
    case RecordKind::thread:
      return parse_thread(value, homes[key.job].threads[key.thread]);
    case RecordKind::output:
      return true;  // the disk's own
    case RecordKind::suspension:
      return homes[key.job].suspended = true;
    case RecordKind::input:
      return homes[key.job].input[key.number].ParseFromString(value);
    case RecordKind::mail:
      return homes[key.job].mail[key.thread][key.number].ParseFromString(value);
    case RecordKind::mail_mark:
      return homes[key.job].mail_marks[key.thread].ParseFromString(value);
    case RecordKind::watch:
      homes[key.job].watches.insert({key.thread, ThreadId{key.number}});
      return true;
    case RecordKind::task_file:
      return parse_file(value, homes[key.job].files[key.thread][key.number]);
    case RecordKind::kept:
      return parse_kept(value, kept[{key.job, key.thread}].kept);
    case RecordKind::determinants:
      return parse_determinants(value, kept[{key.job, key.thread}].determinants[key.number]);
    case RecordKind::peers: {
      wire::pb::RememberedPeers remembered;
      if (!remembered.ParseFromString(value)) return false;
      peers[{key.job.hash}].assign(remembered.addresses().begin(), remembered.addresses().end());
      return true;
    }
    case RecordKind::grid:
      return key.job != RecordKey::lost_grids().job && parse_grid({key.job.hash}, value);
    case RecordKind::balance:
    case RecordKind::consumer_balance: {
      const auto decoded = job::Balance::decode(key, value);
      if (decoded) balances.insert(*decoded);
      return decoded.has_value();
    }
  }
  return false;
}

bool Peer::Found::parse_grid(const GridId& id, const std::string& value) {
  wire::pb::GridRecord record;
  if (!record.ParseFromString(value)) return false;
  const auto credentials = GridCredentials::read(record);
  if (!credentials || credentials->id != id) return false;
  grids.records.push_back(std::move(record));
  return true;
}

void Peer::Found::add(const std::string& key, const std::string& value) {
  const auto decoded = RecordKey::decode(key);
  if (!decoded || !parse(*decoded, value)) add_damaged(key);
}

void Peer::Found::add_damaged(const std::string& key) {
  const auto decoded = RecordKey::decode(key);
  if (!decoded) {  // stays where it is: it may be that of a grid, or of a newer godwit
    sentences.push_back(decoded.error().detail);
    grids.unknown_keys = true;
    return;
  }
  const std::string sentence = fmt::format("{} is damaged on this disk", name_of(decoded->kind));
  switch (decoded->kind) {
    case RecordKind::job:
    case RecordKind::thread:
    case RecordKind::output:
    case RecordKind::input:
    case RecordKind::mail:
    case RecordKind::mail_mark:
    case RecordKind::watch:
    case RecordKind::task_file:
      homes[decoded->job];
      damaged_homes[decoded->job] = sentence;
      return;
    case RecordKind::suspension:  // has no value: its presence is the state
      homes[decoded->job].suspended = true;
      return;
    case RecordKind::kept:
    case RecordKind::determinants:
      kept[{decoded->job, decoded->thread}];
      damaged_kept.insert({decoded->job, decoded->thread});
      useless.push_back(key);
      return;
    case RecordKind::counters:  // for display only
    case RecordKind::peers:
    case RecordKind::balance:
    case RecordKind::consumer_balance:
      useless.push_back(key);
      sentences.push_back(fmt::format("{} and left out: that of {}", sentence, decoded->job.brief()));
      return;
    case RecordKind::grid:  // stays where it is: it may hold a key that is nowhere else
      grids.damaged.insert({decoded->job.hash});
      if (decoded->job == RecordKey::lost_grids().job) {
        sentences.push_back("the records of the grids of this peer are lost, so it is in no grid now: join its grids again");
        return;
      }
      sentences.push_back(fmt::format("{}, so this peer is not in grid {} now: join that grid again, by its name or with a new invitation",
                                      sentence, decoded->job.brief()));
  }
}

Status Peer::start(Time now, const Stored& stored, std::vector<Action>& out) {
  Found found;
  if (GW_BUG(60) && !stored.damaged.empty()) return fail(Kind::corrupt, "a record is damaged");
  for (const auto& [key, value] : stored.records) found.add(key, value);
  for (const std::string& key : stored.damaged) found.add_damaged(key);
  Actions turn;
  turn.add(job::RetainBlobs{});
  for (const std::string& sentence : found.sentences) turn.notify(job::RecordsDamaged{sentence});
  for (const std::string& key : found.useless) turn.record(key, std::nullopt);
  for (const auto& [name, records] : found.kept) {
    const bool damaged = found.damaged_kept.contains(name);
    const Status kept = damaged ? keeper_.drop_records(name, records, turn) : keeper_.recover(now, name, records, stored.blob, turn);
    if (!kept) turn.notify(job::RecordsDamaged{kept.error().detail});
  }
  for (const auto& [name, entry] : found.balances) lender_.recover_balance(name, entry);
  GW_TRY_VOID(grids_.restore(found.grids));
  GW_TRY_VOID(recover_homes(now, found, stored, turn));
  std::get<job::RetainBlobs>(turn.now.front()).hashes = blobs_.all();
  grids_.start(now, found.peers, turn);
  finish_turn(now, turn, out);
  return ok();
}

Status Peer::recover_homes(Time now, Found& found, const Stored& stored, Actions& out) {
  for (auto& [id, records] : found.homes) {
    const auto damaged = found.damaged_homes.find(id);
    if (damaged != found.damaged_homes.end()) {
      give_up_home(now, id, records, damaged->second, out);
    } else if (records.job.state() != wire::pb::JobRecord::RUNNING) {
      past_.add(id, records.job, out);
    } else if (auto effects = stored.effects(id); !effects) {
      give_up_home(now, id, records, effects.error().detail, out);
    } else {
      records.effects = *std::move(effects);
      const Status recovered = recover_home(now, id, records, out);
      if (recovered) continue;
      if (recovered.error().kind == Kind::not_found) return recovered;
      give_up_home(now, id, records, recovered.error().detail, out);
    }
  }
  return ok();
}

Status Peer::recover_home(Time now, const JobId& id, const HomeRecords& records, Actions& out) {
  GW_TRY(job::Charter charter, job::Charter::check(as_bytes(records.job.charter())));
  if (charter.id() != id) return fail(Kind::corrupt, "the record of the job has the charter of another job");
  GW_TRY(job::Manifest manifest, job::Manifest::check(as_bytes(records.job.manifest())));
  const Grid* grid = grid_of(charter);
  if (grid == nullptr && grids_.is_damaged(charter.grid()))
    return fail(Kind::corrupt, "the record of its grid is damaged on this disk: join the grid again and submit the job again");
  if (grid == nullptr)
    return fail(Kind::not_found, "job {} runs in {}, in which this peer is not any more: start it with that grid, or with another state",
                id.brief(), describe_grid(charter.grid()));
  GW_TRY(std::vector<Hash256> blobs, job::blobs_of_job(manifest, records.job.row_inputs()));
  const Status recovered =
      add_home(*grid, {std::move(charter), std::move(manifest), std::move(blobs)}, records.job.manifest(), out).recover(now, records);
  if (recovered) return ok();
  release_home(id, out);
  homes_.erase(id);
  return recovered;
}

// The job cannot continue: it ends here, and its hosts and keepers learn so with their next message. Its output stays.
void Peer::give_up_home(Time now, const JobId& id, const HomeRecords& records, const std::string& why, Actions& out) {
  GW_REACHED("peer: a job with damaged records was given up");
  wire::pb::JobRecord record = records.job;
  record.clear_charter();
  record.clear_manifest();
  record.clear_row_inputs();
  if (record.name().empty()) record.set_name("unknown");
  const bool ran = record.state() == wire::pb::JobRecord::RUNNING;
  record.set_sentence(ran ? fmt::format("the job could not go on after a restart of its home: {}", why)
                          : fmt::format("what is left of the job may be incomplete: {}", why));
  if (ran) {
    record.set_state(wire::pb::JobRecord::DONE);
    record.set_ended_at_ns(static_cast<std::uint64_t>((now + identity_.wall_offset).count()));
    record.set_failed(std::max<std::uint64_t>(1, record.failed()));
    record.set_exit_code(1);
  }
  out.record(RecordKey{.kind = RecordKind::job, .job = id}.encode(), record.SerializeAsString());
  for (const RecordKind kind : {RecordKind::thread, RecordKind::counters, RecordKind::input, RecordKind::mail, RecordKind::mail_mark,
                                RecordKind::watch, RecordKind::task_file, RecordKind::suspension})
    out.add(job::DropRecords{RecordKey{.kind = kind, .job = id}.prefix()});
  out.notify(job::RecordsDamaged{fmt::format("job {}: {}", id.brief(), record.sentence())});
  past_.add(id, std::move(record), out);
}

}  // namespace gw::peer
