#pragma once
// Addresses as users write them, and their resolution to endpoints.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "node/disk/serial_thread.h"

namespace gw::node {

using Endpoint = boost::asio::ip::tcp::endpoint;

struct HostPort {
  std::string host;  // a name or an address, without brackets
  std::uint16_t port;
};
// "host:port", "1.2.3.4:port", "[::1]:port". Kind::invalid.
Result<HostPort> parse_host_port(const std::string& text);
// The same for numeric addresses only.
Result<Endpoint> parse_endpoint(const std::string& text);
std::string text_of(const Endpoint& endpoint);

// Asks the system for the addresses of names on its own thread, because a lookup blocks and cannot be cancelled: the destructor waits for
// the lookup under way.
//
// Belongs to the node thread. Limits: kMaxWaiting lookups.
class NameResolver {
 public:
  static constexpr std::size_t kMaxWaiting = 64;
  using Done = std::function<void(Result<Endpoint>)>;

  explicit NameResolver(boost::asio::io_context& io);
  ~NameResolver();

  // `done` is called on the node thread, later. Kind::invalid, Kind::not_found, Kind::overloaded.
  void resolve(const std::string& address, Done done);

 private:
  boost::asio::io_context& io_;
  std::shared_ptr<std::atomic<bool>> open_;  // shared with waiting lookups
  SerialThread thread_;
};

}  // namespace gw::node
