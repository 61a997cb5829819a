// What a peer makes of what its lives before have left.

#include "job/records.h"
#include "peer/peer.h"

namespace gw::peer {
namespace {

using job::HomeRecords;
using job::KeeperRecords;
using job::RecordKey;
using job::RecordKind;

struct Sorted {
  std::map<JobId, HomeRecords> homes;
  std::map<job::Keeper::Name, KeeperRecords> kept;
  std::map<GridId, std::vector<std::string>> peers;
  std::vector<wire::pb::GridRecord> grids;
};

template <class Value>
Status parse(const std::string& bytes, Value& value) {
  if (!value.ParseFromString(bytes)) return fail(Kind::corrupt, "a record of this peer cannot be read: its store is damaged");
  return ok();
}

Status sort(const std::string& key_bytes, const std::string& value, Sorted& sorted) {
  GW_TRY(const RecordKey key, RecordKey::decode(key_bytes));
  switch (key.kind) {
    case RecordKind::job:
      return parse(value, sorted.homes[key.job].job);
    case RecordKind::counters:
      return parse(value, sorted.homes[key.job].counters);
    case RecordKind::thread:
      return parse(value, sorted.homes[key.job].threads[key.thread]);
    case RecordKind::effect:
      return parse(value, sorted.homes[key.job].effects[key.thread][key.number]);
    case RecordKind::kept:
      return parse(value, sorted.kept[{key.job, key.thread}].kept);
    case RecordKind::determinants:
      return parse(value, sorted.kept[{key.job, key.thread}].determinants[key.number]);
    case RecordKind::peers: {
      wire::pb::RememberedPeers peers;
      GW_TRY_VOID(parse(value, peers));
      sorted.peers[{key.job.hash}].assign(peers.addresses().begin(), peers.addresses().end());
      return ok();
    }
    case RecordKind::grid:
      return parse(value, sorted.grids.emplace_back());
  }
  return fail(Kind::internal, "a kind of record was forgotten");
}

}  // namespace

Status Peer::start(Time now, const Stored& stored, std::vector<Action>& out) {
  Sorted sorted;
  for (const auto& [key, value] : stored.records) GW_TRY_VOID(sort(key, value, sorted));
  for (const auto& [name, records] : sorted.kept) {
    std::optional<std::string> parts;
    if (!records.kept.parts().empty()) parts = stored.blob(wire::hash_of(records.kept.parts()));
    GW_TRY_VOID(keeper_.recover(now, name, records, parts));
  }
  GW_TRY_VOID(grids_.restore(sorted.grids));
  Actions turn;
  turn.add(job::RetainBlobs{});
  GW_TRY_VOID(recover_homes(now, sorted.homes, turn));
  std::get<job::RetainBlobs>(turn.now.front()).hashes = blobs_.all();
  grids_.start(now, sorted.peers, turn);
  finish_turn(now, turn, out);
  return ok();
}

Status Peer::recover_homes(Time now, const std::map<JobId, HomeRecords>& homes, Actions& out) {
  for (const auto& [id, records] : homes) {
    if (records.job.state() != wire::pb::JobRecord::RUNNING) {
      past_.add(id, records.job, out);
      continue;
    }
    GW_TRY(job::Charter charter, job::Charter::check(as_bytes(records.job.charter())));
    GW_TRY(job::Manifest manifest, job::Manifest::check(as_bytes(records.job.manifest())));
    const Grid* grid = grid_of(charter);
    if (grid == nullptr)
      return fail(Kind::not_found,
                  "job {} runs in grid {}, in which this peer is not any more: start it with that grid, or with another state", id.brief(),
                  charter.grid() ? charter.grid()->brief() : "any");
    job::Home& home = add_home(*grid, std::move(charter), std::move(manifest), records.job.manifest(), out);
    GW_TRY_VOID(home.recover(now, records));
  }
  return ok();
}

}  // namespace gw::peer
