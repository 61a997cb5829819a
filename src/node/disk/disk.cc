#include "node/disk/disk.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.h"
#include "job/records.h"
#include "node/disk/record_repair.h"
#include "os/clock.h"

namespace gw::node {
namespace {

constexpr std::chrono::seconds kCheckRoom(2);
// Beyond this the node thread blocks. Enough for all pages of the largest memory: these are views into memory that a worker has handed
// over. Blobs from other peers are bounded by BlobReferences::Config::unstored_bytes.
constexpr std::size_t kBlobsWaiting = 1u << 17;

}  // namespace

Disk::Disk(boost::asio::io_context& io, Stores stores, Owner& owner)
    : io_(io),
      owner_(owner),
      records_(std::move(stores.records)),
      blobs_(std::move(stores.blobs)),
      segments_(std::move(stores.segments)),
      spare_(std::move(stores.spare)),
      output_folder_(segments_.folder()),
      record_thread_({.name = "gw-records", .idle = kCheckRoom}, [this](std::vector<Commit> group) { commit(std::move(group)); }),
      blob_thread_({.name = "gw-blobs", .waiting = kBlobsWaiting, .idle = kCheckRoom},
                   [this](std::vector<BlobWork> work) { work_on_blobs(std::move(work)); }) {}

Disk::~Disk() { *alive_ = false; }

Result<peer::Stored> Disk::stored() {
  GW_TRY(RecordStore::Loaded loaded, records_.load());
  const std::string first(1, static_cast<char>(job::RecordKind::output));
  std::set<job::JobId> jobs;
  for (auto record = loaded.records.lower_bound(first); record != loaded.records.end() && record->first.starts_with(first);) {
    const auto key = job::RecordKey::decode(record->first);
    const auto end = segment::decode_position(record->second);
    if (key && end) {
      recorded_[key->job] = *end;
      jobs.insert(key->job);
      record = loaded.records.erase(record);
    } else {
      ++record;  // the peer reports it as damaged
    }
  }
  GW_TRY_VOID(recover_ends(loaded, jobs));
  ends_ = recorded_;
  GW_TRY_VOID(segments_.retain(jobs));
  return peer::Stored{.records = std::move(loaded.records),
                      .damaged = std::move(loaded.damaged),
                      .blob = [this](const Hash256& hash) -> std::optional<std::string> {
                        auto bytes = blobs_.load(hash);
                        return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
                      },
                      .effects = [this](const job::JobId& job) { return segments_.headers(job, output_end(job)); }};
}

// Finds the end of a job's output from its segments if the record of the end, or all records of the job, are lost.
Status Disk::recover_ends(RecordStore::Loaded& loaded, std::set<job::JobId>& jobs) {
  RecordStore::Batch batch;
  const auto recover = [&](const job::JobId& id) {
    recorded_[id] = segments_.readable_end(id);
    jobs.insert(id);
    batch.records.push_back({job::RecordKey{.kind = job::RecordKind::output, .job = id}.encode(), segment::encode(recorded_[id])});
  };
  for (const std::string& bytes : loaded.damaged)
    if (const auto key = job::RecordKey::decode(bytes); key && key->kind == job::RecordKind::output) recover(key->job);
  for (const job::JobId& id : segments_.jobs()) {
    const std::string key = job::RecordKey{.kind = job::RecordKind::job, .job = id}.encode();
    if (loaded.records.contains(key) || std::ranges::find(loaded.damaged, key) != loaded.damaged.end()) continue;
    recover(id);
    loaded.records[key] = without_records({}, os::wall_now()).SerializeAsString();
    batch.records.push_back({key, loaded.records[key]});
  }
  return batch.records.empty() ? ok() : records_.commit({&batch, 1});
}

segment::Position Disk::output_end(const job::JobId& job) const {
  const auto found = ends_.find(job);
  return found == ends_.end() ? segment::Position() : found->second;
}

// --- back to the node thread

void Disk::answer(std::function<void()> on_node_thread) {
  boost::asio::post(io_, [alive = alive_, on_node_thread = std::move(on_node_thread)] {
    if (*alive) on_node_thread();
  });
}

void Disk::answer(peer::DiskDone done) {
  answer([this, done = std::move(done)]() mutable {
    if (!failed_) owner_.on_disk(std::move(done));
  });
}

void Disk::failed(const Error& error) {
  answer([this, error] {
    if (!std::exchange(failed_, true)) owner_.on_disk_failed(error);
  });
}

// --- records

void Disk::persist(job::Persist batch) {
  given_ = batch.ticket;
  record_thread_.add({.batch = {.records = std::move(batch.records)}, .appends = std::move(batch.appends), .tickets = {batch.ticket}});
}

void Disk::drop_records(job::DropRecords what) { record_thread_.add({.batch = {.dropped_prefix = std::move(what.prefix)}}); }

void Disk::drop_output(const job::JobId& job) {
  ends_.erase(job);
  const std::string key = job::RecordKey{.kind = job::RecordKind::output, .job = job}.encode();
  record_thread_.add({.batch = {.records = {{key, std::nullopt}}}, .dropped_output = job});
}

void Disk::after_records(std::function<void()> then) { record_thread_.add({.then = std::move(then)}); }

void Disk::commit(std::vector<Commit> group) {
  std::ranges::move(group, std::back_inserter(waiting_commits_));
  if (!waiting_commits_.empty()) commit_waiting();
  check_room();
}

void Disk::commit_waiting() {
  auto ends = write(waiting_commits_);
  const auto no_room = [&] { return !ends && ends.error().kind == Kind::overloaded; };
  if (no_room() && spare_.release()) {
    log::warn("node", "the disk is full: no new work is taken until there is room", kv("why", ends.error().detail));
    ends = write(waiting_commits_);
  }
  if (no_room()) {
    // Make room: delete the output of jobs that are being forgotten first. A crash now leaves a job whose view says that its output is
    // missing.
    for (const Commit& one : waiting_commits_)
      if (one.dropped_output) (void)segments_.drop(*one.dropped_output);
    ends = write(waiting_commits_);
  }
  if (no_room()) return merge_waiting();
  std::vector<Commit> group = std::exchange(waiting_commits_, {});
  if (!ends) return failed(ends.error());
  for (const auto& [job, end] : *ends) recorded_[job] = end;
  // Delete the files only after the records are durable, so that a job that is still recorded has all its output.
  for (const Commit& one : group) {
    if (!one.dropped_output) continue;
    recorded_.erase(*one.dropped_output);
    const Status dropped = segments_.drop(*one.dropped_output);
    if (!dropped) log::warn("node", "output of a forgotten job is left behind", kv("why", dropped.error().detail));
  }
  for (Commit& one : group) one.batch = {}, one.appends = {};
  answer([this, group = std::move(group), ends = *std::move(ends)] { on_committed(group, ends); });
}

// Merges adjacent commits that wait, so that they hold one value per key however long the disk is full. Commits before and after a drop are
// not merged: their order must stay.
void Disk::merge_waiting() {
  const auto plain = [](const Commit& one) { return one.batch.dropped_prefix.empty() && !one.dropped_output && !one.then; };
  std::vector<Commit> merged;
  for (Commit& one : waiting_commits_) {
    if (merged.empty() || !plain(one) || !plain(merged.back())) {
      merged.push_back(std::move(one));
      continue;
    }
    Commit& before = merged.back();
    std::ranges::move(one.batch.records, std::back_inserter(before.batch.records));
    std::ranges::move(one.appends, std::back_inserter(before.appends));
    before.tickets.insert(before.tickets.end(), one.tickets.begin(), one.tickets.end());
  }
  for (Commit& one : merged) {
    std::set<std::string> seen;  // from the last record of each key
    std::vector<job::Record>& records = one.batch.records;
    std::ranges::reverse(records);
    std::erase_if(records, [&](const job::Record& record) { return !seen.insert(record.key).second; });
    std::ranges::reverse(records);
  }
  waiting_commits_ = std::move(merged);
}

// The disk is full while commits wait, the spare room cannot be reserved again, or less than SpareRoom::kLow is free besides it.
void Disk::check_room() {
  const Status reserved = waiting_commits_.empty() ? spare_.reserve() : Status(fail(Kind::overloaded, "records wait for room"));
  const auto free = spare_.free_bytes();
  if (free) free_bytes_ = *free;
  const bool full = (!reserved && reserved.error().kind == Kind::overloaded) || (free && *free < SpareRoom::kLow);
  if (no_room_.exchange(full) == full) return;
  log::warn("node", full ? "the disk is full: no new work is taken" : "the disk has room again", kv("free_bytes", free_bytes_.load()));
  answer([this, full] {
    full_ = full;
    if (!failed_) owner_.on_disk(peer::DiskRoom{full});
  });
}

// Writes all commits or none.
Result<Disk::Ends> Disk::write(const std::vector<Commit>& group) {
  auto appended = append_all(group);
  if (!appended) {
    segments_.abandon();
    return appended;
  }
  Ends ends = *std::move(appended);
  std::vector<RecordStore::Batch> batches;
  for (const Commit& one : group) batches.push_back(one.batch);
  RecordStore::Batch& last = batches.emplace_back();
  for (const auto& [job, end] : ends) {
    if (std::ranges::find(group, job, &Commit::dropped_output) != group.end()) continue;
    last.records.push_back({job::RecordKey{.kind = job::RecordKind::output, .job = job}.encode(), segment::encode(end)});
  }
  if (const Status committed = records_.commit(batches); !committed) {
    segments_.abandon();
    return committed.error();
  }
  return ends;
}

// The entries are durable on return; they count when the commit is durable.
Result<Disk::Ends> Disk::append_all(const std::vector<Commit>& group) {
  Ends ends;
  for (const Commit& one : group) {
    for (const job::Append& append : one.appends) {
      const auto recorded = recorded_.find(append.job);
      GW_TRY(ends[append.job],
             segments_.append(append.job, recorded == recorded_.end() ? segment::Position() : recorded->second, append.entry));
    }
  }
  if (!ends.empty()) GW_TRY_VOID(segments_.flush());
  return ends;
}

void Disk::on_committed(const std::vector<Commit>& group, const Ends& ends) {
  if (failed_) return;
  for (const auto& [job, end] : ends) ends_[job] = end;
  for (const Commit& one : group) {
    if (one.dropped_output) ends_.erase(*one.dropped_output);
    if (one.then) one.then();
    for (const job::Ticket ticket : one.tickets) {
      persisted_ = ticket;
      for (const Hash256& hash : drops_.take_due(persisted_)) drop_now(hash);
      owner_.on_disk(peer::Persisted{ticket});
    }
  }
}

// --- blobs

void Disk::store(job::StoreBlob blob) {
  drops_.cancel(blob.hash);
  blob_thread_.add(std::move(blob));
}

void Disk::with_blobs(BlobTask task) { blob_thread_.add(std::move(task)); }

void Disk::work_on_blobs(std::vector<BlobWork> work) {
  for (const Hash256& hash : std::exchange(waiting_loads_, {})) load_now(hash);
  for (BlobWork& one : work) {
    if (auto* blob = std::get_if<job::StoreBlob>(&one)) {
      waiting_blobs_.push_back(std::move(*blob));
      continue;
    }
    store_waiting();
    if (const auto* dropped = std::get_if<job::DropBlob>(&one)) {
      // A store that is given up is answered too: the peer counts the stores of a blob that may be dropped and come again.
      const std::size_t given_up = std::erase_if(waiting_blobs_, [&](const job::StoreBlob& blob) { return blob.hash == dropped->hash; });
      for (std::size_t i = 0; i < given_up; ++i) answer(peer::BlobStored{dropped->hash});
      const Status done = blobs_.drop(dropped->hash);
      if (!done) log::warn("node", "a blob is left behind", kv("why", done.error().detail));
    } else {
      std::get<BlobTask>(one)(blobs_);
      for (const Hash256& lost : blobs_.take_lost()) answer(peer::BlobLost{lost});
    }
  }
  store_waiting();
}

void Disk::store_waiting() {
  if (waiting_blobs_.empty() || no_room_) return;
  const Status done = blobs_.store(waiting_blobs_);
  if (!done && done.error().kind == Kind::overloaded) return;
  for (const job::StoreBlob& blob : waiting_blobs_)
    if (done) answer(peer::BlobStored{blob.hash});
  waiting_blobs_.clear();
  if (!done) failed(done.error());
}

void Disk::load(const Hash256& hash) {
  with_blobs([this, hash](BlobStore&) { load_now(hash); });
}

void Disk::load_now(const Hash256& hash) {
  auto bytes = blobs_.load(hash);
  if (!bytes) log::warn("node", "a blob cannot be read", kv("why", bytes.error().detail));
  if (!bytes && bytes.error().kind == Kind::overloaded) return waiting_loads_.push_back(hash);
  answer(peer::BlobLoaded{hash, bytes ? std::optional(*std::move(bytes)) : std::nullopt});
}

void Disk::drop(const Hash256& hash) {
  if (persisted_ < given_) {
    drops_.hold(given_, hash);
  } else {
    drop_now(hash);
  }
}

void Disk::drop_now(const Hash256& hash) { blob_thread_.add(job::DropBlob{hash}); }

void Disk::retain(const std::vector<Hash256>& hashes) {
  with_blobs([this, keep = std::set<Hash256>(hashes.begin(), hashes.end())](BlobStore& blobs) mutable {
    if (Status cleared = blobs.retain(std::move(keep)); !cleared) failed(cleared.error());
  });
}

}  // namespace gw::node
