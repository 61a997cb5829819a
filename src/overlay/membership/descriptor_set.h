#pragma once
// Descriptors by id, the newest of each: what every table of strangers is made of.

#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// A small set, unordered but in the same order for the same history. Finding looks at eight bytes of each id and no further: with ten
// thousand peers in one process nothing else stays in the processor's caches. The owner keeps it within its limit.
//
// Invariant: ids are unique.
class DescriptorSet {
 public:
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const std::vector<Descriptor>& entries() const { return entries_; }
  const Descriptor& operator[](std::size_t index) const { return entries_[index]; }

  const Descriptor* find(const PeerId& id) const;
  bool contains(const PeerId& id) const { return position(id).has_value(); }

  // REQUIRES: not there yet.
  void add(const Descriptor& descriptor);
  // Replaces an older descriptor of the same peer. False: there is none, or none that is older.
  bool renew(const Descriptor& descriptor);
  bool remove(const PeerId& id);
  void remove_at(std::size_t index);
  // Ages every descriptor by one round and removes those older than `limit`.
  void grow_older(std::uint16_t limit);

 private:
  std::optional<std::size_t> position(const PeerId& id) const;

  std::vector<std::uint64_t> heads_;  // the first eight bytes of each id, in the order of entries_
  std::vector<Descriptor> entries_;
};

}  // namespace gw::overlay
