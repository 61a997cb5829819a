#include "cli/settings/guest_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gw::cli {
namespace {

TEST(GuestEnvironment, TakesValuesAndPassesNamesThrough) {
  ::setenv("GODWIT_TEST_PASSED", "from outside", 1);
  const auto environment = guest_environment({"A=1", "B=", "C=x=y", "GODWIT_TEST_PASSED"});
  EXPECT_EQ(*environment, (std::vector<std::string>{"A=1", "B=", "C=x=y", "GODWIT_TEST_PASSED=from outside"}));
}

TEST(GuestEnvironment, RefusesWhatHasNoNameOrValue) {
  for (const char* word : {"", "=1", "GODWIT_TEST_NOT_THERE"}) {
    const auto environment = guest_environment({word});
    ASSERT_FALSE(environment) << word;
    EXPECT_EQ(environment.error().kind, Kind::invalid);
  }
}

}  // namespace
}  // namespace gw::cli
