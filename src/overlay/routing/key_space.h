#pragma once
// Ids as places on a ring, and as digits.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/hash.h"

namespace gw::overlay {

// The position of an id on the ring of 2^128: its first half. Two ids at one position would be half a collision of SHA-256, which a peer
// cannot make for the id of another; such a pair is still told apart by the whole ids.
using RingPosition = unsigned __int128;

inline constexpr unsigned kDigits = 64;  // of 4 bits

inline RingPosition position_of(const Hash256& id) {
  std::uint64_t high;
  std::uint64_t low;
  std::memcpy(&high, id.bytes.data(), sizeof high);
  std::memcpy(&low, id.bytes.data() + sizeof high, sizeof low);
  static_assert(std::endian::native == std::endian::little);
  return (static_cast<RingPosition>(__builtin_bswap64(high)) << 64) | __builtin_bswap64(low);
}

// The distance from one position to another, going up.
inline RingPosition clockwise(RingPosition from, RingPosition to) { return to - from; }

// The shorter of the two distances around the ring.
inline RingPosition distance(RingPosition a, RingPosition b) { return std::min(a - b, b - a); }

// Whether `a` answers for the key rather than `b`. A strict order: equal distances are decided by the ids.
inline bool is_closer(const Hash256& key, const Hash256& a, const Hash256& b) {
  const RingPosition position = position_of(key);
  const RingPosition to_a = distance(position_of(a), position);
  const RingPosition to_b = distance(position_of(b), position);
  return to_a != to_b ? to_a < to_b : a < b;
}

// REQUIRES: index < kDigits.
inline unsigned digit(const Hash256& id, unsigned index) {
  const std::uint8_t byte = id.bytes[index / 2];
  return index % 2 == 0 ? byte >> 4 : byte & 15;
}

// How many leading digits they share.
inline unsigned common_digits(const Hash256& a, const Hash256& b) {
  unsigned count = 0;
  while (count < kDigits && a.bytes[count / 2] == b.bytes[count / 2]) count += 2;
  return count < kDigits && digit(a, count) == digit(b, count) ? count + 1 : count;
}

}  // namespace gw::overlay
