#include "disk.h"

#include <iterator>
#include <set>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::sim {

Time Disk::submit(Time now, Operation operation, Time latency) {
  under_way_.push_back(std::move(operation));
  busy_until_ = std::max({busy_until_, now, full_until_}) + latency;
  return busy_until_;
}

std::optional<peer::DiskDone> Disk::complete() {
  const Operation operation = std::move(under_way_.front());
  under_way_.pop_front();
  return apply(operation);
}

void Disk::write(RecordsWritten& undo, const std::string& key, const std::optional<std::string>& value) {
  ++changes_;
  damaged_records_.erase(key);
  const auto found = records_.find(key);
  undo.before.push_back({key, found == records_.end() ? std::nullopt : std::optional(found->second)});
  if (value) {
    records_[key] = *value;
  } else if (found != records_.end()) {
    records_.erase(found);
  }
}

std::optional<peer::DiskDone> Disk::apply(const Operation& operation) {
  if (const auto* persist = std::get_if<job::Persist>(&operation)) {
    RecordsWritten undo;
    for (const job::Record& record : persist->records) write(undo, record.key, record.value);
    for (const job::Append& append : persist->appends) {
      outputs_[append.job].push_back(append.entry);
      undo.appended_to.push_back(append.job);
    }
    cached_.emplace_back(std::move(undo));
    flush();
    return peer::Persisted{persist->ticket};
  }
  if (const auto* store = std::get_if<job::StoreBlob>(&operation)) {
    blobs_[store->hash] = store->bytes.str();
    cached_.emplace_back(BlobWritten{store->hash});
    return peer::BlobStored{store->hash};
  }
  if (const auto* load = std::get_if<job::LoadBlob>(&operation)) return peer::BlobLoaded{load->hash, blob(load->hash)};
  if (const auto* dropped = std::get_if<job::DropRecords>(&operation)) {
    RecordsWritten undo;
    std::vector<std::string> keys;
    for (auto at = records_.lower_bound(dropped->prefix); at != records_.end() && at->first.starts_with(dropped->prefix); ++at)
      keys.push_back(at->first);
    for (const std::string& key : keys) write(undo, key, std::nullopt);
    cached_.emplace_back(std::move(undo));
  } else if (const auto* forgotten = std::get_if<job::DropOutput>(&operation)) {
    outputs_.erase(forgotten->job);
    damaged_outputs_.erase(forgotten->job);
  } else if (const auto* drop = std::get_if<job::DropBlob>(&operation)) {
    blobs_.erase(drop->hash);
  } else {
    const auto& hashes = std::get<job::RetainBlobs>(operation).hashes;
    const std::set<Hash256> retained(hashes.begin(), hashes.end());
    std::erase_if(blobs_, [&](const auto& entry) { return !retained.contains(entry.first); });
  }
  return std::nullopt;
}

// 35: records are answered as durable while only the operating system has them. 36: a record may reach the medium before the blobs it
// names.
void Disk::flush() {
  if (GW_BUG(35)) return;
  if (GW_BUG(36)) {
    std::erase_if(cached_, [](const Cached& cached) { return std::holds_alternative<RecordsWritten>(cached); });
    return;
  }
  cached_.clear();
}

void Disk::crash(CrashKind kind, Rng& rng) {
  std::size_t done = under_way_.empty() ? 0 : rng.below(under_way_.size() + 1);
  for (; done > 0; --done) complete();
  if (!under_way_.empty())
    if (const auto* store = std::get_if<job::StoreBlob>(&under_way_.front()); store != nullptr && !blobs_.contains(store->hash))
      tear(store->hash, store->bytes.str(), rng);
  under_way_.clear();
  busy_until_ = Time(0);
  if (kind == CrashKind::power) lose_cache(rng);
  cached_.clear();
}

void Disk::lose_cache(Rng& rng) {
  GW_REACHED("sim: power was lost");
  ++changes_;
  std::size_t batches = rng.below(cached_.size() + 1);  // of everything after so many, records are lost
  while (!cached_.empty()) {
    if (const auto* records = std::get_if<RecordsWritten>(&cached_.back()); records != nullptr && cached_.size() > batches) {
      for (auto record = records->before.rbegin(); record != records->before.rend(); ++record) {
        if (record->value) {
          records_[record->key] = *record->value;
        } else {
          records_.erase(record->key);
        }
      }
      for (const job::JobId& job : records->appended_to) outputs_[job].pop_back();
    } else if (const auto* written = std::get_if<BlobWritten>(&cached_.back())) {
      const auto blob = blobs_.find(written->hash);
      const std::uint64_t fate = rng.below(3);
      if (blob != blobs_.end() && fate == 0) blobs_.erase(blob);
      if (blob != blobs_.end() && fate == 1) tear(written->hash, std::string(blob->second), rng);
    }
    cached_.pop_back();
  }
}

void Disk::tear(const Hash256& hash, const std::string& bytes, Rng& rng) {
  if (bytes.empty()) return;
  GW_REACHED("sim: a blob was torn");
  blobs_[hash] = bytes.substr(0, rng.below(bytes.size()));
}

bool Disk::rot(Rng& rng) {
  if (blobs_.empty()) return false;
  const auto blob = std::next(blobs_.begin(), static_cast<std::ptrdiff_t>(rng.below(blobs_.size())));
  if (rng.below(2) == 0) {
    GW_REACHED("sim: a blob has vanished");
    blobs_.erase(blob);
    return true;
  }
  std::string& bytes = blob->second;
  if (bytes.empty()) return false;
  GW_REACHED("sim: a blob has rotted");
  bytes[rng.below(bytes.size())] ^= static_cast<char>(1u << rng.below(8));
  return true;
}

bool Disk::rot_record(Rng& rng) {
  if (!outputs_.empty() && rng.below(5) == 0) {
    GW_REACHED("sim: a segment has rotted");
    damaged_outputs_.insert(std::next(outputs_.begin(), static_cast<std::ptrdiff_t>(rng.below(outputs_.size())))->first);
    return true;
  }
  if (records_.empty()) return false;
  GW_REACHED("sim: a record has rotted");
  damaged_records_.insert(std::next(records_.begin(), static_cast<std::ptrdiff_t>(rng.below(records_.size())))->first);
  return true;
}

peer::Stored Disk::stored() const {
  const auto effects = [this](const job::JobId& job) -> Result<std::vector<job::StoredEffect>> {
    if (damaged_outputs_.contains(job)) return fail(Kind::corrupt, "a segment of its output is damaged on this disk");
    std::vector<job::StoredEffect> headers;
    for (const job::EffectEntry& entry : output(job)) headers.push_back(entry.header);
    return headers;
  };
  peer::Stored stored{records_, {}, [this](const Hash256& hash) { return blob(hash); }, effects};
  for (const std::string& key : damaged_records_)
    if (stored.records.erase(key) > 0) stored.damaged.push_back(key);
  return stored;
}

std::vector<job::EffectEntry> Disk::output(const job::JobId& job) const {
  const auto found = outputs_.find(job);
  return found == outputs_.end() ? std::vector<job::EffectEntry>() : found->second;
}

std::optional<std::string> Disk::blob(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() || sha256(as_bytes(found->second)) != hash) return std::nullopt;
  return found->second;
}

}  // namespace gw::sim
