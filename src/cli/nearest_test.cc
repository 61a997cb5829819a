#include "cli/nearest.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

TEST(Nearest, FindsSlipsOfTheKeyboard) {
  const std::vector<std::string> known = {"memory", "time-limit", "mobile", "color"};
  EXPECT_EQ(nearest("memroy", known), "memory");
  EXPECT_EQ(nearest("time_limit", known), "time-limit");
  EXPECT_EQ(nearest("colour", known), "color");
  EXPECT_EQ(nearest("mobil", known), "mobile");
  EXPECT_EQ(nearest("rnu", {"resume", "run"}), "run");
}

TEST(Nearest, KeepsQuietOtherwise) {
  EXPECT_EQ(nearest("peers", {"memory", "color"}), std::nullopt);
  EXPECT_EQ(nearest("", {"memory"}), std::nullopt);
  EXPECT_EQ(nearest("memory", {}), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'm'), {std::string(999, 'm')}), std::nullopt);
}

}  // namespace
}  // namespace gw::cli
