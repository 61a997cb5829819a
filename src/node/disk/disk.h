#pragma once
// The disk of a peer: operations run on other threads and are answered on the node thread.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "node/disk/batch_thread.h"
#include "node/disk/blob_store.h"
#include "node/disk/held_drops.h"
#include "node/disk/record_store.h"
#include "node/disk/segment_store.h"
#include "node/disk/spare_room.h"
#include "peer/peer.h"

namespace gw::node {

// Carries out the disk actions of a peer, records and segments on one thread and blobs on another. An answered operation is durable: it
// survives a power failure. Flushes are shared (group commit): the operations that arrive during one flush form the next group, so records
// of many turns are one commit, and many blobs one flush. Answers come in the order of the actions of each kind.
//
// Order on the medium: entries of segments, then the commit that records their end, with the records of the same batches; bytes behind the
// recorded end do not count (SegmentStore). Invariant: no durable record names a missing blob. A peer names a blob only after its store was
// answered, and a dropped blob is deleted only after the earlier records are durable; if it is stored again before that, it stays.
//
// A full disk: what was given waits, in its order, and is done when there is room; the peer is told (peer::DiskRoom) and brings nothing
// new but records of what changes meanwhile, of which the last value of each key waits. Records may use the spare room, output that is
// forgotten is removed first. Blobs wait until there is room besides. A process without a free descriptor waits in the same way.
//
// Belongs to the node thread, which blocks when the disk cannot keep up. Any other write error ends the peer: Owner::on_disk_failed is
// called once, and no operation is answered from then on.
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
    SpareRoom spare;
  };
  struct Room {
    bool full = false;
    std::uint64_t free_bytes = 0;  // besides the spare room
  };

  // REQUIRES: io and owner outlive this object, and io runs on the calling thread.
  Disk(boost::asio::io_context& io, Stores stores, Owner& owner);
  ~Disk();

  // The state that earlier boots have left. Kind::corrupt: the store itself is damaged. REQUIRES: called before any other operation.
  Result<peer::Stored> stored();

  void persist(job::Persist batch);
  void drop_records(job::DropRecords what);
  void drop_output(const job::JobId& job);
  void store(job::StoreBlob blob);
  void load(const Hash256& hash);
  void drop(const Hash256& hash);
  void retain(const std::vector<Hash256>& hashes);

  // Called on the node thread when all records and drops given before are durable.
  void after_records(std::function<void()> then);

  using BlobTask = std::function<void(BlobStore&)>;
  // The durable end of the job's output.
  segment::Position output_end(const job::JobId& job) const;
  const std::filesystem::path& output_folder() const { return output_folder_; }
  Room room() const { return {full_, free_bytes_}; }

  // Runs a function of the node on the blob thread, in order with the operations there.
  void with_blobs(BlobTask task);
  // From the disk's threads back to the node thread.
  void answer(std::function<void()> on_node_thread);

 private:
  // A part of a group commit.
  struct Commit {
    RecordStore::Batch batch = {};
    std::vector<job::Append> appends = {};
    std::optional<job::JobId> dropped_output = {};
    std::vector<job::Ticket> tickets = {};  // ascending
    std::function<void()> then = {};        // on the node thread
  };
  using Ends = std::map<job::JobId, segment::Position>;
  using BlobWork = std::variant<job::StoreBlob, job::DropBlob, BlobTask>;

  Status recover_ends(RecordStore::Loaded& loaded, std::set<job::JobId>& jobs);
  // On the thread of the records; of the blobs.
  void commit(std::vector<Commit> group);
  void commit_waiting();
  void merge_waiting();
  void check_room();
  Result<Ends> write(const std::vector<Commit>& group);
  Result<Ends> append_all(const std::vector<Commit>& group);
  void work_on_blobs(std::vector<BlobWork> work);
  void store_waiting();
  void load_now(const Hash256& hash);

  void on_committed(const std::vector<Commit>& group, const Ends& ends);
  void drop_now(const Hash256& hash);
  void failed(const Error& error);
  void answer(peer::DiskDone done);

  boost::asio::io_context& io_;
  Owner& owner_;
  RecordStore records_;                        // its thread's
  BlobStore blobs_;                            // its thread's
  SegmentStore segments_;                      // of the thread of the records
  Ends recorded_;                              // of the thread of the records
  Ends ends_;                                  // the same, as far as was answered
  std::vector<Commit> waiting_commits_;        // of the record thread: not empty only while the disk is full
  std::vector<job::StoreBlob> waiting_blobs_;  // of the blob thread: the same
  std::vector<Hash256> waiting_loads_;         // of the blob thread: while no descriptor or memory is left to read a blob
  SpareRoom spare_;                            // of the thread of the records
  std::atomic<bool> no_room_ = false;          // written by the thread of the records
  std::atomic<std::uint64_t> free_bytes_ = 0;  // the same
  bool full_ = false;                          // as last reported to the peer
  const std::filesystem::path output_folder_;
  job::Ticket given_ = 0, persisted_ = 0;
  HeldDrops drops_;
  bool failed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with answers on their way

  BatchThread<Commit> record_thread_;  // last: they use all the others
  BatchThread<BlobWork> blob_thread_;
};

}  // namespace gw::node
