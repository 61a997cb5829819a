#include "node/jobs/job_watchers.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

job::JobId numbered_job(std::uint32_t number) { return {sha256(as_bytes(std::to_string(number)))}; }

TEST(JobWatchers, OnlyWatchersOfAJobThatChangedAreCalledAndOnce) {
  JobWatchers watchers;
  int first = 0, second = 0, other = 0;
  const auto one = watchers.add(numbered_job(1), [&] { ++first; });
  const auto two = watchers.add(numbered_job(1), [&] { ++second; });
  const auto three = watchers.add(numbered_job(2), [&] { ++other; });
  EXPECT_FALSE(watchers.note_change(numbered_job(3)));
  EXPECT_TRUE(watchers.note_change(numbered_job(1)));
  EXPECT_TRUE(watchers.note_change(numbered_job(1)));
  watchers.wake();
  watchers.wake();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(other, 0);
}

TEST(JobWatchers, ACallbackMayEndSubscriptions) {
  JobWatchers watchers;
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  int calls = 0;
  const auto end_all = [&] {
    ++calls;
    subscriptions.clear();
  };
  for (int i = 0; i < 3; ++i) subscriptions.push_back(watchers.add(numbered_job(1), end_all).value());
  EXPECT_TRUE(watchers.note_change(numbered_job(1)));
  watchers.wake();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(watchers.note_change(numbered_job(1)));
}

TEST(JobWatchers, ASubscriptionMayOutliveTheWatchers) {
  std::unique_ptr<Subscription> subscription;
  {
    JobWatchers watchers;
    subscription = watchers.add(numbered_job(1), [] {}).value();
  }
  subscription.reset();
}

TEST(JobWatchers, TheirNumberIsLimited) {
  JobWatchers watchers;
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  for (std::uint32_t i = 0; i < JobWatchers::kMaxWatchers; ++i) subscriptions.push_back(watchers.add(numbered_job(i), [] {}).value());
  EXPECT_EQ(watchers.add(numbered_job(1), [] {}).error().kind, Kind::overloaded);
  subscriptions.pop_back();
  EXPECT_TRUE(watchers.add(numbered_job(1), [] {}));
}

}  // namespace
}  // namespace gw::node
