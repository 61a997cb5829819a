#include "node/driver/owner_watch.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using std::chrono::seconds;

TEST(OwnerSigns, InputAndLastingLoadAreActivity) {
  OwnerSigns signs(seconds(1000));
  EXPECT_EQ(signs.on_sample(seconds(1001), {}, 5).owner_idle, seconds(1)) << "at a start the machine counts as used";
  EXPECT_EQ(signs.on_sample(seconds(1100), {.input_idle = seconds(400)}, 5).owner_idle, seconds(100));
  EXPECT_EQ(signs.on_sample(seconds(1101), {.input_idle = seconds(2)}, 5).owner_idle, seconds(2));
  EXPECT_EQ(signs.on_sample(seconds(1110), {.busy = 0.9}, 5).owner_idle, seconds(11)) << "one sample";
  EXPECT_EQ(signs.on_sample(seconds(1111), {.busy = 0.1}, 5).owner_idle, seconds(12));
  (void)signs.on_sample(seconds(1112), {.busy = 0.9}, 5);
  EXPECT_EQ(signs.on_sample(seconds(1113), {.busy = 0.9}, 5).owner_idle, seconds(0));
  const job::LendingConditions last = signs.on_sample(seconds(1200), {.on_battery = true}, 77);
  EXPECT_EQ(last.owner_idle, seconds(87));
  EXPECT_TRUE(last.on_battery && last.known);
  EXPECT_EQ(last.minute_of_day, 77u);
}

}  // namespace
}  // namespace gw::node
