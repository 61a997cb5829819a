#pragma once
// Peers of the same local network find each other by multicast.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/rate_limit.h"
#include "base/rng.h"
#include "node/discovery/lan_beacon.h"
#include "overlay/membership/descriptor.h"

namespace gw::node {

// Sends a beacon to a multicast group of the local network (IPv4 administratively scoped, IPv6 link-local: no router forwards them), often
// in the first minute after a start, then seldom, and listens for beacons of others. A beacon is a hint: it causes one dial to its source
// address, and the peer there has to prove its identity as on every connection.
//
// New and removed interfaces are noticed with the next beacon. Belongs to the node thread. May be destroyed at any time. Limits:
// kMaxInterfaces; a burst of Config::heard_most beacons is handled, then one per Config::heard_every.
class LanDiscovery {
 public:
  static constexpr std::uint16_t kPort = 7479;
  static constexpr std::size_t kMaxInterfaces = 16;
  struct Config {
    std::uint16_t port = 0;                                // where this peer listens
    std::chrono::seconds first = std::chrono::seconds(2);  // twice as seldom each time
    std::chrono::seconds most = std::chrono::seconds(60);
    overlay::Time heard_every = std::chrono::milliseconds(200);
    int heard_most = 20;
    std::uint64_t seed = 0;
  };
  class Owner {
   public:
    virtual std::vector<const peer::GridCredentials*> to_call_out() = 0;
    virtual void on_called(const overlay::GridId& grid, const std::string& address) = 0;

   protected:
    ~Owner() = default;
  };

  LanDiscovery(boost::asio::io_context& io, Config config, Owner& owner);

  // Kind::unsupported: there is no multicast here; then this object does nothing.
  Status start();
  void stop();

 private:
  using Udp = boost::asio::ip::udp;
  struct Group {
    explicit Group(boost::asio::io_context& io) : socket(io) {}
    Udp::socket socket;
    Udp::endpoint to;
    Udp::endpoint from;
    std::array<std::uint8_t, LanBeacon::kMaxBytes + 1> buffer{};
  };

  Status open(const boost::asio::ip::address& address);
  void call_out();
  void send(const Bytes& beacon);
  void listen(Group& group);
  void on_beacon(const Group& group, std::size_t size);

  boost::asio::io_context& io_;
  const Config config_;
  Owner& owner_;
  Rng rng_;
  std::vector<std::unique_ptr<Group>> groups_;
  boost::asio::steady_timer timer_;
  std::chrono::seconds wait_;
  std::uint64_t own_number_ = 0;  // of the last beacon, to ignore it when it comes back
  RateLimit heard_;
};

}  // namespace gw::node
