#include "node/disk/disk.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.h"

namespace gw::node {
namespace {

constexpr std::size_t kMaxPendingBatches = 4096;  // batches for one transaction

}  // namespace

Disk::Disk(boost::asio::io_context& io, Stores stores, Owner& owner)
    : io_(io),
      owner_(owner),
      records_(std::move(stores.records)),
      blobs_(std::move(stores.blobs)),
      record_thread_({.name = "gw-records"}),
      blob_thread_({.name = "gw-blobs", .waiting = 256}) {}

Disk::~Disk() { *alive_ = false; }

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
  enqueue({{.records = std::move(batch.records), .durability = batch.durability}, batch.ticket});
}

void Disk::drop_records(job::DropRecords what) { enqueue({{.dropped_prefix = std::move(what.prefix)}, std::nullopt}); }

void Disk::enqueue(PendingBatch pending) {
  bool first = false;
  {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return pending_.size() < kMaxPendingBatches; });
    first = pending_.empty();
    pending_.push_back(std::move(pending));
  }
  // Otherwise a commit is on its way that will find it.
  if (first) record_thread_.add([this] { commit_pending(); });
}

void Disk::commit_pending() {
  std::vector<PendingBatch> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(pending_);
  }
  taken_.notify_all();
  std::vector<RecordStore::Batch> batches;
  for (PendingBatch& pending : taken) batches.push_back(std::move(pending.batch));
  if (Status done = records_.commit(batches); !done) return failed(done.error());
  for (const PendingBatch& pending : taken)
    if (pending.ticket) answer([this, ticket = *pending.ticket] { on_persisted(ticket); });
}

void Disk::on_persisted(job::Ticket ticket) {
  if (failed_) return;
  persisted_ = ticket;
  for (; !drops_.empty() && drops_.front().after <= persisted_; drops_.pop_front()) drop_now(drops_.front().hash);
  owner_.on_disk(peer::Persisted{ticket});
}

// --- blobs

void Disk::store(job::StoreBlob blob, os::Durability durability) {
  std::erase_if(drops_, [&](const HeldDrop& held) { return held.hash == blob.hash; });  // it is wanted again
  with_blobs([this, durability, blob = std::move(blob)](BlobStore& blobs) {
    if (Status stored = blobs.store(blob.hash, blob.bytes, durability); !stored) return failed(stored.error());
    answer(peer::BlobStored{blob.hash});
  });
}

void Disk::load(const Hash256& hash) {
  with_blobs([this, hash](BlobStore& blobs) {
    auto bytes = blobs.load(hash);
    if (!bytes) log::warn("node", "a blob cannot be read", kv("why", bytes.error().detail));
    answer(peer::BlobLoaded{hash, bytes ? std::optional(*std::move(bytes)) : std::nullopt});
  });
}

void Disk::drop(const Hash256& hash) {
  if (persisted_ < given_) {
    drops_.push_back({given_, hash});
  } else {
    drop_now(hash);
  }
}

void Disk::drop_now(const Hash256& hash) {
  with_blobs([hash](BlobStore& blobs) {
    if (Status dropped = blobs.drop(hash); !dropped) log::warn("node", "a blob is left behind", kv("why", dropped.error().detail));
  });
}

void Disk::retain(const std::vector<Hash256>& hashes) {
  with_blobs([this, keep = std::set<Hash256>(hashes.begin(), hashes.end())](BlobStore& blobs) {
    if (Status cleared = blobs.retain(keep); !cleared) failed(cleared.error());
  });
}

void Disk::with_blobs(std::function<void(BlobStore&)> task) {
  blob_thread_.add([this, task = std::move(task)] { task(blobs_); });
}

void Disk::with_records(std::function<void(RecordStore&)> task) {
  record_thread_.add([this, task = std::move(task)] { task(records_); });
}

}  // namespace gw::node
