#include "worker/sleeping_threads.h"

#include <gtest/gtest.h>

namespace gw::worker {
namespace {

using Time = SleepingThreads::Time;

TEST(SleepingThreads, HoldOneEntryForEachThread) {
  SleepingThreads threads;
  for (int i = 0; i < 1000; ++i) threads.add(Time(1'000'000 + i), 7);  // woken early by input, it sleeps again
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads.next(), Time(1'000'999));
  threads.add(Time(5), 8);
  EXPECT_EQ(threads.take_due(Time(5)), std::vector<std::uint64_t>{8});
  threads.forget(7);
  EXPECT_EQ(threads.next(), std::nullopt);
}

}  // namespace
}  // namespace gw::worker
