#include "transport/connection/send_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gw::transport {
namespace {

constexpr SendQueue::Config kSmall{.control_bytes = 1000, .bulk_bytes = 2 * kMaxMessageBytes, .messages = 4};
constexpr std::size_t kAnyBulk = 1u << 30;

Message message(Lane lane, std::size_t size, std::uint8_t fill = 0) { return {.lane = lane, .bytes = Bytes(size, fill)}; }

// Everything in `batch`, as (lane, kind).
std::vector<std::pair<Lane, FrameKind>> frames(const Bytes& batch) {
  std::vector<std::pair<Lane, FrameKind>> all;
  FrameDecoder decoder;
  std::size_t fed = 0;
  while (true) {
    auto frame = decoder.next();
    EXPECT_TRUE(frame);
    if (*frame) {
      all.emplace_back((*frame)->lane, (*frame)->kind);
      continue;
    }
    if (fed == batch.size()) return all;
    auto space = decoder.space();
    std::size_t count = std::min(space.size(), batch.size() - fed);
    std::copy_n(batch.begin() + static_cast<std::ptrdiff_t>(fed), count, space.begin());
    decoder.filled(count);
    fed += count;
  }
}

TEST(SendQueue, RelayedBytesComeLast) {
  SendQueue queue(kSmall);
  const auto carried = [] { return Message{.kind = FrameKind::circuit_data, .lane = Lane::relayed, .stream = 1, .bytes = Bytes(100)}; };
  ASSERT_TRUE(queue.push(carried()));
  ASSERT_TRUE(queue.push(message(Lane::bulk, 10)));
  ASSERT_TRUE(queue.push(message(Lane::control, 10)));
  Bytes batch;
  queue.take(batch, 1u << 20, kAnyBulk);
  const auto all = frames(batch);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], std::pair(Lane::control, FrameKind::message));
  EXPECT_EQ(all[1], std::pair(Lane::bulk, FrameKind::message));
  EXPECT_EQ(all[2].second, FrameKind::circuit_data);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.push(carried()));
  EXPECT_EQ(queue.push(carried()).error().kind, Kind::overloaded);
  EXPECT_TRUE(queue.push(message(Lane::control, 10))) << "each lane has its own limit";
}

TEST(SendQueue, ControlOvertakesBulkThatHasBegun) {
  SendQueue queue(kSmall);
  ASSERT_TRUE(queue.push(message(Lane::bulk, 3 * kMaxFramePayload)));
  Bytes batch;
  queue.take(batch, 1, kAnyBulk);
  ASSERT_EQ(frames(batch).size(), 1u);
  ASSERT_TRUE(queue.push(message(Lane::control, 10)));
  batch.clear();
  queue.take(batch, 1u << 20, kAnyBulk);
  auto kinds = frames(batch);
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].first, Lane::control);
  EXPECT_EQ(kinds[1].first, Lane::bulk);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.queued_bytes(Lane::bulk), 0u);
}

TEST(SendQueue, TheBulkLimitDoesNotHoldBackControl) {
  SendQueue queue(kSmall);
  ASSERT_TRUE(queue.push(message(Lane::bulk, 3 * kMaxFramePayload)));
  ASSERT_TRUE(queue.push(message(Lane::control, 10)));
  queue.push_credit(7);
  Bytes batch;
  EXPECT_EQ(queue.take(batch, 1u << 20, 0), 0u);
  auto kinds = frames(batch);
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].second, FrameKind::credit);
  EXPECT_EQ(kinds[1].first, Lane::control);
  batch.clear();
  EXPECT_EQ(queue.take(batch, 1u << 20, kMaxFramePayload + 1), 2 * kMaxFramePayload) << "passes it by one frame at most";
}

TEST(SendQueue, StopsAtItsLimitsAndGoesOnWhenThereIsRoom) {
  SendQueue queue(kSmall);
  EXPECT_EQ(queue.push(message(Lane::bulk, kMaxMessageBytes + 1)).error().kind, Kind::invalid);
  ASSERT_TRUE(queue.push(message(Lane::control, 600)));
  EXPECT_EQ(queue.push(message(Lane::control, 600)).error().kind, Kind::overloaded) << "too many bytes";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(message(Lane::control, 0)));
  EXPECT_EQ(queue.push(message(Lane::control, 0)).error().kind, Kind::overloaded) << "too many messages";
  Bytes batch;
  queue.take(batch, 1u << 20, kAnyBulk);
  EXPECT_TRUE(queue.push(message(Lane::control, 600)));
}

TEST(SendQueue, AFloodOfPingsIsAnsweredOnce) {
  SendQueue queue(kSmall);
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push_pong(i);
  Bytes batch;
  queue.take(batch, 1, kAnyBulk);
  EXPECT_EQ(frames(batch).size(), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueue, TheGoodbyeIsTheLast) {
  SendQueue queue(kSmall);
  ASSERT_TRUE(queue.push(message(Lane::control, 10)));
  queue.push_ping(1);
  queue.end_with({1}, SendQueue::Rest::nothing);
  Bytes batch;
  queue.take(batch, 1u << 20, kAnyBulk);
  auto kinds = frames(batch);
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].second, FrameKind::goodbye);
}

TEST(SendQueue, AnOrderlyGoodbyeComesAfterControlMessages) {
  SendQueue queue(kSmall);
  ASSERT_TRUE(queue.push(message(Lane::bulk, 10)));
  ASSERT_TRUE(queue.push(message(Lane::control, 10)));
  ASSERT_TRUE(queue.push(message(Lane::control, 20)));
  queue.end_with({1}, SendQueue::Rest::control);
  Bytes batch;
  queue.take(batch, 1, kAnyBulk);
  EXPECT_FALSE(queue.empty()) << "there was room for one";
  queue.take(batch, 1u << 20, kAnyBulk);
  auto kinds = frames(batch);
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[1].first, Lane::control);
  EXPECT_EQ(kinds[2].second, FrameKind::goodbye);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace gw::transport
