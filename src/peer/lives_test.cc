#include "peer/lives.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

using std::chrono::seconds;

PeerId some_peer(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

TEST(Lives, TellsTheLivesOfAPeerApart) {
  Lives lives({});
  EXPECT_EQ(lives.on_seen(seconds(1), some_peer(1), 3), Lives::Heard::same_life) << "the first one heard of replaces nothing";
  EXPECT_EQ(lives.on_seen(seconds(1), some_peer(1), 3), Lives::Heard::same_life);
  EXPECT_EQ(lives.on_seen(seconds(2), some_peer(1), 5), Lives::Heard::new_life);
  EXPECT_EQ(lives.on_seen(seconds(3), some_peer(1), 4), Lives::Heard::old_life);
  EXPECT_EQ(lives.on_seen(seconds(3), some_peer(1), 5), Lives::Heard::same_life);
  EXPECT_EQ(lives.on_seen(seconds(3), some_peer(2), 1), Lives::Heard::same_life) << "another peer";
}

TEST(Lives, ForgetsWhoWasNotHeardFromForLongest) {
  Lives lives({.peers = 2});
  lives.on_seen(seconds(1), some_peer(1), 9);
  lives.on_seen(seconds(2), some_peer(2), 9);
  lives.on_seen(seconds(3), some_peer(1), 9);
  lives.on_seen(seconds(4), some_peer(3), 9);
  EXPECT_EQ(lives.size(), 2u);
  EXPECT_EQ(lives.on_seen(seconds(5), some_peer(1), 8), Lives::Heard::old_life);
  EXPECT_EQ(lives.on_seen(seconds(5), some_peer(2), 8), Lives::Heard::same_life) << "it was forgotten";
}

}  // namespace
}  // namespace gw::peer
