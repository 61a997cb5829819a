#pragma once
// Rules that frames and messages of all kinds have to keep. For the decoders of this folder, and for records that hold parts of messages.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "wire/worker.pb.h"

namespace gw::wire {

inline Status require(bool condition, std::string_view rule) {
  if (!condition) return fail(Kind::invalid, "it breaks a rule: {}", rule);
  return ok();
}

// Hashes, and the names and keys that have the size of one.
inline bool is_hash(const std::string& bytes) { return bytes.size() == sizeof(Hash256); }

// Bounds the length of a determinant: 65536 of them have to fit into one message (kMaxPeerMessageBytes). `what` is a clock or a descriptor.
inline constexpr std::uint64_t kMaxDeterminantIndex = std::uint64_t{1} << 48;
inline constexpr std::uint32_t kMaxDeterminantWhat = 1u << 16;

template <class List>
Status check_determinants(const List& list) {
  const auto is_small = [](const pb::Determinant& one) { return one.index() <= kMaxDeterminantIndex && one.what() < kMaxDeterminantWhat; };
  GW_TRY_VOID(require(std::ranges::all_of(list, is_small), "a determinant has an index up to 2^48 and is about something below 2^16"));
  const auto gap = [](const pb::Determinant& a, const pb::Determinant& b) { return b.index() != a.index() + 1; };
  GW_TRY_VOID(require(std::ranges::adjacent_find(list, gap) == list.end(), "determinants come without gaps"));
  const auto known = [](const pb::Determinant& one) { return pb::Determinant::Kind_IsValid(one.kind()); };
  return require(std::ranges::all_of(list, known), "the kind of a determinant is not known");
}

}  // namespace gw::wire
