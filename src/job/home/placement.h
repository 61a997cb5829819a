#pragma once
// Which peers are trusted with threads, and which thread goes to which peer.
//
// The problem. Threads wait, slots come and go, and not every peer that offers slots is good: a peer may have too little memory for the
// job, lose every worker, take threads and make no progress, report every thread as faulty, or refuse threads. A thread that goes back to
// the peer where a run of it was lost is likely to be lost again.
//
// Ways that were rejected. Trying all claims for each thread at each tick: O(threads x claims) while nothing changes; ClaimTable has
// indices instead. A permanent score per peer: a peer that was slow once would never be asked again, and a job whose only lender it is
// would stop; distrust expires instead (Config::distrust_for). One fixed time after which a silent claim counts as stalled: it is too short
// for threads that run for hours and too long for threads of a second; the bound follows the durations of ended threads (stall_bound()).
// Believing the first host that reports a faulty thread: one bad host could fail every thread of a job (is_proven()).
//
// Invariants.
// 1. An avoided or distrusted peer is used last, but it is used: as long as any peer offers slots, every ready thread gets one.
// 2. A claim has no more slots than the peer's memory allows for the job's limit per thread; a job that finds no other peer takes one slot.
// 3. A thread that one host reports as faulty (its accuser) waits for another host. It goes back to the accuser only if no other host takes
//    it for a while. The thread is failed only after two hosts agree, or after Config::faults reports if there is no other host.
// 4. A host gets threads beyond its slots only from claims with a measured rate, and at most Config::batch of work (ahead()).

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "job/home/claim_table.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"

namespace gw::job {

// The rules for placing and distrusting of one job. Limit: Config::distrusted. A machine without I/O or threads.
class Placement {
 public:
  struct Config {
    Time batch = std::chrono::seconds(2);  // work given in advance
    Time stall = std::chrono::minutes(2);  // at least: a claim of which nothing new is heard, while others have room
    std::uint32_t own_word = 8;            // times longer, if the host itself reports progress that no other peer has seen
    Time distrust_for = std::chrono::minutes(10);
    std::size_t distrusted = 256;
    std::size_t threads_per_claim = 4096;
    std::uint32_t faults = 3;    // reports of one host that fail a thread, if no other host can try it
    std::uint32_t refusals = 8;  // consecutive ones of a host without threads, after which its claim is given back
  };
  // `memory`: bytes that one thread of the job may use; 0: not known.
  Placement(const Config& config, std::uint64_t memory) : config_(config), memory_(memory) {}

  // How many of the offered slots the job can use.
  std::uint32_t usable(std::uint32_t slots, std::uint64_t memory) const;

  // The host for a thread, its preferred one if that has room; none: there is no room. `plenty`: more threads wait than there are slots, so
  // hosts may get some in advance.
  std::optional<PeerId> host_for(const HomeThread& thread, const ClaimTable& claims, bool plenty) const;
  // A thread that one host reports as faulty, and another host with room for it; none: there is no such pair.
  struct Retry {
    ThreadId thread;
    PeerId host;
  };
  static std::optional<Retry> next_doubted(const ThreadTable& threads, const ClaimTable& claims);
  // Whether the thread itself is faulty: two hosts agree, or one host reports it Config::faults times and no other can try it (`lone`).
  bool is_proven(const HomeThread& thread, bool lone) const;
  // How many threads beyond its slots a claim may have, from the rate at which it has finished threads so far.
  std::size_t ahead(Time now, const Claim& claim, std::size_t waiting, std::size_t claims) const;

  // A thread has ended; it ran for `duration`.
  void on_ended(Time duration);
  // How long a claim may be without progress when its threads save an image every `checkpoint_every` (0: never). The bound doubles each
  // time it was exceeded: the threads themselves may be slow. A thread without images begins anew when it is moved; then the bound doubles
  // without end, so that the last run, which is long enough, costs at least as much as all lost ones together.
  Time stall_bound(Time checkpoint_every) const;
  Time least_stall() const { return config_.stall; }
  std::uint32_t own_word() const { return config_.own_word; }
  void on_stall(Time now, const PeerId& peer);
  // The claim's host refuses every thread.
  bool refuses_all(const Claim& claim) const { return claim.refusals >= config_.refusals; }

  // Whether another peer could take a thread.
  bool others_have_room(Time now, const PeerId& peer, const LivePeers& live_peers, const ClaimTable& claims) const;
  // Whether another peer lends slots to the job, or could.
  bool others_lend(Time now, const PeerId& peer, const LivePeers& live_peers, const ClaimTable& claims) const;
  // Uses the peer last for Config::distrust_for: it made no progress, reported a thread as faulty, refused all or has too little memory.
  void distrust(Time now, const PeerId& peer);
  bool is_distrusted(Time now, const PeerId& peer) const;

 private:
  const Config config_;
  const std::uint64_t memory_;
  std::map<PeerId, Time> distrusted_;
  std::vector<Time> durations_;  // of the threads that ended last
  std::size_t ended_ = 0;
  std::uint32_t stalls_ = 0;
};

}  // namespace gw::job
