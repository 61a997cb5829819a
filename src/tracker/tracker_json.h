#pragma once
// What is said to a tracker and by it, as text; docs/tracker.md. Both sides use this.

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
// Kind::corrupt: it is no list. What is in it but no descriptor is left out, and everything after the first kMaxListed; whether any of it
// is true is for the caller to find out.
Result<std::vector<wire::pb::Descriptor>> parse_list(std::string_view text);

}  // namespace gw::tracker
