#pragma once
// What a peer asks of a tracker.

#include <chrono>
#include <string>
#include <vector>

#include "overlay/descriptor.h"
#include "transport/asio.h"
#include "wire/tracker.pb.h"

namespace gw::tracker {

// Where a tracker is: "http://HOST:PORT". Kind::invalid.
Result<std::string> parse_tracker_url(const std::string& url);

struct Where {
  transport::asio::ip::tcp::endpoint endpoint;
  std::string host;  // as it is called in the URL
};

// Each is one connection and one request, over within kInquiryPatience. Nothing that comes back is believed: more than kMaxListBytes, or
// what is no answer of a tracker, is Kind::corrupt; a refusal is what the tracker says.
inline constexpr std::chrono::seconds kInquiryPatience(10);
transport::asio::awaitable<Status> announce(Where where, wire::pb::Announcement announcement);
transport::asio::awaitable<Result<std::vector<wire::pb::Descriptor>>> list_peers(Where where, overlay::GridId grid);

}  // namespace gw::tracker
