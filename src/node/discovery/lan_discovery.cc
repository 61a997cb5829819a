#include "node/discovery/lan_discovery.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/asio/ip/multicast.hpp>

#include "node/discovery/name_resolver.h"
#include "os/clock.h"

namespace gw::node {
namespace {

constexpr const char* kGroups[] = {"239.255.71.79", "ff02::676f:6477"};

using boost::asio::ip::address;
using boost::system::error_code;
namespace ip = boost::asio::ip;

struct Interface {
  unsigned index;
  std::optional<ip::address_v4> v4;  // it has one
};

// The interfaces that reach other machines, by index.
std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, ::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    constexpr unsigned kWanted = IFF_UP | IFF_MULTICAST;
    if (one->ifa_addr == nullptr || (one->ifa_flags & (kWanted | IFF_LOOPBACK)) != kWanted) continue;
    const unsigned index = ::if_nametoindex(one->ifa_name);
    auto known = std::ranges::find(found, index, &Interface::index);
    if (known == found.end() && found.size() >= LanDiscovery::kMaxInterfaces) continue;
    if (known == found.end()) known = found.insert(found.end(), {index, std::nullopt});
    if (one->ifa_addr->sa_family == AF_INET)
      known->v4 = ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr));
  }
  return found;
}

}  // namespace

LanDiscovery::LanDiscovery(boost::asio::io_context& io, Config config, Owner& owner)
    : io_(io),
      config_(config),
      owner_(owner),
      rng_(config.seed),
      timer_(io),
      wait_(config.first),
      heard_(config.heard_every, config.heard_most) {}

Status LanDiscovery::start() {
  std::string why;
  for (const char* group : kGroups)
    if (const Status opened = open(ip::make_address(group)); !opened) why = opened.error().detail;
  if (groups_.empty()) return fail(Kind::unsupported, "peers of the local network cannot be found: {}", why);
  for (const auto& group : groups_) listen(*group);
  call_out();
  return ok();
}

void LanDiscovery::stop() {
  timer_.cancel();
  for (const auto& group : groups_) {
    error_code ignored;
    group->socket.close(ignored);
  }
}

Status LanDiscovery::open(const address& where) {
  auto group = std::make_unique<Group>(io_);
  group->to = {where, kPort};
  error_code error;
  group->socket.open(group->to.protocol(), error);
  if (!error && where.is_v6()) group->socket.set_option(ip::v6_only(true), error);
  if (!error) group->socket.set_option(Udp::socket::reuse_address(true), error);  // several peers of one machine listen
  if (!error) group->socket.bind({where.is_v6() ? address(ip::address_v6::any()) : address(ip::address_v4::any()), kPort}, error);
  if (!error) group->socket.set_option(ip::multicast::hops(1), error);
  if (!error) group->socket.set_option(ip::multicast::enable_loopback(true), error);
  if (!error) group->socket.non_blocking(true, error);
  if (error) return fail(Kind::unsupported, "group {}: {}", where.to_string(), error.message());
  groups_.push_back(std::move(group));
  return ok();
}

void LanDiscovery::call_out() {
  own_number_ = rng_.next();
  LanBeacon beacon{.port = config_.port, .number = own_number_};
  for (const peer::GridCredentials* grid : owner_.to_call_out())
    if (beacon.tags.size() < LanBeacon::kMaxTags) beacon.tags.push_back(tag_of(*grid, beacon.number));
  if (!beacon.tags.empty()) send(beacon.encode());
  timer_.expires_after(wait_);
  wait_ = std::min(2 * wait_, config_.most);
  timer_.async_wait([this](const error_code& error) {
    if (!error) call_out();
  });
}

// Joins the groups on every interface. Failures are ignored: the next beacon tries again.
void LanDiscovery::send(const Bytes& beacon) {
  for (const Interface& interface : interfaces()) {
    for (const auto& group : groups_) {
      const address to = group->to.address();
      if (to.is_v4() && !interface.v4) continue;
      error_code error;
      if (to.is_v4()) {
        group->socket.set_option(ip::multicast::join_group(to.to_v4(), *interface.v4), error);  // fails if it is joined already
        group->socket.set_option(ip::multicast::outbound_interface(*interface.v4), error);
      } else {
        group->socket.set_option(ip::multicast::join_group(to.to_v6(), interface.index), error);
        group->socket.set_option(ip::multicast::outbound_interface(interface.index), error);
      }
      if (!error) group->socket.send_to(boost::asio::buffer(beacon), group->to, 0, error);
    }
  }
}

void LanDiscovery::listen(Group& group) {
  group.socket.async_receive_from(boost::asio::buffer(group.buffer), group.from, [this, &group](const error_code& error, std::size_t size) {
    if (error == boost::asio::error::operation_aborted || !group.socket.is_open()) return;
    if (!error) on_beacon(group, size);
    listen(group);
  });
}

void LanDiscovery::on_beacon(const Group& group, std::size_t size) {
  if (!heard_.take(os::monotonic_now())) return;
  const auto beacon = LanBeacon::decode(ByteView(group.buffer).first(size));
  if (!beacon || beacon->number == own_number_) return;
  const std::string address = text_of(Endpoint(group.from.address(), beacon->port));
  for (const peer::GridCredentials* grid : owner_.to_call_out())
    if (std::ranges::find(beacon->tags, tag_of(*grid, beacon->number)) != beacon->tags.end()) owner_.on_called(grid->id, address);
}

}  // namespace gw::node
