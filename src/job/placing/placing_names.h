#pragma once
// The words that users have for the placement policies of a job.

#include <string_view>

#include "base/result.h"
#include "wire/peer.pb.h"

namespace gw::job {

using Placing = wire::pb::Manifest::Policy::Placing;
using OnFailure = wire::pb::Manifest::Policy::OnFailure;

// "near", "hash", "spread". A value that is not known here has no name: it is empty.
std::string_view name(Placing place);
// "replace", "ignore", "cancel".
std::string_view name(OnFailure on_failure);
// Kind::invalid, with the words that are known.
Result<OnFailure> parse_on_failure(std::string_view word);

// Kind::invalid with the words that are known.
Result<Placing> parse_placing(std::string_view word);

}  // namespace gw::job
