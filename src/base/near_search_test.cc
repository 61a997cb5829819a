#include "base/near_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gw {
namespace {

TEST(NearSearch, FindsTheSameFromEveryGuess) {
  const std::vector<int> values{1, 3, 3, 3, 7, 20};
  for (int value = 0; value <= 21; ++value)
    for (std::size_t guess = 0; guess <= values.size(); ++guess)
      EXPECT_EQ(lower_bound_near(values, guess, value), std::ranges::lower_bound(values, value)) << value << " from " << guess;
  const std::vector<int> none;
  EXPECT_EQ(lower_bound_near(none, 0, 1), none.end());
}

}  // namespace
}  // namespace gw
