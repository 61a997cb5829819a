#include "job/home/run_time_limit.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {
namespace {

// A job of one thread, which may run for ten seconds.
class WithTimeLimit : public AtHome {
 protected:
  WithTimeLimit() {
    policy_ = manifest_of(1).policy();
    policy_.mutable_limits()->set_wall_time_ns(10'000'000'000);
    begin(1, &policy_);
    peers_.free_slots[id_of(kSecond)] = 2;
  }
  // The host lives for so long, and says so.
  void run_for(std::uint8_t host, const JobMessage::Assign& assign, Time time) {
    for (const Time until = now_ + time; now_ < until;) {
      now_ += milliseconds(500);
      status(host, {assign}, JobMessage::BEGINNING);
      home_->on_tick(now_, out_);
    }
  }
  std::string sentence() {
    take();
    return home_->snapshot().threads.at(0).sentence;
  }

  wire::pb::Manifest::Policy policy_;
};

TEST_F(WithTimeLimit, AThreadThatSleepsIsEndedByHome) {
  const auto assigned = offer(kFirst, 1);
  ASSERT_EQ(assigned.size(), 1u);
  run_for(kFirst, assigned[0], seconds(10));
  EXPECT_FALSE(home_->over()) << "the worker has a second to end it, with a backtrace";
  run_for(kFirst, assigned[0], seconds(2));
  ASSERT_TRUE(home_->over());
  EXPECT_TRUE((sent_to<&JobMessage::has_drop>(kFirst)));
  EXPECT_EQ(sentence(), "it has run for its wall time of 10 s");
  EXPECT_EQ(home_->record().exit_code(), 5u) << "as every limit";
  EXPECT_EQ(home_->record().failed(), 1u);
}

TEST_F(WithTimeLimit, TheTimeAtAllHostsTogetherCounts) {
  const auto first = offer(kFirst, 1);
  run_for(kFirst, first.at(0), seconds(7));
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  take();
  const auto second = offer(kSecond, 1);
  ASSERT_EQ(second.size(), 1u);
  run_for(kSecond, second[0], milliseconds(2500));
  EXPECT_FALSE(home_->over());
  run_for(kSecond, second[0], seconds(3));
  EXPECT_TRUE(home_->over());
}

TEST_F(WithTimeLimit, WaitingAndSuspendedTimeDoesNotCount) {
  const auto first = offer(kFirst, 1);
  run_for(kFirst, first.at(0), seconds(7));
  ASSERT_TRUE(home_->suspend(now_, out_));
  suspended(kFirst, first[0]);
  take();
  tick(std::chrono::hours(1), std::chrono::minutes(1));
  ASSERT_TRUE(home_->resume(now_, out_));
  const auto second = offer(kFirst, 1, 8);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_FALSE(home_->over());
}

TEST_F(WithTimeLimit, ARestartOfHomeGivesNoNewTime) {
  const auto first = offer(kFirst, 1);
  run_for(kFirst, first.at(0), seconds(7));
  now_ += seconds(2);
  restart();
  run_for(kFirst, first[0], milliseconds(500));
  EXPECT_FALSE(home_->over());
  run_for(kFirst, first[0], seconds(3));
  EXPECT_TRUE(home_->over()) << "its host is another peer, where it ran all the time";
}

TEST_F(WithTimeLimit, AThreadThatDiedWithHomeHasRunUntilHomeWasSeenLast) {
  peers_.free_slots[id_of(kHomePeer)] = 1;
  const auto first = offer(kHomePeer, 1);
  ASSERT_EQ(first.size(), 1u);
  run_for(kHomePeer, first[0], seconds(7));
  take();
  now_ += std::chrono::hours(24);
  restart();
  home_->on_tick(now_, out_);
  EXPECT_FALSE(home_->over()) << "a day without power is no run time";
  tick(seconds(8));
  EXPECT_TRUE(home_->over());
}

TEST(RunTimeLimit, ARunThatIsRepeatedHasItsTimeAgain) {
  wire::pb::Manifest manifest = manifest_of(1);
  manifest.mutable_policy()->mutable_limits()->set_wall_time_ns(10'000'000'000);
  RunTimeLimit limit(Manifest::check(Manifest::encode(manifest)).value());
  ThreadTable threads;
  HomeThread& thread = threads.add(kMainThread);
  threads.place(kMainThread, id_of(kFirst), 7, seconds(1));
  EXPECT_TRUE(limit.on_started(seconds(1), kMainThread, thread));
  EXPECT_FALSE(limit.on_started(seconds(5), kMainThread, thread)) << "a status repeats it";
  limit.on_left(seconds(9), kMainThread, thread);
  EXPECT_EQ(thread.ran, seconds(8));
  EXPECT_EQ(limit.take_due(seconds(100)), std::nullopt);
  threads.run_again(kMainThread, id_of(kFirst));
  EXPECT_EQ(thread.ran, Time(0));
}

TEST(RunTimeLimit, OnlyAChosenLimitCostsRecords) {
  RunTimeLimit limit(Manifest::check(Manifest::encode(manifest_of(1))).value());
  HomeThread thread;
  EXPECT_FALSE(limit.on_started(seconds(1), kMainThread, thread));
  EXPECT_FALSE(limit.is_record_due(seconds(100)));
  EXPECT_EQ(limit.take_due(std::chrono::days(29)), std::nullopt);
  EXPECT_EQ(limit.take_due(std::chrono::days(31)), kMainThread);
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
