#pragma once
// The client of a tracker.

#include <chrono>
#include <string>
#include <vector>

#include "overlay/membership/descriptor.h"
#include "transport/asio.h"
#include "wire/tracker.pb.h"

namespace gw::tracker {

// Parses "http://HOST:PORT". Kind::invalid.
Result<std::string> parse_tracker_url(const std::string& url);

struct Where {
  transport::asio::ip::tcp::endpoint endpoint;
  std::string host;  // as it is called in the URL
};

// Each call is one connection and one request of at most kInquiryPatience. The answer is not trusted: Kind::corrupt if it is longer than
// kMaxListBytes or malformed. A refusal carries the tracker's sentence.
inline constexpr std::chrono::seconds kInquiryPatience(10);
transport::asio::awaitable<Status> announce(Where where, wire::pb::Announcement announcement);
transport::asio::awaitable<Result<std::vector<wire::pb::Descriptor>>> list_peers(Where where, overlay::GridId grid);

}  // namespace gw::tracker
