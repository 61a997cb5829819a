#include "transport/relay/fair_share.h"

#include <gtest/gtest.h>

namespace gw::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kShareBegin{};

std::map<FairShare::Flow, std::size_t> bytes_by_flow(FairShare& share, std::size_t pieces) {
  std::map<FairShare::Flow, std::size_t> bytes;
  for (std::size_t i = 0; i < pieces; ++i)
    if (auto piece = share.take(kShareBegin)) bytes[piece->flow] += piece->bytes.size();
  return bytes;
}

TEST(FairShare, AFlowThatSendsMuchGetsNoMoreThanTheOthers) {
  FairShare share({.burst = 1u << 30, .quantum = 1000}, kShareBegin);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(share.push(1, Bytes(1000)));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(share.push(2, Bytes(1000)));
  const auto bytes = bytes_by_flow(share, 100);
  EXPECT_EQ(bytes.at(1), 50'000u);
  EXPECT_EQ(bytes.at(2), 50'000u);
}

TEST(FairShare, NorDoesOneWithLargePieces) {
  FairShare share({.burst = 1u << 30, .quantum = 1000}, kShareBegin);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(share.push(1, Bytes(5000)));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(share.push(2, Bytes(100)));
  const auto bytes = bytes_by_flow(share, 60);
  EXPECT_NEAR(static_cast<double>(bytes.at(1)), static_cast<double>(bytes.at(2)), 6000);
}

TEST(FairShare, KeepsTheOrderWithinAFlow) {
  FairShare share({.quantum = 3}, kShareBegin);
  for (std::uint8_t i = 0; i < 10; ++i) ASSERT_TRUE(share.push(i % 2, Bytes{i, i}));
  std::map<FairShare::Flow, int> last{{0, -1}, {1, -1}};
  while (auto piece = share.take(kShareBegin)) {
    EXPECT_GT(int{piece->bytes.front()}, last[piece->flow]);
    last[piece->flow] = piece->bytes.front();
  }
  EXPECT_EQ(last, (std::map<FairShare::Flow, int>{{0, 8}, {1, 9}}));
  EXPECT_EQ(share.waiting_bytes(), 0u);
}

TEST(FairShare, ManySmallPiecesTakeNoMoreRoomThanTheirBytes) {
  FairShare share({.quantum = 1'000}, kShareBegin);
  for (int i = 0; i < 2'500; ++i) ASSERT_TRUE(share.push(1, Bytes{1}));
  std::vector<std::size_t> sizes;
  while (auto piece = share.take(kShareBegin)) sizes.push_back(piece->bytes.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1'000, 1'000, 500}));
}

TEST(FairShare, IsNoFasterThanAllowed) {
  FairShare share({.bytes_per_second = 10'000, .burst = 1'000, .quantum = 1'000}, kShareBegin);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(share.push(1, Bytes(1'000)));
  std::size_t sent = 0;
  for (Time now = kShareBegin; now < kShareBegin + seconds(2); now += milliseconds(10))
    while (auto piece = share.take(now)) sent += piece->bytes.size();
  EXPECT_GE(sent, 19'000u);
  EXPECT_LE(sent, 22'000u);
}

TEST(FairShare, SaysWhenItGoesOn) {
  FairShare share({.bytes_per_second = 1'000, .burst = 1'000, .quantum = 1'000}, kShareBegin);
  EXPECT_EQ(share.next_deadline(kShareBegin), Time::max());
  ASSERT_TRUE(share.push(1, Bytes(3'000)));
  ASSERT_TRUE(share.push(1, Bytes(1)));
  EXPECT_EQ(share.next_deadline(kShareBegin), kShareBegin);
  ASSERT_TRUE(share.take(kShareBegin));
  ASSERT_FALSE(share.take(kShareBegin));
  const Time next = share.next_deadline(kShareBegin);
  EXPECT_GT(next, kShareBegin + milliseconds(1'900));
  EXPECT_LT(next, kShareBegin + milliseconds(2'100));
  EXPECT_TRUE(share.take(next));
}

TEST(FairShare, HasALimitAndForgetsWhatIsDropped) {
  FairShare share({.waiting = 1'000}, kShareBegin);
  ASSERT_TRUE(share.push(1, Bytes(600)));
  EXPECT_EQ(share.push(2, Bytes(600)).error().kind, Kind::overloaded);
  EXPECT_FALSE(share.waits(2));
  share.drop(1);
  EXPECT_FALSE(share.take(kShareBegin));
  EXPECT_TRUE(share.push(2, Bytes(600)));
  EXPECT_EQ(share.take(kShareBegin)->flow, 2u);
}

}  // namespace
}  // namespace gw::transport
