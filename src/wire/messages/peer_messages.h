#pragma once
// The messages of peer.proto as bytes, checked where they enter.

#include <cstddef>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/messages/worker_frames.h"
#include "wire/peer.pb.h"

namespace gw::wire {

inline constexpr std::uint32_t kPeerProtocol = 8;
inline constexpr std::size_t kMaxPeerMessageBytes = 2u << 20;
inline constexpr std::size_t kMaxBlobBytes = (1u << 20) + (64u << 10);  // a chunk, a stored page, or the parts of an image
inline constexpr std::size_t kMaxManifestBytes = 1u << 20;
inline constexpr int kMaxHeld = 16384;          // threads in a status
inline constexpr int kMaxKeepers = 2;           // of a thread
inline constexpr int kMaxDeterminants = 65536;  // in a message, and between two images of a thread on a grid
inline constexpr int kMaxTaskList = 16384;      // results, or ranges, in one message
inline constexpr int kMaxHave = 4096;           // chunks in one announcement
inline constexpr int kMaxBlobHolders = 4;       // hosts that are named instead of a blob
inline constexpr std::uint32_t kMaxJobSlots = 1u << 16;
inline constexpr std::uint32_t kMaxPriority = 100;
inline constexpr std::size_t kMaxRefusalBytes = 512;
inline constexpr std::uint32_t kMaxSearchHops = 16;
inline constexpr int kMaxAsked = 64;                                  // peers that the home of a search asks itself
inline constexpr std::uint64_t kWholeGridRadius = 3'600'000'000'000;  // ns: no peer is farther
inline constexpr std::size_t kMaxQueryBytes = 4096;
inline constexpr std::uint64_t kMaxEpoch = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxTerm = std::uint64_t{1} << 40;
inline constexpr std::size_t kMaxRosterMembers = 4096;

// Kind::overloaded if the message would be longer than kMaxPeerMessageBytes.
Result<Bytes> encode(const pb::PeerMessage& message);

// Takes a message as it came. Kind::invalid if it breaks a rule, with the rule; Kind::unsupported if it is of another protocol version.
// Afterwards ids and hashes have 32 bytes, threads, epochs and claims are not 0, nothing is longer than the limits above, and sentences for
// people are free of control characters. Charters, rosters and grants have a size that can be right: job/authority/authority.h checks what
// they say.
Result<pb::PeerMessage> decode_peer_message(ByteView payload);

// REQUIRES: 32 bytes, as in every message that was decoded.
Hash256 hash_of(const std::string& bytes);
inline std::string bytes_of(const Hash256& hash) { return std::string(as_text(hash.bytes)); }

}  // namespace gw::wire
