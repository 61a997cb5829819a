#include "peer/boot_numbers.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

using std::chrono::seconds;

PeerId some_peer(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

TEST(BootNumbers, ANewerBootIsReportedAndAnOlderOneRefused) {
  BootNumbers boot_numbers({});
  EXPECT_EQ(boot_numbers.on_seen(seconds(1), some_peer(1), 3), BootNumbers::Change::same) << "the first one heard of replaces nothing";
  EXPECT_EQ(boot_numbers.on_seen(seconds(1), some_peer(1), 3), BootNumbers::Change::same);
  EXPECT_EQ(boot_numbers.on_seen(seconds(2), some_peer(1), 5), BootNumbers::Change::newer);
  EXPECT_EQ(boot_numbers.on_seen(seconds(3), some_peer(1), 4), BootNumbers::Change::older);
  EXPECT_EQ(boot_numbers.on_seen(seconds(3), some_peer(1), 5), BootNumbers::Change::same);
  EXPECT_EQ(boot_numbers.on_seen(seconds(3), some_peer(2), 1), BootNumbers::Change::same) << "another peer";
}

TEST(BootNumbers, ForgetsTheLeastRecentlySeenPeer) {
  BootNumbers boot_numbers({.peers = 2});
  boot_numbers.on_seen(seconds(1), some_peer(1), 9);
  boot_numbers.on_seen(seconds(2), some_peer(2), 9);
  boot_numbers.on_seen(seconds(3), some_peer(1), 9);
  boot_numbers.on_seen(seconds(4), some_peer(3), 9);
  EXPECT_EQ(boot_numbers.size(), 2u);
  EXPECT_EQ(boot_numbers.on_seen(seconds(5), some_peer(1), 8), BootNumbers::Change::older);
  EXPECT_EQ(boot_numbers.on_seen(seconds(5), some_peer(2), 8), BootNumbers::Change::same) << "it was forgotten";
}

}  // namespace
}  // namespace gw::peer
