#pragma once
// Names of peers, jobs and workers, and time, as the machines without I/O know them.

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

#include "base/hash.h"
#include "base/ids.h"
#include "job/thread_id.h"
#include "wire/peer_messages.h"

namespace gw::job {

// A hash that names something. Names of different kinds do not mix.
template <class Tag>
struct HashName {
  Hash256 hash;

  // REQUIRES: 32 bytes, as in every message that was decoded.
  static HashName from(const std::string& bytes) { return {wire::hash_of(bytes)}; }
  std::string bytes() const { return wire::bytes_of(hash); }
  // Enough for people to tell them apart.
  std::string brief() const { return hash.hex().substr(0, 8); }
  auto operator<=>(const HashName&) const = default;
};

struct PeerTag;
struct JobTag;
struct WorkerTag;
using PeerId = HashName<PeerTag>;  // SHA-256 of the peer's public key
using JobId = HashName<JobTag>;    // SHA-256 of the signed manifest
using WorkerId = Id<WorkerTag>;    // of one peer, in one life of it

// Since an arbitrary origin that is the same for all calls in one life of a peer.
using Time = std::chrono::nanoseconds;
inline constexpr Time kNever = Time::max();

}  // namespace gw::job
