#pragma once
// Names that travel, and time, as the machines without I/O know them.

#include <chrono>
#include <compare>
#include <string>

#include "base/hash.h"
#include "wire/messages/peer_messages.h"

namespace gw::wire {

// A hash that names something. Names of different kinds do not mix.
template <class Tag>
struct HashName {
  Hash256 hash;

  // REQUIRES: 32 bytes, as in every message that was decoded.
  static HashName from(const std::string& bytes) { return {hash_of(bytes)}; }
  std::string bytes() const { return bytes_of(hash); }
  // The first 8 hexadecimal digits, for display.
  std::string brief() const { return hash.hex().substr(0, 8); }
  auto operator<=>(const HashName&) const = default;
};

struct PeerTag;
struct GridTag;
struct JobTag;
using PeerId = HashName<PeerTag>;  // SHA-256 of the peer's public key
using GridId = HashName<GridTag>;
using JobId = HashName<JobTag>;  // SHA-256 of the signed charter

// Time since an arbitrary origin, which is the same within one boot of a peer.
using Time = std::chrono::nanoseconds;
inline constexpr Time kNever = Time::max();

}  // namespace gw::wire
