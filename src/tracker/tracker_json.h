#pragma once
// Requests and answers of a tracker as text; docs/tracker.md. Used by both sides.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/tracker.pb.h"

namespace gw::tracker {

inline constexpr std::size_t kMaxAnnounceBytes = 8u << 10;
inline constexpr std::size_t kMaxListBytes = 128u << 10;
inline constexpr std::size_t kMaxListed = 64;

std::string announcement_text(const wire::pb::Announcement& announcement);
// Kind::invalid.
Result<wire::pb::Announcement> parse_announcement(std::string_view text);

std::string list_text(const std::vector<wire::pb::Descriptor>& peers);
// Kind::corrupt: not a list. Entries that are no descriptors, and those after the first kMaxListed, are left out. The caller checks the
// signatures.
Result<std::vector<wire::pb::Descriptor>> parse_list(std::string_view text);

}  // namespace gw::tracker
