#include "transport/connection/bulk_window.h"

#include <gtest/gtest.h>

namespace gw::transport {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStep = 64u << 10;

// A path of a certain length to a peer that takes bytes at a certain speed, and a sender that always has more.
class Path {
 public:
  Path(Time::duration length, double bytes_per_second) : length_(length), per_byte_(1 / bytes_per_second) {}

  void run(Time::duration time) {
    const Time end = now_ + time;
    while (now_ < end) {
      if (window.room() >= kStep) {
        window.on_sent(now_, kStep);
        sent_ += kStep;
        free_at_ = std::max(free_at_, now_ + length_ / 2) +
                   std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(kStep * per_byte_));
        under_way_.push_back({sent_, free_at_ + length_ / 2});
        queueing = under_way_.back().second - now_ - length_;
      } else {
        now_ = under_way_.front().second;
        EXPECT_TRUE(window.on_credit(now_, under_way_.front().first));
        taken = under_way_.front().first;
        under_way_.pop_front();
      }
    }
  }

  BulkWindow window{{}};
  std::uint64_t taken = 0;
  Time::duration queueing{};  // of what was sent last

 private:
  const Time::duration length_;
  const double per_byte_;
  Time now_{}, free_at_{};
  std::uint64_t sent_ = 0;
  std::deque<std::pair<std::uint64_t, Time>> under_way_;
};

TEST(BulkWindow, FillsALongPath) {
  Path path(100ms, 100e6);
  path.run(3s);
  const auto before = path.taken;
  path.run(10s);
  EXPECT_GE(path.taken - before, 900'000'000u) << "nine tenths of what the path carries";
}

TEST(BulkWindow, KeepsTheQueueShortInFrontOfASlowPeer) {
  Path path(100us, 400e6);
  for (int i = 0; i < 100; ++i) {
    path.run(100ms);
    EXPECT_LE(path.queueing, 5ms);
  }
  EXPECT_GE(path.taken, 3'900'000'000u);
}

TEST(BulkWindow, IsEmptyUntilBytesAreTaken) {
  BulkWindow window({.least = kStep});
  window.on_sent(Time{}, kStep);
  EXPECT_EQ(window.room(), 0u);
  ASSERT_TRUE(window.on_credit(Time{} + 1ms, kStep / 2));
  EXPECT_GE(window.room(), kStep / 2);
}

TEST(BulkWindow, CreditForWhatWasNotSentOrTakenBackIsRefused) {
  BulkWindow window({});
  window.on_sent(Time{}, 1000);
  EXPECT_EQ(window.on_credit(Time{}, 1001).error().kind, Kind::invalid);
  ASSERT_TRUE(window.on_credit(Time{}, 600));
  EXPECT_EQ(window.on_credit(Time{}, 599).error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::transport
