#pragma once
// The slots that other peers have lent to a job.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "job/names.h"

namespace gw::job {

// A leased set of slots at one peer.
struct Claim {
  std::uint64_t claim = 0;
  std::uint32_t slots = 0;
  std::uint64_t status = 0;  // statuses up to this number are old
  Time since{0};
  Time last_seen{0};
  Time renew_at{0};
  Time idle_since{0};
  Time progress_at{0};         // when something was heard of its threads that was new
  std::uint64_t progress = 0;  // as its last status has it
  std::uint64_t finished = 0;
  std::size_t ahead = 0;  // threads it may have beyond its slots, so that it need not wait for the next one
  std::set<ThreadId> threads;
};

// At most one claim per peer, and who has room for one more thread, without a look at all of them.
//
// Invariant: the indices agree with slots, ahead and threads of each claim; slots() is their sum. Each operation costs O(log claims). A
// value without threads.
class ClaimTable {
 public:
  // REQUIRES: there is none.
  Claim& add(const PeerId& peer, Claim claim);
  void remove(const PeerId& peer);
  // Its slots, ahead and threads change only by the functions below.
  Claim* find(const PeerId& peer);
  const Claim* find(const PeerId& peer) const;
  std::map<PeerId, Claim>& all() { return claims_; }
  const std::map<PeerId, Claim>& all() const { return claims_; }
  void clear();

  // REQUIRES of attach: there is a claim.
  void attach(const PeerId& peer, ThreadId thread);
  void detach(const PeerId& peer, ThreadId thread);
  void set_ahead(const PeerId& peer, std::size_t ahead);

  // Who has the most free slots; somebody to be avoided only if there is nobody else.
  std::optional<PeerId> with_free_slot(std::span<const PeerId> avoid) const;
  // Who has the most room ahead.
  std::optional<PeerId> with_room_ahead(std::span<const PeerId> avoid) const;

  std::uint64_t slots() const { return slots_; }
  std::size_t size() const { return claims_.size(); }
  bool empty() const { return claims_.empty(); }

 private:
  using Index = std::set<std::pair<std::size_t, PeerId>>;  // room, and who has it

  void enter(const PeerId& peer, const Claim& claim);
  void leave(const PeerId& peer, const Claim& claim);
  static std::optional<PeerId> first_of(const Index& index, std::span<const PeerId> avoid);

  std::map<PeerId, Claim> claims_;
  Index free_;
  Index ahead_;
  std::uint64_t slots_ = 0;
};

}  // namespace gw::job
