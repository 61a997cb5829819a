#pragma once
// The peers whose ids come right before and right after the own id.

#include <span>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// Pastry's leafset: of all peers ever offered and not removed, the `half` next ones on either side of this peer on the ring of ids. Fewer
// than 2 * half others: all of them, and then this peer sees the whole ring.
//
// Invariants: sorted by the way from this peer, going up; each peer once, in its newest incarnation; never this peer; at most 2 * half.
// The caller decides which peers may enter: a descriptor that is offered was signed by its owner and lies under no tombstone
// (failure_detector.h).
//
// Differences from Pastry: membership changes by gossip alone (ring.h), without repair requests; suspected members stay and are bypassed
// (routing/router.h), so a false suspicion costs nothing.
class Leafset {
 public:
  explicit Leafset(const PeerId& self, std::size_t half = 8) : self_(self), half_(half) {}

  enum class Offered : std::uint8_t { entered, renewed, ignored };
  Offered offer(const Descriptor& peer);
  // Whether offer() would change the leafset.
  bool wants(const PeerId& peer, const Incarnation& incarnation) const;
  bool remove(const PeerId& peer);
  void grow_older();

  const Descriptor* find(const PeerId& peer) const;
  // By the way from this peer, going up: the first `half` follow it, the last `half` come before it.
  std::span<const Descriptor> members() const { return members_; }
  std::size_t half() const { return half_; }
  bool is_full() const { return members_.size() >= 2 * half_; }
  // Whether the key lies between the outermost members, so that the closest peer of the whole grid is among them or this one.
  bool covers(const Hash256& key) const;

 private:
  std::vector<Descriptor>::const_iterator lower_bound(const PeerId& peer) const;

  const PeerId self_;
  const std::size_t half_;
  std::vector<Descriptor> members_;
};

}  // namespace gw::overlay
