#include "base/token_bucket.h"

#include <gtest/gtest.h>

namespace gw {
namespace {

using namespace std::chrono_literals;

constexpr TokenBucket::Time kBegin{};

TEST(TokenBucket, ABurstIsFreeAndTheRestIsOwed) {
  TokenBucket bucket({.per_second = 1000, .burst = 500}, kBegin);
  bucket.take(kBegin, 500);
  EXPECT_EQ(bucket.paid(kBegin), kBegin);
  bucket.take(kBegin, 100);
  EXPECT_EQ(bucket.paid(kBegin), kBegin + 100ms);
  EXPECT_EQ(bucket.paid(kBegin + 60ms), kBegin + 100ms) << "waiting pays";
  EXPECT_EQ(bucket.paid(kBegin + 100ms), kBegin + 100ms);
}

TEST(TokenBucket, KeepsNoMoreThanABurstHoweverLongItRests) {
  TokenBucket bucket({.per_second = 1000, .burst = 500}, kBegin);
  const auto later = kBegin + 1h;
  bucket.take(later, 600);
  EXPECT_EQ(bucket.paid(later), later + 100ms);
}

TEST(TokenBucket, ATimeOfBeforeChangesNothing) {
  TokenBucket bucket({.per_second = 1000, .burst = 0}, kBegin + 1s);
  bucket.take(kBegin + 1s, 100);
  EXPECT_EQ(bucket.paid(kBegin), kBegin + 100ms);
  EXPECT_EQ(bucket.paid(kBegin + 1s), kBegin + 1s + 100ms);
}

}  // namespace
}  // namespace gw
