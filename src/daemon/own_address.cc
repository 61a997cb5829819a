#include "daemon/own_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>

#include "os/files/unique_fd.h"

namespace gw::daemon {
namespace {

std::optional<std::string> text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    if (::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size()) != nullptr) return text.data();
  } else if (address->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) return std::nullopt;  // means nothing without the name of an interface
    if (::inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size()) != nullptr) return fmt::format("[{}]", text.data());
  }
  return std::nullopt;
}

// The source address of what would be sent far away; connecting a datagram socket sends nothing.
std::optional<std::string> address_towards_the_world() {
  const os::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in far{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  far.sin_addr.s_addr = htonl(0xC0000201);  // 192.0.2.1, reserved for documentation (RFC 5737); nothing is sent
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&far), sizeof far) != 0) return std::nullopt;
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return std::nullopt;
  return text_of(reinterpret_cast<const sockaddr*>(&own));
}

std::optional<std::string> first_address(const ifaddrs* list, int family) {
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (auto text = text_of(one->ifa_addr)) return text;
  }
  return std::nullopt;
}

}  // namespace

std::string own_address() {
  constexpr const char* kLoopback = "127.0.0.1";
  if (auto found = address_towards_the_world()) return *found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return kLoopback;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, ::freeifaddrs);
  if (auto found = first_address(list, AF_INET)) return *found;
  return first_address(list, AF_INET6).value_or(kLoopback);
}

bool has_ipv6() { return static_cast<bool>(os::UniqueFd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0))); }

}  // namespace gw::daemon
