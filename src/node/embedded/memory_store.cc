#include "node/embedded/memory_store.h"

#include <set>

namespace gw::node {
namespace {

// An entry that takes the place of an effect whose content is not kept.
job::EffectEntry nothing(job::ThreadId thread, std::uint64_t epoch, std::uint64_t sequence) {
  job::Effect effect;
  effect.set_thread(thread.value());
  effect.set_epoch(epoch);
  wire::write(job::kHomeStream, *effect.mutable_stream());
  effect.set_sequence(sequence);
  effect.mutable_output()->set_descriptor(1);
  job::EffectEntry entry = job::entry_of(effect);
  entry.header.digest = job::kNoDigest;
  return entry;
}

}  // namespace

Status MemoryStore::commit(std::span<const DiskAction> actions) {
  for (const DiskAction& action : actions) std::visit([this](const auto& what) { apply(what); }, action);
  return ok();
}

void MemoryStore::apply(const job::Persist& persist) {
  for (const job::Append& append : persist.appends) {
    const job::StoredEffect& header = append.entry.header;
    if (header.kind == job::EffectKind::details) continue;  // for the API of a daemon, and no effect
    Thread& thread = threads_[header.thread];
    thread.epoch = header.epoch;
    thread.effects[header.stream] = header.sequence;
    if (header.kind == job::EffectKind::spawn || header.kind == job::EffectKind::end) changes_.push_back(append.entry);
  }
  for (const job::Record& record : persist.records) {
    if (record.value) {
      records_[record.key] = *record.value;
    } else {
      records_.erase(record.key);
    }
  }
}

void MemoryStore::apply(const job::DropRecords& drop) {
  const auto first = records_.lower_bound(drop.prefix);
  auto last = first;
  while (last != records_.end() && last->first.starts_with(drop.prefix)) ++last;
  records_.erase(first, last);
}

void MemoryStore::apply(const job::RetainBlobs& retain) {
  const std::set<Hash256> kept(retain.hashes.begin(), retain.hashes.end());
  std::erase_if(blobs_, [&](const auto& entry) { return !kept.contains(entry.first); });
}

// Effects of one stream in their order, a spawn before everything that its child does, and the end of a thread behind its other effects.
// Spawns are all there: what is missing went to home.
std::vector<job::EffectEntry> MemoryStore::history(const std::deque<job::Effect>& unshown) const {
  std::vector<job::EffectEntry> all;
  std::map<job::ThreadId, std::uint64_t> listed;
  std::map<std::pair<job::ThreadId, std::uint64_t>, const job::Effect*> known;
  for (const job::Effect& effect : unshown) known[{job::ThreadId{effect.thread()}, effect.sequence()}] = &effect;
  const auto list_until = [&](job::ThreadId id, std::uint64_t end) {
    for (std::uint64_t& sequence = listed[id]; sequence < end;) {
      const auto found = known.find({id, ++sequence});
      all.push_back(found == known.end() ? nothing(id, threads_.at(id).epoch, sequence) : job::entry_of(*found->second));
    }
  };
  for (const job::EffectEntry& change : changes_) {
    if (change.header.kind == job::EffectKind::end) {
      list_until(change.header.thread, change.header.sequence - 1);
      listed[change.header.thread] = change.header.sequence;
    }
    all.push_back(change);
  }
  for (const auto& [id, thread] : threads_) list_until(id, wire::mark_of(thread.effects, job::kHomeStream));
  return all;
}

Status MemoryStore::copy_to(JobStore& other, const std::deque<job::Effect>& unshown) const {
  std::vector<DiskAction> actions;
  for (const auto& [hash, bytes] : blobs_) actions.emplace_back(job::StoreBlob{hash, bytes});
  job::Persist everything{.ticket = 0, .records = {}};
  for (const auto& [key, value] : records_) everything.records.push_back({key, value});
  for (job::EffectEntry& entry : history(unshown)) everything.appends.push_back({job::JobId(), std::move(entry)});  // a store is of one job
  actions.emplace_back(std::move(everything));
  return other.commit(actions);
}

Result<peer::Stored> MemoryStore::stored() {
  return peer::Stored{.records = {},
                      .damaged = {},
                      .blob = [](const Hash256&) { return std::nullopt; },
                      .effects = [](const job::JobId&) { return std::vector<job::StoredEffect>(); }};
}

Result<std::string> MemoryStore::load(const Hash256& hash) {
  GW_TRY(const SharedBytes bytes, view(hash));
  return bytes.str();
}

Result<SharedBytes> MemoryStore::view(const Hash256& hash) {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end()) return fail(Kind::not_found, "there is no blob {}", hash.hex());
  return found->second;
}

}  // namespace gw::node
