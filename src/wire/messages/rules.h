#pragma once
// Rules that frames and messages of all kinds have to keep. For the decoders of this folder.

#include <algorithm>
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

template <class List>
Status check_determinants(const List& list) {
  const auto gap = [](const pb::Determinant& a, const pb::Determinant& b) { return b.index() != a.index() + 1; };
  GW_TRY_VOID(require(std::ranges::adjacent_find(list, gap) == list.end(), "determinants come without gaps"));
  const auto known = [](const pb::Determinant& one) { return pb::Determinant::Kind_IsValid(one.kind()); };
  return require(std::ranges::all_of(list, known), "the kind of a determinant is not known");
}

}  // namespace gw::wire
