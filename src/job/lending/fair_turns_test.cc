#include "job/lending/fair_turns.h"

#include <gtest/gtest.h>

#include <array>

namespace gw::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ConsumerName fair_user(std::uint8_t number) { return sha256(std::array{number}); }
JobId fair_job(std::uint8_t number) { return {sha256(std::array<std::uint8_t, 2>{number, 1})}; }

class FairTurnsOf : public testing::Test {
 protected:
  // Runs turns for so long; returns the lane time of each job in seconds.
  std::map<JobId, double> run(std::uint32_t slots, Time time) {
    std::map<JobId, double> used;
    turns_.take_use(now_);
    turns_.deal(now_, slots);
    for (const Time end = now_ + time; now_ < end;) {
      EXPECT_LE(turns_.dealt(), slots);
      now_ = std::min(turns_.next(), end);
      turns_.deal(now_, slots);
    }
    for (const auto& [job, use] : turns_.take_use(now_)) used[job] = std::chrono::duration<double>(use.slot_time).count();
    return used;
  }
  void set(std::uint8_t job, std::uint8_t user, std::uint32_t lanes, std::uint32_t weight = 1, std::uint32_t priority = 0,
           std::uint32_t least = 0) {
    turns_.set(now_, fair_job(job),
               {{.consumer = fair_user(user), .weight = weight, .priority = priority, .lanes = lanes, .least = least}});
  }

  FairTurns turns_{{}};
  Time now_{seconds(1)};
};

TEST_F(FairTurnsOf, EverythingRunsWhileNobodyWaits) {
  set(1, 1, 2);
  set(2, 2, 2);
  turns_.deal(now_, 4);
  EXPECT_EQ(turns_.lanes(fair_job(1)), 2u);
  EXPECT_EQ(turns_.lanes(fair_job(2)), 2u);
  EXPECT_EQ(turns_.next(), kNever);
}

TEST_F(FairTurnsOf, TwoUsersOfOneSlotTakeTurns) {
  set(1, 1, 1);
  set(2, 2, 1);
  auto used = run(1, seconds(60));
  EXPECT_NEAR(used[fair_job(1)], 30, 0.3);
  EXPECT_NEAR(used[fair_job(2)], 30, 0.3);
}

TEST_F(FairTurnsOf, PartsFollowTheWeightsWhateverTheNumberOfJobsAndLanes) {
  set(1, 1, 4, 1);
  set(2, 1, 4, 1);
  set(3, 1, 4, 1);
  set(4, 2, 4, 2);
  auto used = run(4, seconds(60));
  EXPECT_NEAR(used[fair_job(4)], 160, 2);
  for (const std::uint8_t job : {1, 2, 3}) EXPECT_NEAR(used[fair_job(job)], 80.0 / 3, 2);
}

TEST_F(FairTurnsOf, NoLaneIsLeftWhileAJobCouldUseIt) {
  set(1, 1, 4);
  set(2, 2, 1);
  auto used = run(4, seconds(60));
  EXPECT_NEAR(used[fair_job(1)], 180, 1) << "what the other user cannot use";
  EXPECT_NEAR(used[fair_job(2)], 60, 1);
}

TEST_F(FairTurnsOf, ThreadsOfAJobRunTogetherOrNotAtAll) {
  set(1, 1, 4, 1, 0, 4);
  set(2, 2, 2, 1, 0, 2);
  turns_.deal(now_, 4);
  for (int turn = 0; turn < 100; ++turn) {
    const std::uint32_t first = turns_.lanes(fair_job(1)).value(), second = turns_.lanes(fair_job(2)).value();
    EXPECT_TRUE((first == 4 && second == 0) || (first == 0 && second == 2)) << first << " " << second;
    now_ = turns_.next();
    turns_.deal(now_, 4);
  }
  auto used = run(4, seconds(60));
  EXPECT_NEAR(used[fair_job(1)], used[fair_job(2)], 2);
}

TEST_F(FairTurnsOf, ANewUserHasItsFirstLaneAtOnceAndNoCreditForTheTimeBefore) {
  set(1, 1, 2);
  set(3, 3, 2);
  run(2, seconds(600));
  set(2, 2, 2);
  turns_.deal(now_, 2);
  auto used = run(2, seconds(60));
  EXPECT_NEAR(used[fair_job(2)], 40, 1);
  EXPECT_NEAR(used[fair_job(1)], 40, 1);
  turns_.set(now_, fair_job(2), std::nullopt);
  run(2, seconds(600));
  set(2, 2, 2);
  used = run(2, seconds(60));
  EXPECT_NEAR(used[fair_job(2)], 40, 1) << "it was idle for ten minutes";
}

TEST_F(FairTurnsOf, OfOneUsersJobsTheOneWithTheHigherPriorityGoesFirst) {
  set(1, 1, 2, 1, 0);
  set(2, 1, 2, 1, 5);
  set(3, 2, 2, 1, 0);
  auto used = run(2, seconds(60));
  EXPECT_NEAR(used[fair_job(1)], 0, 0.1);
  EXPECT_NEAR(used[fair_job(2)], 60, 1);
  EXPECT_NEAR(used[fair_job(3)], 60, 1) << "a priority means nothing to other users";
}

TEST_F(FairTurnsOf, TheUseOfAJobThatIsGoneIsCounted) {
  set(1, 1, 2);
  turns_.deal(now_, 4);
  now_ += seconds(10);
  turns_.set(now_, fair_job(1), std::nullopt);
  EXPECT_EQ(turns_.take_use(now_).at(fair_job(1)).slot_time, seconds(20));
}

}  // namespace
}  // namespace gw::job
