#include "peer/lives.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

using std::chrono::seconds;

PeerId peer_id(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

TEST(Lives, TellsTheLivesOfAPeerApart) {
  Lives lives({});
  EXPECT_EQ(lives.on_heard(seconds(1), peer_id(1), 3), Lives::Heard::same_life) << "the first one heard of replaces nothing";
  EXPECT_EQ(lives.on_heard(seconds(1), peer_id(1), 3), Lives::Heard::same_life);
  EXPECT_EQ(lives.on_heard(seconds(2), peer_id(1), 5), Lives::Heard::new_life);
  EXPECT_EQ(lives.on_heard(seconds(3), peer_id(1), 4), Lives::Heard::old_life);
  EXPECT_EQ(lives.on_heard(seconds(3), peer_id(1), 5), Lives::Heard::same_life);
  EXPECT_EQ(lives.on_heard(seconds(3), peer_id(2), 1), Lives::Heard::same_life) << "another peer";
}

TEST(Lives, ForgetsWhoWasNotHeardFromForLongest) {
  Lives lives({.peers = 2});
  lives.on_heard(seconds(1), peer_id(1), 9);
  lives.on_heard(seconds(2), peer_id(2), 9);
  lives.on_heard(seconds(3), peer_id(1), 9);
  lives.on_heard(seconds(4), peer_id(3), 9);
  EXPECT_EQ(lives.size(), 2u);
  EXPECT_EQ(lives.on_heard(seconds(5), peer_id(1), 8), Lives::Heard::old_life);
  EXPECT_EQ(lives.on_heard(seconds(5), peer_id(2), 8), Lives::Heard::same_life) << "it was forgotten";
}

}  // namespace
}  // namespace gw::peer
