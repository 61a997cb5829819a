#pragma once
// The needs of a job, and the capacity of a host; docs/design/016-search.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/peer.pb.h"

namespace gw::job {

using wire::pb::Capacity;
using wire::pb::Requirements;

// Limits of the texts that a stranger sends in either message.
inline constexpr std::size_t kMaxTags = 16;
inline constexpr std::size_t kMaxTagBytes = 64;

// Letters, digits, dots, dashes and underscores. Kind::invalid.
Status check_tag(std::string_view tag);

// Kind::invalid: a field is out of range.
Status check(const Requirements& needs);
Status check(const Capacity& capacity);

// Why a host with this capacity is not good enough, with both numbers; none: it fits.
std::optional<std::string> misfit(const Requirements& needs, const Capacity& capacity);

// The need that none of these hosts meets, with the most that one of them has: "needs 2.0 GiB of memory per slot, the largest of 3 machines
// lends 400 MiB". REQUIRES: misfit() has found something at each of them, and there is one at least.
std::string shortfall(const Requirements& needs, std::span<const Capacity> capacities);

// "memory=2G,disk=1G,speed=0.5,arch=x86_64,tag=gpu". Kind::invalid with the part that is wrong.
Result<Requirements> parse_requirements(std::string_view text);
std::string text_of(const Requirements& needs);

}  // namespace gw::job
