#include "wire/messages/limits.h"

#include <gtest/gtest.h>

#include "wire/image/image_tree.h"

namespace gw::wire {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(Limits, ZeroStandsForTheDefault) {
  EXPECT_EQ(effective_memory_pages({}) * kPageBytes, kGiB);
  EXPECT_EQ(effective_output_bytes({}), 16 * kGiB);
  EXPECT_EQ(effective_file_bytes({}), kGiB);
}

TEST(Limits, AProgramWithMoreMemoryMayWriteAsMuchUnlessItsFilesAreLimited) {
  pb::Limits limits;
  limits.set_memory_pages(kMaxMemoryPages);
  EXPECT_EQ(effective_file_bytes(limits), 4 * kGiB);
  limits.set_file_bytes(1000);
  EXPECT_EQ(effective_file_bytes(limits), 1000u);
}

// A manifest comes from a stranger: sums and products of its limits must not overflow.
TEST(Limits, NoLimitIsAboveWhatAnImageCanHave) {
  pb::Limits limits;
  limits.set_memory_pages(~std::uint64_t{0});
  limits.set_file_bytes(~std::uint64_t{0});
  EXPECT_EQ(effective_memory_pages(limits), kMaxMemoryPages);
  EXPECT_EQ(effective_file_bytes(limits), 64 * kGiB);
  EXPECT_LT(largest_image_bytes(limits), 69 * kGiB);
}

TEST(Limits, AnImageIsLittleLargerThanMemoryAndFiles) {
  EXPECT_GT(largest_image_bytes({}), 2 * kGiB);
  EXPECT_LT(largest_image_bytes({}), 2 * kGiB + kGiB / 4);
}

}  // namespace
}  // namespace gw::wire
