#include "toolchain/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace gw::toolchain {
namespace {

TEST(Parallel, DoesEachJobOnce) {
  std::array<std::atomic<int>, 100> done{};
  const Status status = for_each_in_parallel(done.size(), [&](std::size_t i) {
    ++done[i];
    return ok();
  });
  EXPECT_TRUE(status);
  for (const auto& times : done) EXPECT_EQ(times, 1);
}

TEST(Parallel, NothingToDoIsDone) {
  EXPECT_TRUE(for_each_in_parallel(0, [](std::size_t) -> Status { return fail(Kind::internal, "called"); }));
}

TEST(Parallel, ReturnsTheFirstFailureAndBeginsNothingAfterIt) {
  std::atomic<std::size_t> last = 0;
  const Status status = for_each_in_parallel(1'000'000, [&](std::size_t i) -> Status {
    last = std::max(last.load(), i);
    return fail(Kind::invalid, "{}", i);
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().detail, "0");
  EXPECT_LT(last, 10'000u);
}

}  // namespace
}  // namespace gw::toolchain
