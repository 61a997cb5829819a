#pragma once
// The disk of a peer: what it asks for is done on other threads and answered on the node thread.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "node/disk/batch_thread.h"
#include "node/disk/blob_store.h"
#include "node/disk/record_store.h"
#include "node/disk/segment_store.h"
#include "peer/peer.h"

namespace gw::node {

// Carries out the disk actions of a peer, records and segments on one thread and blobs on another. What is answered as done is on the
// medium: it survives a power failure. Flushing is shared: what has gathered while the last group was flushed is the next one, so records
// of many turns are one commit, and many blobs one flush. Answers come in the order of the actions of each kind.
//
// Order on the medium: entries of segments, then the commit that says where they end, with the records of the same batches; what lies
// behind that end does not count (SegmentStore). Invariant: no record on the medium names a blob that is not there. A peer names a blob
// only when its store was answered, and a blob that is to be dropped goes only when the records before it are on the medium; if it is
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
    SegmentStore segments;
  };

  // REQUIRES: io and owner outlive it, and io runs on the thread that calls it.
  Disk(boost::asio::io_context& io, Stores stores, Owner& owner);
  ~Disk();

  // What lives before have left. Kind::corrupt: the store itself is damaged. REQUIRES: before anything else is asked.
  Result<peer::Stored> stored();

  void persist(job::Persist batch);
  void drop_records(job::DropRecords what);
  void drop_output(const job::JobId& job);
  void store(job::StoreBlob blob);
  void load(const Hash256& hash);
  void drop(const Hash256& hash);
  void retain(const std::vector<Hash256>& hashes);

  using RecordTask = std::function<void(RecordStore&)>;
  using BlobTask = std::function<void(BlobStore&)>;
  // Where what the job has written ends, on the medium.
  segment::Position output_end(const job::JobId& job) const;
  const std::filesystem::path& output_folder() const { return output_folder_; }

  // For the node's own needs: called on the thread of the blobs, or of the records, in order with all else there.
  void with_blobs(BlobTask task);
  void with_records(RecordTask task);
  // From those threads back to this one.
  void answer(std::function<void()> on_node_thread);

 private:
  struct Commit {
    RecordStore::Batch batch;
    std::vector<job::Append> appends;
    std::optional<job::Ticket> ticket;
  };
  using Ends = std::map<job::JobId, segment::Position>;
  using RecordWork = std::variant<Commit, RecordTask>;
  using BlobWork = std::variant<job::StoreBlob, BlobTask>;
  struct HeldDrop {
    job::Ticket after;
    Hash256 hash;
  };

  // On the thread of the records; of the blobs.
  void work_on_records(std::vector<RecordWork> work);
  void commit(std::vector<Commit>& group);
  Result<Ends> append_all(const std::vector<Commit>& group);
  void work_on_blobs(std::vector<BlobWork> work);
  void store_all(std::vector<job::StoreBlob>& group);

  void on_persisted(const std::vector<job::Ticket>& tickets, const Ends& ends);
  void drop_now(const Hash256& hash);
  void failed(const Error& error);
  void answer(peer::DiskDone done);

  boost::asio::io_context& io_;
  Owner& owner_;
  RecordStore records_;    // its thread's
  BlobStore blobs_;        // its thread's
  SegmentStore segments_;  // of the thread of the records
  Ends recorded_;          // of the thread of the records
  Ends ends_;              // the same, as far as was answered
  const std::filesystem::path output_folder_;
  job::Ticket given_ = 0, persisted_ = 0;
  std::deque<HeldDrop> drops_;
  bool failed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with answers on their way

  BatchThread<RecordWork> record_thread_;  // last: they use all the others
  BatchThread<BlobWork> blob_thread_;
};

}  // namespace gw::node
