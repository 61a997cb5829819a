#include "transport/token_bucket.h"

#include <gtest/gtest.h>

namespace gw::transport {
namespace {

using namespace std::chrono_literals;

constexpr TokenBucket::Time kStart{};

TEST(TokenBucket, ABurstIsFreeAndTheRestIsOwed) {
  TokenBucket bucket({.per_second = 1000, .burst = 500}, kStart);
  bucket.take(kStart, 500);
  EXPECT_EQ(bucket.paid(kStart), kStart);
  bucket.take(kStart, 100);
  EXPECT_EQ(bucket.paid(kStart), kStart + 100ms);
  EXPECT_EQ(bucket.paid(kStart + 60ms), kStart + 100ms) << "waiting pays";
  EXPECT_EQ(bucket.paid(kStart + 100ms), kStart + 100ms);
}

TEST(TokenBucket, KeepsNoMoreThanABurstHoweverLongItRests) {
  TokenBucket bucket({.per_second = 1000, .burst = 500}, kStart);
  const auto later = kStart + 1h;
  bucket.take(later, 600);
  EXPECT_EQ(bucket.paid(later), later + 100ms);
}

TEST(TokenBucket, ATimeOfBeforeChangesNothing) {
  TokenBucket bucket({.per_second = 1000, .burst = 0}, kStart + 1s);
  bucket.take(kStart + 1s, 100);
  EXPECT_EQ(bucket.paid(kStart), kStart + 100ms);
  EXPECT_EQ(bucket.paid(kStart + 1s), kStart + 1s + 100ms);
}

}  // namespace
}  // namespace gw::transport
