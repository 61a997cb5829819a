// Home and the tasks of an array: leases, reports, results, threads.

#include <gmock/gmock.h>

#include "job/home/home_recovery.h"
#include "job/records.h"
#include "job/test/at_home.h"
#include "job/test/tasks.h"

namespace gw::job {
namespace home_test {
namespace {

using test::result_of;

class AtHomeWithTasks : public AtHome {
 protected:
  static constexpr std::uint32_t kTasks = 20;

  AtHomeWithTasks() {
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kSecond), 2}, {id_of(kKeeperPeer), 0}};
    begin_array(kTasks);
  }
  void begin_array(std::uint32_t tasks, std::uint32_t retries = 0, std::uint32_t stop_after_failures = 0) {
    wire::pb::Manifest::Policy policy = manifest_of(tasks).policy();
    policy.set_retries(retries);
    policy.set_stop_after_failures(stop_after_failures);
    policy.set_promote_after_ns(1'000'000'000);
    policy.set_max_failures(2);
    begin(tasks, &policy);
    tasks_ = tasks;
  }

  // The tasks that a host was given since the last call.
  TaskSet given(std::uint8_t host) {
    TaskSet tasks;
    for (const auto& [to, message] : take()) {
      if (message.has_drop()) dropped_.push_back(message.drop());
      if (message.has_assign()) assigned_.push_back(message.assign());
      if (!message.has_task_batch()) continue;
      const JobMessage::TaskBatch& batch = message.task_batch();
      if (to == id_of(host)) acknowledged_ = std::max(acknowledged_, batch.reports());
      if (to == id_of(host) && batch.recall()) ++recalls_;
      if (to != id_of(host) || batch.number() == 0) continue;
      EXPECT_EQ(batch.session(), environment_.boot);
      last_batch_ = std::max(last_batch_, batch.number());
      tasks.add(TaskSpan{batch.tasks().first(), batch.tasks().count()});
    }
    return tasks;
  }
  TaskSet claim(std::uint8_t host, std::uint32_t slots) {
    let_ask(host);
    JobMessage::Offer offer;
    offer.set_round(round_);
    offer.set_claim(7);
    offer.set_slots(slots);
    home_->on_offer(now_, id_of(host), offer, out_);
    return given(host);
  }
  JobMessage::TaskReport next_report(std::uint8_t host) {
    JobMessage::TaskReport report;
    report.set_claim(7);
    report.set_session(environment_.boot);
    report.set_number(++reports_[host]);
    report.set_batches(last_batch_);
    return report;
  }
  void send(std::uint8_t host, const JobMessage::TaskReport& report) { home_->on_task_report(now_, id_of(host), report, out_); }
  // All of the tasks, or the given ones, end well.
  void end(std::uint8_t host, const TaskSet& tasks) {
    JobMessage::TaskReport report = next_report(host);
    for (const TaskSpan& span : tasks.spans())
      for (std::uint32_t i = 0; i < span.count; ++i) *report.add_results() = result_of(span.first + i, tasks_, "x");
    now_ += milliseconds(5);
    send(host, report);
  }
  // The host says that it has lost a task, and why.
  void lose(std::uint8_t host, std::uint32_t task, const std::string& why) {
    JobMessage::TaskReport report = next_report(host);
    report.add_lost(task);
    report.set_failure(why);
    send(host, report);
    take();
  }
  std::size_t ends() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(appends_, [](const Append& append) { return append.entry.header.kind == EffectKind::end; }));
  }

  std::uint32_t tasks_ = 0;
  std::map<std::uint8_t, std::uint64_t> reports_;
  std::uint64_t last_batch_ = 0, acknowledged_ = 0, recalls_ = 0;
  std::vector<JobMessage::ThreadName> dropped_;
  std::vector<JobMessage::Assign> assigned_;
};

TEST_F(AtHomeWithTasks, AHostGetsTasksWithItsClaimAndMoreWithItsResults) {
  TaskSet tasks = claim(kFirst, 2);
  EXPECT_EQ(tasks.spans(), (std::vector<TaskSpan>{{0, 4}})) << "two for each slot";
  std::size_t ended = 0;
  while (!tasks.empty()) {
    ended += tasks.size();
    end(kFirst, tasks);
    tasks = given(kFirst);
  }
  EXPECT_EQ(ended, kTasks);
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(ends(), kTasks);
  EXPECT_EQ(count<JobOver>(), 1u);
  EXPECT_EQ(home_->record().exit_code(), 0u);
}

TEST_F(AtHomeWithTasks, NothingIsRecordedBeforeAResult) {
  records_.clear();
  claim(kFirst, 2);
  EXPECT_TRUE(records_.empty());
}

TEST_F(AtHomeWithTasks, AReportCountsOnceAndIsAcknowledged) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_);
  send(kFirst, report);
  given(kFirst);
  EXPECT_EQ(acknowledged_, 1u);
  acknowledged_ = 0;
  send(kFirst, report);
  given(kFirst);
  EXPECT_EQ(acknowledged_, 1u) << "the acknowledgement was lost";
  EXPECT_EQ(ends(), 1u);
}

TEST_F(AtHomeWithTasks, ATaskThatAHostDoesNotHaveHasNoResultFromIt) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(9, tasks_);
  send(kFirst, report);
  take();
  EXPECT_EQ(ends(), 0u);
}

TEST_F(AtHomeWithTasks, AResultWithTheEffectsOfAnotherTaskIsRefused) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(1, tasks_);
  report.mutable_results(0)->set_task(0);
  send(kFirst, report);
  take();
  EXPECT_EQ(ends(), 0u);
  EXPECT_EQ(count<PeerRefused>(), 1u);
}

TEST_F(AtHomeWithTasks, TasksOfALostHostRunElsewhere) {
  claim(kFirst, 2);
  const TaskSet second = claim(kSecond, 2);
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  end(kSecond, second);
  EXPECT_TRUE(given(kSecond).contains(0)) << "the tasks of the lost host come first";
  JobMessage::TaskReport late = next_report(kFirst);
  *late.add_results() = result_of(1, tasks_);
  send(kFirst, late);
  take();
  EXPECT_EQ(ends(), second.size()) << "the claim is gone";
}

TEST_F(AtHomeWithTasks, FailedTasksAreCountedAndRecorded) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_);
  *report.add_results() = result_of(1, tasks_, "", 3);
  send(kFirst, report);
  take();
  const JobSnapshot snapshot = home_->snapshot();
  EXPECT_EQ(snapshot.failed, 1u);
  EXPECT_EQ(snapshot.ended, 1u);
  EXPECT_EQ(snapshot.record.exit_code(), 3u);
  EXPECT_EQ(snapshot.threads.at(1).state, ThreadView::State::failed);
  const RecordKey key{.kind = RecordKind::thread, .job = charter_.id(), .thread = thread_of_task(1, tasks_)};
  EXPECT_TRUE(records_.contains(key.encode()));
}

TEST_F(AtHomeWithTasks, ATaskThatKillsItsWorkersFails) {
  TaskSet held = claim(kFirst, 2);
  for (int death = 0; death < 3; ++death) {
    ASSERT_TRUE(held.remove(0)) << death;
    lose(kFirst, 0, "out of memory");
    tick(seconds(6));  // the claim is renewed
    end(kFirst, held);
    held = given(kFirst);
  }
  EXPECT_EQ(home_->snapshot().failed, 1u);
  EXPECT_NE(home_->snapshot().threads.at(0).sentence.find("out of memory"), std::string::npos);
}

// Defect: such tasks were repeated for ever if the policy has no limit of failures.
TEST_F(AtHomeWithTasks, ATaskIsNotRepeatedOftenWhileHomeLacksABlob) {
  content_.mutable_policy()->set_max_failures(0);
  restart();
  home_->on_blob_lost(sha256(as_bytes("rows")));
  TaskSet held = claim(kFirst, 2);
  for (int times = 0; times < 3; ++times) {
    ASSERT_TRUE(held.remove(0)) << times;
    lose(kFirst, 0, "its rows are lost");
    end(kFirst, held);
    held = given(kFirst);
  }
  EXPECT_EQ(home_->snapshot().failed, 1u);
  EXPECT_NE(home_->snapshot().threads.at(0).sentence.find("its rows are lost"), std::string::npos);
}

TEST_F(AtHomeWithTasks, ALongTaskBecomesAThreadWhereItRuns) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  report.add_promoted(1);
  send(kFirst, report);
  given(kFirst);
  ASSERT_EQ(assigned_.size(), 1u);
  EXPECT_TRUE(assigned_[0].promoted());
  EXPECT_EQ(assigned_[0].epoch(), 1u);
  EXPECT_EQ(assigned_[0].thread(), thread_of_task(1, tasks_).value());
  status(kFirst, assigned_, JobMessage::BEGINNING);
  effects(kFirst, {output_of(assigned_[0], 1), end_of(assigned_[0], 2)});
  take();
  EXPECT_EQ(ends(), 1u);
  EXPECT_EQ(home_->snapshot().ended, 1u);
}

TEST_F(AtHomeWithTasks, EveryTaskMayBecomeAThread) {
  config_.children = 1;
  begin_array(kTasks);
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  for (const std::uint32_t task : {0u, 1u, 2u, 3u}) report.add_promoted(task);
  send(kFirst, report);
  given(kFirst);
  EXPECT_EQ(assigned_.size(), 4u) << "the limit is that of forked threads";
}

TEST_F(AtHomeWithTasks, NoTaskRanForLongerThanItsHostHadTheClaim) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_, "x");
  report.mutable_results(0)->set_run_time_ns(~std::uint64_t{0});
  now_ += milliseconds(5);
  send(kFirst, report);
  take();
  EXPECT_LE(end_record_of(appends_.back().entry)->run_time_ns(), 5'000'000u);
}

TEST_F(AtHomeWithTasks, FailedRunsDoNotUseTheRoomOfResults) {
  config_.output.job_bytes = 1500;
  begin_array(kTasks, 1000);
  TaskSet tasks = claim(kFirst, 2);
  for (int run = 0; run < 20 && !tasks.empty(); ++run) {
    JobMessage::TaskReport report = next_report(kFirst);
    for (const TaskSpan& span : tasks.spans())
      for (std::uint32_t i = 0; i < span.count; ++i) *report.add_results() = result_of(span.first + i, tasks_, "half", 3);
    send(kFirst, report);
    tasks = given(kFirst);
  }
  EXPECT_GT(home_->snapshot().failed, 0u) << "before a thousand runs";
}

TEST_F(AtHomeWithTasks, AThreadThatWasATaskIsPlacedAgainWhenItsHostIsLost) {
  claim(kFirst, 2);
  claim(kSecond, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  report.add_promoted(1);
  send(kFirst, report);
  take();
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  given(kSecond);
  ASSERT_EQ(assigned_.size(), 1u);
  EXPECT_EQ(assigned_[0].epoch(), 2u);
  EXPECT_FALSE(assigned_[0].promoted());
}

TEST_F(AtHomeWithTasks, APromotedTaskThatIsNotItsHostsIsDropped) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  report.add_promoted(17);
  send(kFirst, report);
  given(kFirst);
  ASSERT_EQ(dropped_.size(), 1u);
  EXPECT_EQ(dropped_[0].thread(), thread_of_task(17, tasks_).value());
}

TEST_F(AtHomeWithTasks, ReturnedTasksGoElsewhere) {
  claim(kFirst, 2);
  const TaskSet second = claim(kSecond, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  report.add_returned()->set_first(0);
  report.mutable_returned(0)->set_count(4);
  report.set_failure("no room");
  send(kFirst, report);
  EXPECT_TRUE(given(kFirst).empty()) << "it cannot run tasks now";
  end(kSecond, second);
  EXPECT_TRUE(given(kSecond).contains(0));
  EXPECT_EQ(home_->snapshot().peers.at(0).failure, "no room");
}

TEST_F(AtHomeWithTasks, ABatchIsRepeatedUntilItIsAcknowledged) {
  claim(kFirst, 2);
  tick(seconds(1));
  const TaskSet again = given(kFirst);
  EXPECT_EQ(again.size(), 4u);
  JobMessage::TaskReport acknowledgement;
  acknowledgement.set_claim(7);
  acknowledgement.set_session(environment_.boot);
  acknowledgement.set_batches(last_batch_);
  send(kFirst, acknowledgement);
  given(kFirst);
  tick(seconds(2));
  EXPECT_TRUE(given(kFirst).empty());
}

TEST_F(AtHomeWithTasks, TheFirstOfTwoResultsCounts) {
  begin_array(12);
  claim(kFirst, 2);
  TaskSet second = claim(kSecond, 2);
  last_batch_ = 9;
  for (int rounds = 0; rounds < 8 && home_->snapshot().waiting > 0; ++rounds) {
    end(kSecond, second);
    second = given(kSecond);
  }
  end(kSecond, second);
  second = given(kSecond);
  ASSERT_FALSE(home_->over()) << "the first host has not answered";
  tick(milliseconds(1000), milliseconds(100));
  second = given(kSecond);
  EXPECT_TRUE(second.contains(3)) << "the last task of the other host comes first";
  for (int rounds = 0; rounds < 4 && !home_->over(); ++rounds) {
    end(kSecond, second);
    tick(milliseconds(500), milliseconds(100));
    second = given(kSecond);
  }
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(ends(), 12u);
}

TEST_F(AtHomeWithTasks, ASuspendedJobRecallsItsTasks) {
  claim(kFirst, 2);
  ASSERT_TRUE(home_->suspend(now_, out_));
  given(kFirst);
  EXPECT_EQ(recalls_, 1u);
  EXPECT_EQ(count<JobSuspended>(), 1u);
  ASSERT_TRUE(home_->resume(now_, out_));
  EXPECT_EQ(claim(kFirst, 2).spans(), (std::vector<TaskSpan>{{0, 4}}));
}

TEST_F(AtHomeWithTasks, AHomeThatStartsAgainGoesOnWithTheTasksThatHaveNoResult) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_, "x");
  *report.add_results() = result_of(1, tasks_, "", 3);
  report.add_promoted(2);
  send(kFirst, report);
  take();
  HomeRecords records;
  ASSERT_TRUE(records.job.ParseFromString(records_.at(RecordKey{.kind = RecordKind::job, .job = charter_.id()}.encode())));
  for (std::uint32_t task = 0; task < tasks_; ++task) {
    const auto found =
        records_.find(RecordKey{.kind = RecordKind::thread, .job = charter_.id(), .thread = thread_of_task(task, tasks_)}.encode());
    if (found != records_.end()) ASSERT_TRUE(records.threads[thread_of_task(task, tasks_)].ParseFromString(found->second));
  }
  for (const Append& append : appends_) records.effects.push_back(append.entry.header);
  wire::pb::Manifest::Policy policy = home_->manifest().content().policy();
  begin(tasks_, &policy);
  ASSERT_TRUE(home_->recover(now_, records));
  const JobSnapshot snapshot = home_->snapshot();
  EXPECT_EQ(snapshot.ended, 1u);
  EXPECT_EQ(snapshot.failed, 1u);
  EXPECT_EQ(snapshot.record.exit_code(), 3u);
  EXPECT_EQ(snapshot.threads.at(2).state, ThreadView::State::running);
  EXPECT_EQ(snapshot.record.threads(), kTasks);
  home_->on_tick(now_, out_);
  EXPECT_EQ(given(kFirst).spans().at(0).first, 3u) << "the claim of the thread is known, and gets tasks";
}

// --- failed tasks

TEST_F(AtHomeWithTasks, ATaskThatFailsRunsAgainOnAnotherHost) {
  begin_array(kTasks, 1);
  claim(kFirst, 2);
  const TaskSet second = claim(kSecond, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(1, tasks_, "half", 3);
  send(kFirst, report);
  EXPECT_FALSE(given(kFirst).contains(1)) << "it failed there";
  EXPECT_EQ(ends(), 0u);
  EXPECT_EQ(count<RunRepeated>(), 1u);
  EXPECT_EQ(appends_.size(), 1u) << "what the failed run printed is not kept, its end is";
  EXPECT_EQ(home_->list_tasks({.from = 1, .limit = 1}).tasks.at(0).why.reason, Reason::runs_again);
  end(kSecond, second);
  EXPECT_TRUE(given(kSecond).contains(1)) << "before all others";
  report = next_report(kSecond);
  *report.add_results() = result_of(1, tasks_, "whole", 3);
  send(kSecond, report);
  take();
  EXPECT_EQ(home_->snapshot().failed, 1u) << "one retry was allowed";
  EXPECT_EQ(end_record_of(appends_.back().entry)->attempts(), 2u);
}

TEST_F(AtHomeWithTasks, ATaskThatFailsRunsAgainOnTheOnlyHost) {
  begin_array(kTasks, 3);
  TaskSet rest = claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  rest.remove(1);
  *report.add_results() = result_of(1, tasks_, "", 3);
  send(kFirst, report);
  TaskSet after = given(kFirst);
  end(kFirst, rest);
  for (const TaskSpan& span : given(kFirst).spans()) after.add(span);
  EXPECT_TRUE(after.contains(1));
}

TEST_F(AtHomeWithTasks, AThreadThatFailsBeginsAgainInANewEpoch) {
  begin_array(kTasks, 1);
  claim(kFirst, 2);
  claim(kSecond, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  report.add_promoted(1);
  send(kFirst, report);
  given(kFirst);
  ASSERT_EQ(assigned_.size(), 1u);
  status(kFirst, assigned_, JobMessage::BEGINNING);
  Effect end = end_of(assigned_[0], 2);
  end.mutable_end()->set_exit_code(3);
  effects(kFirst, {output_of(assigned_[0], 1), end});
  assigned_.clear();
  given(kSecond);
  EXPECT_EQ(count<RunRepeated>(), 1u);
  ASSERT_EQ(assigned_.size(), 1u);
  EXPECT_EQ(assigned_[0].epoch(), 2u);
  EXPECT_FALSE(assigned_[0].restore()) << "from its beginning";
  EXPECT_TRUE(assigned_[0].stored().empty()) << "nothing of the failed run counts";
  status(kSecond, assigned_, JobMessage::BEGINNING);
  effects(kSecond, {output_of(assigned_[0], 1), end_of(assigned_[0], 2)});
  take();
  EXPECT_EQ(home_->snapshot().ended, 1u);
  EXPECT_EQ(home_->snapshot().failed, 0u);
}

TEST_F(AtHomeWithTasks, AJobStopsWhenTooManyTasksHaveFailed) {
  begin_array(kTasks, 0, 2);
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_, "", 3);
  send(kFirst, report);
  EXPECT_FALSE(home_->over());
  report = next_report(kFirst);
  *report.add_results() = result_of(1, tasks_, "", 4);
  send(kFirst, report);
  EXPECT_TRUE(home_->over());
  take();
  const wire::pb::JobRecord record = home_->record();
  EXPECT_EQ(record.state(), wire::pb::JobRecord::DONE);
  EXPECT_EQ(record.exit_code(), 4u);
  EXPECT_THAT(record.sentence(), ::testing::HasSubstr("2 of its tasks failed and at most 1 may"));
  wire::pb::JobRecord details;
  ASSERT_TRUE(details.ParseFromString(appends_.back().entry.bytes));
  EXPECT_EQ(details.failed_tasks_size(), 1);
  EXPECT_EQ(details.unfinished_tasks(0).first(), 2u);
  EXPECT_EQ(details.unfinished_tasks(0).count(), kTasks - 2);
  EXPECT_EQ(states_of(details)->filtered(TaskFilter::done).size(), 0u);
}

TEST_F(AtHomeWithTasks, FailedRunsAreCountedAgainAfterARestart) {
  begin_array(kTasks, 1);
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_);
  *report.add_results() = result_of(1, tasks_, "", 3);
  send(kFirst, report);
  take();
  HomeRecords records;
  ASSERT_TRUE(records.job.ParseFromString(records_.at(RecordKey{.kind = RecordKind::job, .job = charter_.id()}.encode())));
  ASSERT_TRUE(records.counters.ParseFromString(records_.at(RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode())));
  for (const Append& append : appends_) records.effects.push_back(append.entry.header);
  begin_array(kTasks, 1);
  ASSERT_TRUE(home_->recover(now_, records));
  EXPECT_EQ(home_->record().retried(), 1u);
  EXPECT_EQ(home_->snapshot().peers.at(0).finished, 1u) << "counted from the output";
  reports_.clear();
  claim(kFirst, 2);
  report = next_report(kFirst);
  *report.add_results() = result_of(1, tasks_, "", 3);
  send(kFirst, report);
  EXPECT_EQ(home_->snapshot().failed, 1u) << "the retry was used up before";
}

TEST_F(AtHomeWithTasks, AJobOfSomeTasksOfAnArrayRunsThoseOnly) {
  wire::pb::Manifest manifest = manifest_of(kTasks);
  manifest.mutable_policy()->set_promote_after_ns(1'000'000'000);
  for (const std::uint32_t first : {3u, 11u}) {
    manifest.mutable_array()->add_only()->set_first(first);
    manifest.mutable_array()->mutable_only()->rbegin()->set_count(2);
  }
  const Bytes bytes = Manifest::encode(manifest);
  home_ = std::make_unique<Home>(config_, environment_, charter_, Manifest::check(bytes).value());
  home_->begin(now_, {bytes}, out_);
  take();
  EXPECT_EQ(home_->record().threads(), 4u);
  TaskSet tasks = claim(kFirst, 2);
  EXPECT_EQ(tasks.spans(), (std::vector<TaskSpan>{{3, 2}, {11, 2}}));
  end(kFirst, tasks);
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(home_->record().ended(), 4u);
}

// --- lists

TEST_F(AtHomeWithTasks, ListsTasksByStateAndPage) {
  claim(kFirst, 2);
  JobMessage::TaskReport report = next_report(kFirst);
  *report.add_results() = result_of(0, tasks_);
  *report.add_results() = result_of(1, tasks_, "", 3);
  send(kFirst, report);
  take();
  const auto numbers = [&](const TaskQuery& query) {
    std::vector<std::uint32_t> list;
    for (const ThreadView& view : home_->list_tasks(query).tasks) list.push_back(*view.task);
    return list;
  };
  EXPECT_THAT(numbers({.filter = TaskFilter::failed, .limit = 10}), ::testing::ElementsAre(1));
  EXPECT_THAT(numbers({.filter = TaskFilter::done, .limit = 10}), ::testing::ElementsAre(0));
  EXPECT_EQ(numbers({.filter = TaskFilter::running, .limit = 10}).size(), 2u) << "as many as the host has slots";
  const TaskPage page = home_->list_tasks({.filter = TaskFilter::waiting, .limit = 2});
  EXPECT_EQ(page.count, kTasks - 4);
  EXPECT_EQ(page.tasks.at(0).why.reason, Reason::next_at_host);
  EXPECT_EQ(page.next, page.tasks.at(1).task.value() + 1);
  EXPECT_THAT(numbers({.from = kTasks - 1, .limit = 10}), ::testing::ElementsAre(kTasks - 1));
  EXPECT_TRUE(numbers({.from = kTasks, .limit = 10}).empty());
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
