#include "overlay/distance/size_estimate.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

SizeEstimate after(std::size_t samples, std::uint64_t size) {
  SizeEstimate estimate({});
  Rng rng(1);
  for (std::size_t i = 0; i < samples; ++i) estimate.on_sample(test_id(rng.below(size)));
  return estimate;
}

TEST(SizeEstimate, FindsTheSizeOfAnIdealStream) {
  for (const std::uint64_t size : {200, 500, 1000, 2000}) {
    EXPECT_NEAR(*after(2048, size).occupancy(), static_cast<double>(size), 0.1 * static_cast<double>(size)) << size;
  }
  EXPECT_NEAR(*after(2048, 10'000).occupancy(), 10'000, 2500);
}

TEST(SizeEstimate, MindsThatSomeAreSeenMoreOftenThanOthers) {
  SizeEstimate estimate({});
  Rng rng(1);
  // Half of a thousand peers are three times as frequent as the other half.
  for (int i = 0; i < 2048; ++i) estimate.on_sample(test_id(rng.below(4) == 0 ? rng.below(500) : 500 + rng.below(500)));
  EXPECT_NEAR(*estimate.occupancy(), 1000, 100);
}

TEST(SizeEstimate, ForgetsWhatWasBeforeAPartition) {
  SizeEstimate estimate({});
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) estimate.on_sample(test_id(rng.below(2000)));
  for (int i = 0; i < 2048; ++i) estimate.on_sample(test_id(rng.below(300)));
  EXPECT_NEAR(*estimate.occupancy(), 300, 30);
}

TEST(SizeEstimate, SaysNothingWithoutSamples) {
  EXPECT_EQ(SizeEstimate({}).occupancy(), std::nullopt);
  SizeEstimate different({});
  for (std::uint64_t i = 0; i < 100; ++i) different.on_sample(test_id(i));
  EXPECT_EQ(different.occupancy(), std::nullopt) << "nobody was seen twice";
}

}  // namespace
}  // namespace gw::overlay
