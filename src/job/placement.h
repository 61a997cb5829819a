#pragma once
// Which peers are asked for slots, and which thread goes to which of them.
//
// The problem. Threads wait, slots come and go, and not every peer that offers slots is good: one may be too small for the job, one may
// kill every worker, one may take threads and never do anything. A thread that goes back to the peer where it died dies again.
//
// Ways that were rejected. Trying all claims for each thread, at each tick: O(threads x claims) while nothing changes. A score for peers,
// kept for ever: a peer that was slow once would never be asked again, and a job alone with it would stop.
//
// Invariants.
// 1. Whoever is avoided is only asked last, never not at all: as long as anybody offers slots, every thread that is ready gets one.
// 2. A claim has no more slots than the peer's memory allows for the job's limit.
// 3. Reserved and claimed slots together stay below what the manifest wants, but for offers on their way.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/reason.h"
#include "job/claim_table.h"
#include "job/live_peers.h"
#include "job/thread_table.h"

namespace gw::job {

// Limits: Config::distrusted; asks at most as many peers as there are slots wanted. A machine without I/O or threads.
class Placement {
 public:
  struct Config {
    Time offer_wait = std::chrono::seconds(3);
    Time batch = std::chrono::seconds(2);  // work given in advance
    Time stall = std::chrono::minutes(2);  // at least: a claim of which nothing new is heard, while others have room
    Time distrust_for = std::chrono::minutes(10);
    std::size_t distrusted = 256;
    std::size_t threads_per_claim = 4096;
  };
  struct Ask {
    PeerId peer;
    std::uint32_t slots;
  };

  // `memory`: bytes that one thread of the job may use; 0: not said.
  Placement(const Config& config, std::uint64_t memory) : config_(config), memory_(memory) {}

  // Whom to ask for `wanted` slots more, those that are not trusted last. They are not asked again before an offer or Config::offer_wait.
  std::vector<Ask> ask(Time now, std::size_t wanted, const LivePeers& live_peers, const ClaimTable& claims);
  // What was asked for has come, or never will.
  void on_answer(const PeerId& peer) { asked_.erase(peer); }
  // How many of the offered slots the job can use.
  std::uint32_t usable(std::uint32_t slots, std::uint64_t memory) const;

  // Where a thread goes; none: there is no room. `plenty`: more wait than there are slots, so that hosts may get some in advance.
  std::optional<PeerId> host_for(const HomeThread& thread, const ClaimTable& claims, bool plenty) const;
  // How many threads beyond its slots a claim may have, after how fast it was so far.
  std::size_t ahead(Time now, const Claim& claim, std::size_t waiting, std::size_t claims) const;

  // A thread has come to its end after so long.
  void on_ended(Time duration);
  // How long nothing may be heard of a claim's threads that save an image so often (0: never); kNever: nobody knows. Longer each time it
  // was exceeded: the threads may be like that.
  Time stall_bound(Time checkpoint_every) const;
  void on_stall(Time now, const PeerId& peer);

  // Whether anybody but that peer could take a thread.
  bool others_have_room(Time now, const PeerId& peer, const LivePeers& live_peers, const ClaimTable& claims) const;
  // Why a thread that could start anywhere does not. `wanted`: slots of the job.
  Reason why_no_slot(std::size_t wanted, const LivePeers& live_peers, const ClaimTable& claims) const;

  // It did nothing with what it had, or is too small.
  void distrust(Time now, const PeerId& peer);
  bool is_distrusted(Time now, const PeerId& peer) const;

 private:
  const Config config_;
  const std::uint64_t memory_;
  std::map<PeerId, Time> asked_;  // until when
  std::map<PeerId, Time> distrusted_;
  std::vector<Time> durations_;  // of the threads that ended last
  std::size_t ended_ = 0;
  std::uint32_t stalls_ = 0;
};

}  // namespace gw::job
