#pragma once
// Peers from the whole grid, sorted by the length of the id prefix they share with this peer.

#include <span>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// Pastry's prefix table: in slot (row, column) peers that share `row` digits with this one and go on with `column`, so that a message gets
// closer to its key by one digit with each hop. Two for each slot: the nearest by coordinate that were offered.
//
// Invariants: sorted by slot, then distance; each peer once; every peer in the only slot it fits; never this peer; only peers that
// can be dialled, since a hop to another would get lost. At most kRows * 15 * 2 entries; a grid of n fills about log16(n) rows, and more
// of them only by grinding out ids, 16 times the work for each row.
//
// Differences from Pastry: two entries a slot instead of one, so that a death leaves no hole; filled by gossip (ring.h).
class PrefixTable {
 public:
  static constexpr unsigned kRows = 16;
  static constexpr std::size_t kPerSlot = 2;

  struct Entry {
    Descriptor peer;
    std::uint16_t slot;
    float distance;  // estimated round trip when it was offered last, seconds
  };

  explicit PrefixTable(const PeerId& self) : self_(self) {}

  // Filled: its slot was empty. Added: there is one in its slot beside it, and perhaps a farther one has gone.
  enum class Offered : std::uint8_t { filled, added, renewed, ignored };
  // REQUIRES: `distance` is finite.
  Offered offer(const Descriptor& peer, float distance);
  // Whether offer() would change the table.
  bool wants(const Descriptor& peer, float distance) const;
  bool remove(const PeerId& peer);
  void grow_older();

  const Descriptor* find(const PeerId& peer) const;
  // The slot for that key: nearest peer first, empty if none is known. REQUIRES: the key is not this peer's id.
  std::span<const Entry> next(const Hash256& key) const;
  std::span<const Entry> entries() const { return entries_; }

  // The slot of `peer` in the table of `owner`; peers of the same slot are interchangeable. REQUIRES: the ids differ.
  static std::uint16_t slot_of(const PeerId& owner, const Hash256& peer);

 private:
  std::span<const Entry> slot(std::uint16_t number) const;
  void remove_at(std::size_t index);

  const PeerId self_;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> slots_;  // of the entries: a search stays within a few lines of the processor's cache
};

}  // namespace gw::overlay
