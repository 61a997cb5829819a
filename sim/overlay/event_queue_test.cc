#include "overlay/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace gw::sim::overlay_simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

// Pushes near and far events while others are popped, as in a run.
TEST(EventQueue, GivesEventsByTimeAndThenAsTheyWerePushed) {
  EventQueue queue;
  Rng rng(1);
  std::vector<std::pair<Time, std::uint32_t>> expected;
  std::uint32_t pushed = 0;
  const auto push = [&](Time at) {
    expected.emplace_back(at, pushed);
    queue.push({.at = at, .slot = pushed++});
  };
  for (int i = 0; i < 500; ++i) push(microseconds(rng.below(100) == 0 ? rng.below(60'000'000) : rng.below(20) * 100));
  std::vector<std::pair<Time, std::uint32_t>> seen;
  while (!queue.empty()) {
    const Time next = queue.next_time();
    const Event event = queue.pop();
    EXPECT_EQ(event.at, next);
    seen.emplace_back(event.at, event.slot);
    if (pushed < 1500) push(event.at + microseconds(rng.below(3) == 0 ? 0 : rng.below(30'000'000)));
  }
  std::ranges::sort(expected);
  EXPECT_EQ(seen, expected);
}

TEST(EventQueue, WaitsForWhatIsFarAway) {
  EventQueue queue;
  queue.push({.at = seconds(100), .slot = 1});
  EXPECT_EQ(queue.pop().slot, 1u);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace gw::sim::overlay_simulation
