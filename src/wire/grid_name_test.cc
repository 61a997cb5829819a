#include "wire/grid_name.h"

#include <gtest/gtest.h>

namespace gw::wire {
namespace {

TEST(GridName, IsShortAndPlain) {
  EXPECT_TRUE(check_grid_name(kDefaultGrid));
  EXPECT_TRUE(check_grid_name("Lab_2.room-7"));
  for (const std::string& wrong :
       {std::string(), std::string(65, 'a'), std::string("two words"), std::string("a/b"), std::string("\xc3\xa4")})
    EXPECT_EQ(check_grid_name(wrong).error().kind, Kind::invalid) << wrong;
}

TEST(GridName, NamesOneGridEverywhere) {
  EXPECT_EQ(open_grid("open").hash.hex(), sha256(as_bytes("open")).hex());
  EXPECT_NE(open_grid("open"), open_grid("Open"));
}

}  // namespace
}  // namespace gw::wire
