#include "overlay/overlay.h"

#include <gtest/gtest.h>

#include "overlay/test_grid.h"

namespace gw::overlay {
namespace {

using std::chrono::seconds;

TEST(Overlay, AFewPeersAllKnowEachOther) {
  TestGrid grid(30);
  grid.run(seconds(20));
  for (std::size_t i = 0; i < grid.size(); ++i) EXPECT_EQ(grid[i].all().size(), 29u) << i;
}

}  // namespace
}  // namespace gw::overlay
