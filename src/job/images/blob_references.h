#pragma once
// The blobs that this peer has and needs: fetches those that are lacking, serves those that others need.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/shared_bytes.h"
#include "job/actions.h"
#include "job/deadlines.h"
#include "job/images/blob_cache.h"

namespace gw::job {

struct Blob {
  Hash256 hash;
  std::string bytes;
};

// Counts which job needs which blob; a blob that no job needs is dropped. A blob that is needed and not here is asked for from its sources
// (the peers that are said to have it), in turn and repeatedly, and checked against its hash when it comes. If a source lacks it, or the
// blob was here and is damaged or gone, all other members of the job are asked too. If no member has it, take_lost() returns it: its user
// gives up, or waits until a member that has it comes back. A peer that leaves the job is waited for no longer. Each peer is asked for
// Config::in_flight blobs at a time and has its own queue for the rest, so a peer that never answers delays no other. While the disk is
// slower than the network no blob is asked for, so that an image that comes is not held in memory as a whole.
//
// Invariants: has(hash) is true only after the disk has confirmed it; a blob is given only to a peer that asks for it in the name of a job
// that needs it here; a blob that is asked for is in exactly one place: in the queue of its next source, in flight, or at rest until its
// deadline; or a Swarm asks for it, which has been told to by expect(). A blob of code or input that no job needs any more goes into the
// cache. Costs: on_tick() handles the due ones only. Limits: Config. A value without threads.
class BlobReferences {
 public:
  struct Config {
    std::size_t blobs = 1u << 20;
    std::size_t in_flight = 32;              // blobs asked of one peer at once
    std::size_t waiters = 256;               // blobs that peers wait for from our disk, and peers that wait for one
    std::size_t sources = 4;                 // peers that are said to have a blob
    std::size_t holders = 16;                // members of the job that are asked because they might have it
    std::size_t unstored_bytes = 64u << 20;  // that have come from other peers and are not on the disk yet; no more are asked for then
    Time retry = std::chrono::milliseconds(800);
    Time ask_all_again = std::chrono::seconds(5);  // after no member had it
    BlobCache::Config cache = {};
  };
  // The members of a job that might have its blobs; without this peer.
  using Holders = std::function<std::vector<PeerId>(const JobId&)>;
  BlobReferences(Config config, Holders holders) : config_(config), holders_(std::move(holders)), cache_(config.cache) {}

  // While the disk is full no blob is asked for, and blobs that come are not stored.
  void set_disk_full(bool full) { disk_full_ = full; }
  bool disk_full() const { return disk_full_; }
  // Whether the disk takes more: nothing may be asked for otherwise.
  bool may_ask() const { return !disk_full_ && unstored_bytes_ < config_.unstored_bytes; }

  bool has(const Hash256& hash) const;
  // A job needs the blob, and it is neither stored here nor being stored.
  bool is_asked(const Hash256& hash) const;
  // The blob is asked for, and all members of its jobs are asked in turn.
  bool is_searched(const Hash256& hash) const;
  // The job needs the blob, wherever it is.
  bool is_needed(const Hash256& hash, const JobId& job) const;
  // The job needs the blob, and it is stored here or being stored.
  bool is_held(const Hash256& hash, const JobId& job) const { return is_needed(hash, job) && !is_asked(hash); }
  // As is_needed(), and it is code or input, not a part of an image.
  bool is_shared(const Hash256& hash, const JobId& job) const { return is_needed(hash, job) && blobs_.at(hash).cached; }
  // The jobs that need the blob.
  std::vector<JobId> jobs_of(const Hash256& hash) const;
  // The size of a blob that this peer has received since its start; 0: not known.
  std::uint64_t bytes_of(const Hash256& hash) const;
  std::size_t size() const { return blobs_.size(); }

  // Each counts one more need of the job. adopt(): an earlier boot has stored the blob. put(): stores it. want(): asks `from` for it.
  void adopt(const Hash256& hash, const JobId& job);
  void put(Blob blob, const JobId& job, Actions& out) { put(blob.hash, std::move(blob.bytes), job, out); }
  void put(const Hash256& hash, SharedBytes bytes, const JobId& job, Actions& out);
  Status want(Time now, const Hash256& hash, const JobId& job, const PeerId& from, Actions& out);
  // As want() for code and inputs; the caller asks for it.
  Status expect(const Hash256& hash, const JobId& job);
  // Asks that peer, once. REQUIRES: is_asked(). `from_any`: as in the message.
  void ask(const Hash256& hash, const JobId& job, const PeerId& peer, bool from_any, Actions& out);
  // Asks all members of the jobs that need the blob, in turn, until one has it. No effect on a blob that is not asked for.
  void ask_members(Time now, const Hash256& hash);
  // The blob is code or input: it stays in the cache when no job needs it any more. REQUIRES: a job needs it.
  void set_cached(const Hash256& hash) { blobs_.at(hash).cached = true; }
  void set_cache_limit(std::uint64_t bytes, Actions& out);
  const BlobCache& cache() const { return cache_; }
  // Removes one need. The records of this turn take effect before the blob is deleted.
  void release(const Hash256& hash, const JobId& job, Actions& out);
  std::vector<Hash256> all() const;

  // Reads a blob for local use; answered by on_disk.
  void load(const Hash256& hash, Actions& out) { out.add(LoadBlob{hash}); }

  // True: the blob is read, and sent then. False: the peer is told that it is lacking, or asks again.
  bool on_want(const PeerId& from, const JobId& job, const Hash256& hash, Actions& out);
  // Kind::corrupt if the bytes do not have the hash.
  Status on_blob(Time now, const PeerId& from, const JobMessage::Blob& message, Actions& out);
  void on_stored(const Hash256& hash);
  // Sends the blob to the peers that wait for it.
  void on_loaded(const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  // The blob on the disk is damaged or gone.
  void on_lost(Time now, const Hash256& hash);
  // Blobs that no asked peer has, since the last call.
  std::vector<Hash256> take_lost() { return std::exchange(lost_, {}); }
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

 private:
  enum class State : std::uint8_t { asked, storing, stored };
  // Where a blob that is asked for is in its turn. at_rest: it is asked for again at its deadline.
  enum class Turn : std::uint8_t { nowhere, queued, in_flight, at_rest };
  // A peer, and the job in which both take part.
  struct Partner {
    PeerId peer;
    JobId job;
    auto operator<=>(const Partner&) const = default;
  };
  struct Source {
    Partner partner;
    bool lacks = false;   // the peer said so
    bool member = false;  // of the job, when that was looked at last
  };
  struct Entry {
    State state;
    std::uint32_t bytes = 0;                    // 0: not known
    bool damaged = false;                       // the bytes on the disk do not have the hash
    bool cached = false;                        // it goes into the cache when no job needs it
    std::map<JobId, std::uint32_t> needs = {};  // a module may be needed by each of many jobs
    std::vector<Source> sources = {};           // in the order in which they are asked
    bool was_asked = false;                     // the first source was asked
    Turn turn = Turn::nowhere;
    std::uint64_t order = 0;  // in the queue of the first source
    PeerId asked = {};        // the peer in whose queue it is, or that was asked
  };
  // The blobs that one peer is asked for.
  struct Window {
    std::size_t in_flight = 0;
    std::set<std::pair<std::uint64_t, Hash256>> queue = {};
  };

  // The entry of a blob that is in the cache, or else a new one in this state.
  Entry& make(const Hash256& hash, State state);
  static void add_need(Entry& entry, const JobId& job);
  void add_source(Entry& entry, const Partner& from) const;
  void update_holders(const Hash256& hash, Entry& entry);
  void give_up_for_now(Time now, const Hash256& hash, Entry& entry);
  void leave_turn(const Hash256& hash, Entry& entry);
  void rest(const Hash256& hash, Entry& entry, Time until);
  // Puts the blob into the queue of its first source. REQUIRES: there is one.
  void enqueue(const Hash256& hash, Entry& entry);
  void ask_next(const Hash256& hash, Entry& entry);
  void note_room(const PeerId& peer, const Window& window);
  void ask_queued(Time now, Actions& out);
  void store(const Hash256& hash, SharedBytes bytes, Actions& out);

  Config config_;
  const Holders holders_;
  bool disk_full_ = false;
  BlobCache cache_;
  std::map<Hash256, Entry> blobs_;
  std::map<PeerId, Window> windows_;  // of peers with blobs in flight or queued
  std::set<PeerId> with_room_;        // peers with a queue and fewer than Config::in_flight blobs in flight
  Deadlines<Hash256> deadlines_;      // of blobs in flight or at rest
  std::uint64_t next_order_ = 0;
  std::map<Hash256, std::uint32_t> writing_;   // stores the disk has not answered: a blob may be dropped and come again meanwhile
  std::map<Hash256, std::uint64_t> unstored_;  // blobs of other peers among them, with their bytes
  std::uint64_t unstored_bytes_ = 0;
  std::map<Hash256, std::set<Partner>> waiters_;
  std::vector<Hash256> lost_;
};

}  // namespace gw::job
