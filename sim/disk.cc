#include "disk.h"

#include <set>

#include "base/reached.h"

namespace gw::sim {

Time Disk::submit(Time now, Operation operation, Time latency) {
  under_way_.push_back(std::move(operation));
  busy_until_ = std::max(busy_until_, now) + latency;
  return busy_until_;
}

std::optional<peer::DiskDone> Disk::complete() {
  const Operation operation = std::move(under_way_.front());
  under_way_.pop_front();
  return apply(operation);
}

std::optional<peer::DiskDone> Disk::apply(const Operation& operation) {
  if (const auto* persist = std::get_if<job::Persist>(&operation)) {
    for (const job::Record& record : persist->records) {
      if (record.value) {
        records_[record.key] = *record.value;
      } else {
        records_.erase(record.key);
      }
    }
    return peer::Persisted{persist->ticket};
  }
  if (const auto* store = std::get_if<job::StoreBlob>(&operation)) {
    blobs_[store->hash] = store->bytes;
    return peer::BlobStored{store->hash};
  }
  if (const auto* load = std::get_if<job::LoadBlob>(&operation)) return peer::BlobLoaded{load->hash, blob(load->hash)};
  if (const auto* dropped = std::get_if<job::DropRecords>(&operation)) {
    std::erase_if(records_, [&](const auto& entry) { return entry.first.starts_with(dropped->prefix); });
  } else if (const auto* drop = std::get_if<job::DropBlob>(&operation)) {
    blobs_.erase(drop->hash);
  } else {
    const auto& hashes = std::get<job::RetainBlobs>(operation).hashes;
    const std::set<Hash256> retained(hashes.begin(), hashes.end());
    std::erase_if(blobs_, [&](const auto& entry) { return !retained.contains(entry.first); });
  }
  return std::nullopt;
}

void Disk::crash(Rng& rng) {
  std::size_t done = under_way_.empty() ? 0 : rng.below(under_way_.size() + 1);
  for (; done > 0; --done) complete();
  if (!under_way_.empty()) {
    if (auto* store = std::get_if<job::StoreBlob>(&under_way_.front()); store != nullptr && !store->bytes.empty()) {
      GW_REACHED("sim: a blob was torn");
      blobs_[store->hash] = store->bytes.substr(0, rng.below(store->bytes.size()));
    }
  }
  under_way_.clear();
  busy_until_ = Time(0);
}

peer::Stored Disk::stored() const {
  return {records_, [this](const Hash256& hash) { return blob(hash); }};
}

std::optional<std::string> Disk::blob(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() || sha256(as_bytes(found->second)) != hash) return std::nullopt;
  return found->second;
}

}  // namespace gw::sim
