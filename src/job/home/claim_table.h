#pragma once
// The slots that other peers have lent to a job.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "job/home/task_lease.h"
#include "job/names.h"

namespace gw::job {

// A leased set of slots at one peer.
struct Claim {
  std::uint64_t claim = 0;
  std::uint32_t slots = 0;
  double offered_speed = 0;  // of a core, as the peer says; 0: it does not
  std::uint64_t status = 0;  // statuses up to this number are old
  Time since{0};
  Time last_seen{0};
  Time renew_at{0};
  Time idle_since{0};
  Time progress_at{0};         // the last progress of its threads that was reported
  Time seen_at{0};             // the same without the progress number of the host, which proves nothing: by effects or a keeper
  std::uint64_t progress = 0;  // as its last status has it
  std::uint64_t finished = 0;
  bool draining = false;                 // the host takes no more threads, and those it has are leaving
  std::size_t extra_threads = 0;         // threads it may have beyond its slots, so that a slot that becomes free is used at once
  std::size_t max_threads = kUnlimited;  // threads it may have in all, after it refused one
  std::uint32_t refusals = 0;            // consecutive refusals while it had no thread
  std::set<ThreadId> threads;
  std::set<ThreadId> parked;  // those of them that wait for a message, and need no slot meanwhile
  TaskLease tasks;

  std::size_t busy() const { return threads.size() - parked.size(); }
  bool all_parked() const { return !parked.empty() && busy() == 0 && tasks.held().empty(); }

  bool idle() const { return threads.empty() && tasks.held().empty(); }
  void on_effect(Time now) {
    progress_at = seen_at = now;
    refusals = 0;
  }

  static constexpr std::size_t kUnlimited = ~std::size_t{0};
};

// The claims of a job, at most one per peer, with indices that find a peer with room for one more thread without a scan.
//
// Invariant: the indices agree with slots, extra_threads, max_threads and threads of each claim; slots() is their sum. Each operation costs
// O(log claims). A value without threads.
class ClaimTable {
 public:
  // REQUIRES: the peer has no claim.
  Claim& add(const PeerId& peer, Claim claim);
  void remove(const PeerId& peer);
  // The caller may change the claim, but `slots`, `extra_threads` and `threads` only by the functions below.
  Claim* find(const PeerId& peer);
  const Claim* find(const PeerId& peer) const;
  std::map<PeerId, Claim>& all() { return claims_; }
  const std::map<PeerId, Claim>& all() const { return claims_; }
  void clear();

  // REQUIRES of attach: there is a claim.
  void attach(const PeerId& peer, ThreadId thread);
  void detach(const PeerId& peer, ThreadId thread);
  // The thread waits for a message, or does so no more. Without effect if it is not at that peer.
  void park(const PeerId& peer, ThreadId thread);
  void unpark(const PeerId& peer, ThreadId thread);
  // The host has refused a thread, which was detached: it gets no thread until one of its threads leaves or unlimit() is called.
  void limit(const PeerId& peer);
  void unlimit(const PeerId& peer) { set_max_threads(peer, Claim::kUnlimited); }
  void set_extra_threads(const PeerId& peer, std::size_t ahead);
  // Sets the slots of the claim to 0, so that the peer gets no more threads.
  void drain(const PeerId& peer);

  bool has_free_slot(const PeerId& peer) const;
  // The peer with the most free slots. A peer in `avoid` is returned only if there is no other.
  std::optional<PeerId> with_free_slot(std::span<const PeerId> avoid) const;
  // The peer with the most room for threads in advance (Claim::extra_threads); `avoid` as above.
  std::optional<PeerId> with_room_ahead(std::span<const PeerId> avoid) const;

  std::uint64_t slots() const { return slots_; }
  std::size_t size() const { return claims_.size(); }
  bool empty() const { return claims_.empty(); }

 private:
  void set_max_threads(const PeerId& peer, std::size_t most);
  using Index = std::set<std::pair<std::size_t, PeerId>>;  // room, and the peer that has it

  void enter(const PeerId& peer, const Claim& claim);
  void leave(const PeerId& peer, const Claim& claim);
  static std::optional<PeerId> first_of(const Index& index, std::span<const PeerId> avoid);

  std::map<PeerId, Claim> claims_;
  Index free_;
  Index ahead_;
  std::uint64_t slots_ = 0;
};

}  // namespace gw::job
