#include "transport/relay/relay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "transport/peer_text.h"

namespace gw::transport {
namespace {

using std::chrono::seconds;

constexpr Time kOpened{};
constexpr Port kCaller{1, 11}, kTarget{2, 22};

PeerId numbered(std::uint8_t number) { return PeerId{{number}}; }

class RelayTest : public testing::Test {
 protected:
  std::vector<Relay::Outgoing> open(Relay& relay, const Port& from = kCaller, const Port& to = kTarget) {
    std::vector<Relay::Outgoing> out;
    relay.open(kOpened, {from, numbered(1)}, Relay::End{to, numbered(2)}, out);
    return out;
  }

  static bool goes_to(const Relay::Outgoing& frame, const Port& port, FrameKind kind) {
    return frame.connection == port.connection && frame.frame.stream == port.stream && frame.frame.kind == kind;
  }

  Relay relay_{{}, kOpened};
  std::vector<Relay::Outgoing> out_;
};

TEST_F(RelayTest, HandsBytesOnBothWaysInTheLastLane) {
  const auto offered = open(relay_);
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_TRUE(goes_to(offered[0], kTarget, FrameKind::circuit_offer));
  EXPECT_TRUE(std::ranges::equal(offered[0].frame.bytes, numbered(1).bytes)) << "says who calls";
  ASSERT_TRUE(relay_.on_data(kOpened, kCaller, as_bytes("there"), out_));
  ASSERT_TRUE(relay_.on_data(kOpened, kTarget, as_bytes("back"), out_));
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_TRUE(goes_to(out_[0], kTarget, FrameKind::circuit_data));
  EXPECT_EQ(as_text(out_[0].frame.bytes), "there");
  EXPECT_EQ(out_[0].frame.lane, Lane::relayed);
  EXPECT_TRUE(goes_to(out_[1], kCaller, FrameKind::circuit_data));
  EXPECT_EQ(relay_.counters().bytes, 9u);
}

TEST_F(RelayTest, SendingMoreThanTheCreditBreaksTheProtocol) {
  open(relay_);
  for (std::size_t sent = 0; sent < kCircuitCredit; sent += kMaxCircuitPayload)
    ASSERT_TRUE(relay_.on_data(kOpened, kCaller, Bytes(kMaxCircuitPayload), out_));
  EXPECT_EQ(relay_.on_data(kOpened, kCaller, Bytes(1), out_).error().kind, Kind::invalid);
  out_.clear();
  ASSERT_TRUE(relay_.on_credit(kTarget, 1000, out_));
  EXPECT_TRUE(goes_to(out_[0], kCaller, FrameKind::circuit_credit));
  EXPECT_TRUE(relay_.on_data(kOpened, kCaller, Bytes(1000), out_));
  EXPECT_EQ(relay_.on_data(kOpened, kCaller, Bytes(1), out_).error().kind, Kind::invalid);
  EXPECT_EQ(relay_.on_credit(kCaller, 1, out_).error().kind, Kind::invalid) << "nothing came from there";
}

TEST_F(RelayTest, RefusesWhomItIsNotConnectedTo) {
  relay_.open(kOpened, {kCaller, numbered(1)}, std::nullopt, out_);
  ASSERT_EQ(out_.size(), 1u);
  EXPECT_TRUE(goes_to(out_[0], kCaller, FrameKind::circuit_close));
  EXPECT_EQ(decode_refusal(out_[0].frame.bytes).kind, Kind::not_found);
  EXPECT_FALSE(relay_.carries(kCaller));
  EXPECT_EQ(relay_.counters().refused, 1u);
}

TEST_F(RelayTest, HasLimitsByPeerAndForAll) {
  Relay small({.circuits = 3, .per_peer = 2}, kOpened);
  for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(open(small, {1, 10 + i}, {2, 20 + i})[0].frame.kind, FrameKind::circuit_offer);
  EXPECT_EQ(open(small, {1, 12}, {2, 22})[0].frame.kind, FrameKind::circuit_close) << "too many of this peer";
  const auto of_another = [&](std::uint8_t number) {
    std::vector<Relay::Outgoing> out;
    small.open(kOpened, {{number, 1}, numbered(number)}, Relay::End{{2, 100u + number}, numbered(2)}, out);
    return out[0].frame.kind;
  };
  EXPECT_EQ(of_another(3), FrameKind::circuit_offer);
  EXPECT_EQ(of_another(4), FrameKind::circuit_close) << "too many of all";
  EXPECT_EQ(small.circuits(), 3u);
}

TEST_F(RelayTest, ACloseComesAfterTheBytesBeforeIt) {
  Relay slow({.share = {.bytes_per_second = 1'000, .burst = 1}}, kOpened);
  open(slow);
  ASSERT_TRUE(slow.on_data(kOpened, kCaller, Bytes(1'000), out_));
  ASSERT_TRUE(slow.on_data(kOpened, kCaller, Bytes(10), out_));
  slow.on_close(kOpened, kCaller, encode_refusal(fail(Kind::disconnected, "enough")), out_);
  ASSERT_EQ(out_.size(), 1u) << "the rest must wait for its turn";
  slow.on_tick(slow.next_deadline(kOpened), out_);
  ASSERT_EQ(out_.size(), 3u);
  EXPECT_TRUE(goes_to(out_[1], kTarget, FrameKind::circuit_data));
  EXPECT_TRUE(goes_to(out_[2], kTarget, FrameKind::circuit_close));
  EXPECT_EQ(out_[2].frame.lane, Lane::relayed) << "nothing overtakes";
  EXPECT_EQ(slow.circuits(), 0u);
}

TEST_F(RelayTest, TheOtherEndLearnsOfALostConnection) {
  open(relay_);
  open(relay_, {1, 13}, {3, 31});
  relay_.on_connection_ended(1, out_);
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_TRUE(goes_to(out_[0], kTarget, FrameKind::circuit_close));
  EXPECT_TRUE(goes_to(out_[1], {3, 31}, FrameKind::circuit_close));
  EXPECT_EQ(relay_.circuits(), 0u);
}

TEST_F(RelayTest, AFailedSendEndsTheCircuitAtBothEnds) {
  open(relay_);
  relay_.on_stuck(kTarget, out_);
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_TRUE(goes_to(out_[0], kCaller, FrameKind::circuit_close));
  EXPECT_TRUE(goes_to(out_[1], kTarget, FrameKind::circuit_close));
  EXPECT_FALSE(relay_.carries(kCaller));
}

TEST_F(RelayTest, ClosesUnusedCircuits) {
  open(relay_);
  relay_.on_tick(kOpened + seconds(89), out_);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(relay_.next_deadline(kOpened), kOpened + seconds(90));
  relay_.on_tick(kOpened + seconds(90), out_);
  EXPECT_EQ(out_.size(), 2u);
  EXPECT_EQ(relay_.circuits(), 0u);
  EXPECT_EQ(relay_.next_deadline(kOpened), Time::max());
}

}  // namespace
}  // namespace gw::transport
