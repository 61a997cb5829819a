#include "node/fetch/public_address.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace public_address_test {

bool is_public_text(const char* text) { return is_public(boost::asio::ip::make_address(text)); }

TEST(PublicAddress, AddressesOfTheInternetArePublic) {
  for (const char* text : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.128.0.0", "2606:4700::1111",
                           "64:ff9b::8.8.8.8", "2002:0808:0808::1"})
    EXPECT_TRUE(is_public_text(text)) << text;
}

TEST(PublicAddress, AddressesThatOnlyThisMachineReachesAreNot) {
  for (const char* text : {"0.0.0.0",
                           "10.1.2.3",
                           "100.64.0.1",
                           "127.0.0.1",
                           "127.9.9.9",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd12::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::127.0.0.1",
                           "64:ff9b::10.0.0.1",
                           "2002:0a00:0001::1",
                           "2001:db8::1",
                           "2001:0:1::1"})
    EXPECT_FALSE(is_public_text(text)) << text;
}

}  // namespace public_address_test
}  // namespace gw::node
