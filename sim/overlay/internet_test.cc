#include "overlay/internet.h"

#include <gtest/gtest.h>

namespace gw::sim::overlay_simulation {
namespace {

TEST(Internet, ARoundTripIsTheSameFromBothEnds) {
  const Internet internet({}, 100, Rng(1));
  for (std::uint32_t other = 1; other < 100; ++other) {
    EXPECT_EQ(internet.round_trip(0, other), internet.round_trip(other, 0));
    EXPECT_GE(internet.round_trip(0, other), 2 * Internet::kLeast);
  }
}

TEST(Internet, SomeMessagesMeetAQueue) {
  const Internet internet({.spikes = 0.05}, 10, Rng(1));
  Rng rng(2);
  int late = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Time delay = internet.one_way(0, 1, rng);
    EXPECT_GE(delay, internet.round_trip(0, 1) / 2);
    late += delay > internet.round_trip(0, 1) / 2 + std::chrono::milliseconds(20);
  }
  EXPECT_NEAR(late, 10'000 * 0.025 * 0.875, 50);  // every fortieth message, of which one in eight waits less than 20 ms
}

}  // namespace
}  // namespace gw::sim::overlay_simulation
