#pragma once
// The disk of a peer: what it asks for is done on other threads and answered on the node thread.

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "node/disk/blob_store.h"
#include "node/disk/record_store.h"
#include "node/disk/serial_thread.h"
#include "peer/peer.h"

namespace gw::node {

// Carries out the disk actions of a peer, records on one thread and blobs on another. Records of several turns become one transaction: what
// has gathered while the last one was committed is the next. Answers come in the order of the actions of each kind.
//
// A blob that is to be dropped goes only when the records before it are on disk, so that no record ever names a blob that is gone; if it is
// stored again before that, it stays.
//
// Belongs to the node thread, which waits when a disk does not keep up with it. A disk that refuses to be written to is the end of the
// peer: Owner::on_disk_failed, once, and nothing is answered from then on.
class Disk {
 public:
  class Owner {
   public:
    virtual void on_disk(peer::DiskDone done) = 0;
    virtual void on_disk_failed(const Error& error) = 0;

   protected:
    ~Owner() = default;
  };
  struct Stores {
    RecordStore records;
    BlobStore blobs;
  };

  // REQUIRES: io and owner outlive it, and io runs on the thread that calls it.
  Disk(boost::asio::io_context& io, Stores stores, Owner& owner);
  ~Disk();

  void persist(job::Persist batch);
  void drop_records(job::DropRecords what);
  void store(job::StoreBlob blob, os::Durability durability);
  void load(const Hash256& hash);
  void drop(const Hash256& hash);
  void retain(const std::vector<Hash256>& hashes);

  // For the node's own needs: called on the thread of the blobs, or of the records, in order with all else there.
  void with_blobs(std::function<void(BlobStore&)> task);
  void with_records(std::function<void(RecordStore&)> task);
  // From those threads back to this one.
  void answer(std::function<void()> on_node_thread);

 private:
  struct PendingBatch {
    RecordStore::Batch batch;
    std::optional<job::Ticket> ticket;
  };
  struct HeldDrop {
    job::Ticket after;
    Hash256 hash;
  };

  void enqueue(PendingBatch pending);
  void commit_pending();
  void on_persisted(job::Ticket ticket);
  void drop_now(const Hash256& hash);
  void failed(const Error& error);
  void answer(peer::DiskDone done);

  boost::asio::io_context& io_;
  Owner& owner_;
  RecordStore records_;  // its thread's
  BlobStore blobs_;      // its thread's
  job::Ticket given_ = 0, persisted_ = 0;
  std::deque<HeldDrop> drops_;
  bool failed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with answers on their way

  std::mutex mutex_;
  std::condition_variable taken_;
  std::vector<PendingBatch> pending_;  // under mutex_

  SerialThread record_thread_, blob_thread_;  // last: they use all the others
};

}  // namespace gw::node
