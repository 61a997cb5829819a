#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace gw {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Kind::invalid, "{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) {
  GW_TRY(const int h, half(n));
  return half(h);
}

Status check_quarter(int n) {
  GW_TRY_VOID(quarter(n));
  return ok();
}

TEST(Result, CarriesAValue) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_TRUE(check_quarter(12));
}

TEST(Result, PassesTheFirstErrorOn) {
  const auto failed = quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::invalid);
  EXPECT_EQ(failed.error().detail, "3 is odd");
  EXPECT_EQ(check_quarter(6).error().detail, "3 is odd");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(4); };
  auto pass_on = [&]() -> Result<std::shared_ptr<int>> {
    GW_TRY(auto value, make());
    return value;
  };
  EXPECT_EQ(**pass_on(), 4);
}

TEST(ResultDeathTest, ReadingWhatIsNotThereIsABug) {
  const auto failed = half(1);
  EXPECT_DEATH((void)failed.value(), "assertion failed");
  const auto fine = half(2);
  EXPECT_DEATH((void)fine.error(), "assertion failed");
}

TEST(Kinds, HaveNames) {
  EXPECT_EQ(name(Kind::invalid), "invalid");
  EXPECT_EQ(name(Kind::internal), "internal");
}

}  // namespace
}  // namespace gw
