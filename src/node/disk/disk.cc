#include "node/disk/disk.h"

#include <boost/asio/post.hpp>

#include "base/log.h"
#include "job/records.h"

namespace gw::node {
Disk::Disk(boost::asio::io_context& io, Stores stores, Owner& owner)
    : io_(io),
      owner_(owner),
      records_(std::move(stores.records)),
      blobs_(std::move(stores.blobs)),
      segments_(std::move(stores.segments)),
      output_folder_(segments_.folder()),
      record_thread_({.name = "gw-records"}, [this](std::vector<RecordWork> work) { work_on_records(std::move(work)); }),
      blob_thread_({.name = "gw-blobs", .waiting = 256}, [this](std::vector<BlobWork> work) { work_on_blobs(std::move(work)); }) {}

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
      ++record;  // the peer says that it is damaged
    }
  }
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
  record_thread_.add(Commit{{.records = std::move(batch.records)}, std::move(batch.appends), batch.ticket});
}

void Disk::drop_records(job::DropRecords what) { record_thread_.add(Commit{{.dropped_prefix = std::move(what.prefix)}, {}, std::nullopt}); }

// The files go when the records before are on the medium: a job that is still known has all it has written.
void Disk::drop_output(const job::JobId& job) {
  ends_.erase(job);
  with_records([this, job](RecordStore& records) {
    recorded_.erase(job);
    const std::string key = job::RecordKey{.kind = job::RecordKind::output, .job = job}.encode();
    const std::vector<RecordStore::Batch> batch{{.records = {{key, std::nullopt}}}};
    Status dropped = records.commit(batch);
    if (dropped) dropped = segments_.drop(job);
    if (!dropped) log::warn("node", "output of a forgotten job is left behind", kv("why", dropped.error().detail));
  });
}

void Disk::with_records(RecordTask task) { record_thread_.add(std::move(task)); }

void Disk::work_on_records(std::vector<RecordWork> work) {
  std::vector<Commit> group;
  for (RecordWork& one : work) {
    if (auto* commit = std::get_if<Commit>(&one)) {
      group.push_back(std::move(*commit));
    } else {
      this->commit(group);
      std::get<RecordTask>(one)(records_);
    }
  }
  commit(group);
}

void Disk::commit(std::vector<Commit>& group) {
  if (group.empty()) return;
  auto ends = append_all(group);
  std::vector<RecordStore::Batch> batches;
  for (Commit& one : group) batches.push_back(std::move(one.batch));
  Status done = ends ? ok() : Status(ends.error());
  if (ends && !ends->empty()) {
    RecordStore::Batch& last = batches.emplace_back();
    for (const auto& [job, end] : *ends)
      last.records.push_back({job::RecordKey{.kind = job::RecordKind::output, .job = job}.encode(), segment::encode(end)});
  }
  if (done) done = records_.commit(batches);
  std::vector<job::Ticket> tickets;
  for (const Commit& one : group)
    if (one.ticket) tickets.push_back(*one.ticket);
  group.clear();
  if (!done) {
    segments_.abandon();
    return failed(done.error());
  }
  for (const auto& [job, end] : *ends) recorded_[job] = end;
  answer([this, tickets = std::move(tickets), ends = *std::move(ends)] { on_persisted(tickets, ends); });
}

// On the medium when it returns; counted when the commit is.
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

void Disk::on_persisted(const std::vector<job::Ticket>& tickets, const Ends& ends) {
  if (failed_) return;
  for (const auto& [job, end] : ends) ends_[job] = end;
  for (const job::Ticket ticket : tickets) {
    persisted_ = ticket;
    for (; !drops_.empty() && drops_.front().after <= persisted_; drops_.pop_front()) drop_now(drops_.front().hash);
    owner_.on_disk(peer::Persisted{ticket});
  }
}

// --- blobs

void Disk::store(job::StoreBlob blob) {
  std::erase_if(drops_, [&](const HeldDrop& held) { return held.hash == blob.hash; });  // it is wanted again
  blob_thread_.add(std::move(blob));
}

void Disk::with_blobs(BlobTask task) { blob_thread_.add(std::move(task)); }

void Disk::work_on_blobs(std::vector<BlobWork> work) {
  std::vector<job::StoreBlob> group;
  for (BlobWork& one : work) {
    if (auto* blob = std::get_if<job::StoreBlob>(&one)) {
      group.push_back(std::move(*blob));
    } else {
      store_all(group);
      std::get<BlobTask>(one)(blobs_);
    }
  }
  store_all(group);
}

void Disk::store_all(std::vector<job::StoreBlob>& group) {
  if (group.empty()) return;
  const Status done = blobs_.store(group);
  if (!done) failed(done.error());
  for (const job::StoreBlob& blob : group)
    if (done) answer(peer::BlobStored{blob.hash});
  group.clear();
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

}  // namespace gw::node
