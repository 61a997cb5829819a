#include "peer/peer_measures.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace measures_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMiB = 1u << 20;

PeerId peer_named(std::uint8_t number) {
  PeerId id;
  id.hash.bytes[0] = number;
  return id;
}

JobMessage want() {
  JobMessage message;
  message.mutable_want_blob()->set_hash("x");
  return message;
}

JobMessage blob(std::size_t bytes) {
  JobMessage message;
  message.mutable_blob()->set_bytes(std::string(bytes, 'b'));
  return message;
}

const PeerId kOther = peer_named(2);

TEST(PeerMeasures, TheNetworkIsMeasuredWhileBlobsAreWaitedFor) {
  PeerMeasures measures({});
  EXPECT_EQ(measures.network_speed_of(kOther), std::nullopt);
  Time now = seconds(5);
  for (int i = 0; i < 4; ++i) measures.on_sent(now, kOther, want());
  for (int i = 0; i < 4; ++i) measures.on_received(now += milliseconds(250), kOther, blob(kMiB));
  ASSERT_TRUE(measures.network_speed_of(kOther));
  EXPECT_DOUBLE_EQ(*measures.network_speed_of(kOther), 4.0 * kMiB);
  now += seconds(100);  // nothing is asked for
  measures.on_sent(now, kOther, want());
  measures.on_received(now + milliseconds(250), kOther, blob(kMiB));
  EXPECT_DOUBLE_EQ(*measures.network_speed_of(kOther), 4.0 * kMiB);
}

TEST(PeerMeasures, ALostRequestCountsForASmallTimeOnly) {
  PeerMeasures measures({});
  measures.on_sent(seconds(1), kOther, want());
  measures.on_sent(seconds(1000), kOther, want());
  measures.on_received(seconds(1000), kOther, blob(2 * kMiB));
  EXPECT_DOUBLE_EQ(*measures.network_speed_of(kOther), 1.0 * kMiB) << "two seconds, not a quarter of an hour";
}

TEST(PeerMeasures, BlobsThatWereNotAskedForSayNothing) {
  PeerMeasures measures({});
  measures.on_received(seconds(1), kOther, blob(kMiB));
  EXPECT_EQ(measures.size(), 0u);
}

TEST(PeerMeasures, RecentBytesCountMore) {
  PeerMeasures measures({.half_life_bytes = 4 * kMiB});
  Time now{0};
  const auto fetch = [&](Time took) {
    measures.on_sent(now, kOther, want());
    measures.on_received(now += took, kOther, blob(kMiB));
  };
  for (int i = 0; i < 20; ++i) fetch(seconds(1));
  EXPECT_NEAR(*measures.network_speed_of(kOther), 1.0 * kMiB, 1);
  for (int i = 0; i < 20; ++i) fetch(milliseconds(100));
  EXPECT_GT(*measures.network_speed_of(kOther), 9.0 * kMiB);
}

TEST(PeerMeasures, TheLastOfferIsKeptAndTheOldestPeerForgotten) {
  PeerMeasures measures({.peers = 2});
  for (std::uint8_t number = 1; number <= 3; ++number) {
    job::Capacity capacity;
    capacity.set_speed(number * 100u);
    measures.on_capacity(seconds(number), peer_named(number), capacity);
  }
  EXPECT_EQ(measures.size(), 2u);
  EXPECT_EQ(measures.capacity_of(peer_named(1)), nullptr);
  ASSERT_NE(measures.capacity_of(peer_named(3)), nullptr);
  EXPECT_EQ(measures.capacity_of(peer_named(3))->speed(), 300u);
}

}  // namespace
}  // namespace measures_test
}  // namespace gw::peer
