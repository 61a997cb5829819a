#pragma once
// The chunks of code and input that this peer sends to hosts of a job.

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "job/actions.h"
#include "job/deadlines.h"
#include "job/images/blob_references.h"
#include "job/swarm/swarm.h"

namespace gw::job {

// Which request for a chunk is answered next, and how; docs/design/018-swarm.md.
//
// Bytes that were sent and are not acknowledged (`have`) are limited, so that the first receivers of a chunk have it soon and can send it
// on; the other requests wait, and the peers that wait take turns. A request for a chunk that is on its way here is answered when the chunk
// has come, or is given up. A home sends a large chunk once: for some time after that, it names the receiver, and those that it has named
// it to, instead.
//
// A peer may use only a part of each limit. A peer that acknowledged nothing in the time of a chunk is *silent*: it gets one chunk at a
// time until it acknowledges one, and that chunk keeps no other peer waiting.
//
// Costs: O(log requests) each. Limits: Config; a request beyond them is dropped, and its sender asks again. A machine without I/O or
// threads: its peer owns and drives it.
class ChunkUploads {
 public:
  struct Config {
    std::uint64_t window = 4u << 20;           // bytes that were sent and not acknowledged
    std::uint64_t window_per_peer = 2u << 20;  // of them, by one peer
    std::size_t waiting = 8192;                // requests
    std::size_t waiting_per_peer = 256;
    Time acknowledged = std::chrono::seconds(10);  // after that a chunk counts as received, or lost
    std::uint32_t large = 64u << 10;               // bytes; a smaller chunk costs no more than the names of its holders
    Time sends_on = std::chrono::seconds(10);      // so long the receiver of a chunk is named instead of sending it again
    std::size_t receivers = 1u << 16;              // chunks whose receivers are remembered
    std::size_t named = 8;                         // receivers of one chunk
  };
  struct Request {
    PeerId from;
    JobId job;
    Hash256 hash;
    auto operator<=>(const Request&) const = default;
  };

  // Both outlive it.
  ChunkUploads(const Config& config, BlobReferences& blobs, Swarm& swarm, Rng rng)
      : config_(config), blobs_(blobs), swarm_(swarm), rng_(rng) {}

  // `from_any`: the peer asks its home, and takes the names of other hosts for an answer. REQUIRES: the sender is a member of the job, and
  // the job needs the chunk here (BlobReferences::is_needed).
  void on_want(Time now, const Request& request, bool from_any, Actions& out);
  // Chunks that the peer has received.
  void on_have(Time now, const PeerId& from, const JobMessage::Have& have, Actions& out);
  // A chunk is here.
  void on_stored(Time now, const Hash256& hash, Actions& out);
  // No member of the job that could be asked has the chunk: those that wait for it here are told.
  void on_lost(const Hash256& hash, Actions& out);
  void on_peer_gone(Time now, const PeerId& peer, Actions& out);
  void close(const JobId& job);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const { return deadlines_.next(); }

  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::size_t waiting() const { return requests_.size(); }

 private:
  using Sent = std::pair<PeerId, std::uint64_t>;  // receiver and name of the chunk
  struct Receiver {
    PeerId peer;
    Time until;  // it may be named
  };

  std::vector<PeerId> receivers(Time now, const Request& request);
  void note_receiver(Time now, const Request& request);
  // The requests and unacknowledged chunks of one peer.
  struct Receiving {
    std::size_t waiting = 0;  // requests, also those for chunks that are not here yet
    std::deque<Request> queue = {};
    std::uint64_t in_flight = 0;
    Time heard{0};  // when it acknowledged a chunk last
    bool silent = false;
  };
  bool add_request(const Request& request);
  void remove_request(const Request& request);
  bool may_send(const Receiving& peer) const;
  void enqueue(const Request& request);
  // Called after each change of what a peer receives.
  void note(const PeerId& id);
  void set_silent(const PeerId& id, bool silent);
  void send_queued(Time now, Actions& out);
  void send_next(Time now, const PeerId& id, Actions& out);
  void acknowledge(const Sent& sent);
  void forget_waiting(const PeerId& peer);

  const Config config_;
  BlobReferences& blobs_;
  Swarm& swarm_;
  Rng rng_;
  std::set<Request> requests_;  // that wait, here or for the chunk
  std::map<PeerId, Receiving> peers_;
  std::set<PeerId> ready_;                          // have a request and room in their window
  std::set<PeerId> ready_silent_;                   // the same, of silent ones
  PeerId last_served_{};                            // the next peer in the order of ids has its turn
  std::map<Hash256, std::vector<Request>> coming_;  // requests for chunks that are not here yet
  std::map<Sent, std::uint64_t> sent_;              // not acknowledged: bytes
  std::uint64_t in_flight_ = 0;                     // their sum, without those of silent peers
  Deadlines<Sent> deadlines_;
  std::map<std::pair<JobId, Hash256>, std::vector<Receiver>> receivers_;
  Time swept_{0};                 // when receivers that may be named no more were removed last
  std::uint64_t sent_bytes_ = 0;  // since the start
};

}  // namespace gw::job
