#include "node/fetch/public_address.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gw::node {
namespace {

struct Network {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t ipv4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) { return a << 24 | b << 16 | c << 8 | d; }

// IANA's registry of special addresses.
constexpr std::array kNotPublic{
    Network{ipv4(0, 0, 0, 0), 8},      Network{ipv4(10, 0, 0, 0), 8},     Network{ipv4(100, 64, 0, 0), 10},
    Network{ipv4(127, 0, 0, 0), 8},    Network{ipv4(169, 254, 0, 0), 16}, Network{ipv4(172, 16, 0, 0), 12},
    Network{ipv4(192, 0, 0, 0), 24},   Network{ipv4(192, 0, 2, 0), 24},   Network{ipv4(192, 88, 99, 0), 24},
    Network{ipv4(192, 168, 0, 0), 16}, Network{ipv4(198, 18, 0, 0), 15},  Network{ipv4(198, 51, 100, 0), 24},
    Network{ipv4(203, 0, 113, 0), 24}, Network{ipv4(224, 0, 0, 0), 4},    Network{ipv4(240, 0, 0, 0), 4},
};

bool is_public_v4(std::uint32_t address) {
  return std::ranges::none_of(kNotPublic, [&](const Network& network) { return (address ^ network.address) >> (32 - network.bits) == 0; });
}

std::uint32_t word_at(const boost::asio::ip::address_v6::bytes_type& bytes, std::size_t at) {
  return ipv4(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

}  // namespace

bool is_public(const boost::asio::ip::address& address) {
  if (address.is_v4()) return is_public_v4(address.to_v4().to_uint());
  const auto bytes = address.to_v6().to_bytes();
  const std::uint32_t first = word_at(bytes, 0);
  const bool zeros = word_at(bytes, 4) == 0 && word_at(bytes, 8) == 0;
  if (first == 0x0064ff9b && zeros) return is_public_v4(word_at(bytes, 12));  // NAT64
  if (first >> 16 == 0x2002) return is_public_v4(word_at(bytes, 2));          // 6to4
  // Only 2000::/3 is given out; of that, 2001::/23 is for protocols (Teredo among them) and 2001:db8::/32 for documents.
  return first >> 29 == 1 && first >> 9 != 0x20010000u >> 9 && first != 0x20010db8;
}

}  // namespace gw::node
