#include "node/jobs/job_history.h"

#include <gtest/gtest.h>

#include "node/jobs/build_job_view.h"

namespace gw::node {
namespace {

using job::Effect;
using job::ThreadId;

constexpr WallTime kNow{};
constexpr std::uint64_t kFirst = (7ull << 32) + 1;

Effect output(ThreadId thread, std::uint64_t sequence, const std::string& bytes, Stream stream = Stream::output) {
  Effect effect;
  effect.set_thread(thread.value());
  effect.set_sequence(sequence);
  effect.mutable_output()->set_descriptor(static_cast<std::uint32_t>(stream));
  effect.mutable_output()->set_bytes(bytes);
  wire::set_stream(effect);
  return effect;
}

Effect end(ThreadId thread, std::uint64_t sequence, std::uint32_t code = 0) {
  Effect effect;
  effect.set_thread(thread.value());
  effect.set_sequence(sequence);
  effect.mutable_end()->set_exit_code(code);
  wire::set_stream(effect);
  return effect;
}

TEST(JobHistory, NumbersEventsAndForgetsOldOnes) {
  JobHistory job(1, OutputProgress(1), kFirst);
  job.add(kNow, JobEvent::Accepted{});
  EXPECT_TRUE(job.end_turn(kNow, {}));
  EXPECT_FALSE(job.end_turn(kNow, {}));
  EXPECT_EQ(job.events(0, 10).front().number, kFirst);
  Effect report;
  report.set_thread(1);
  report.set_report(std::string(100000, 'r'));
  for (int i = 0; i < 100; ++i) job.on_effect(kNow, report);
  const auto events = job.events(0, 1000);
  EXPECT_LT(events.size(), 50u);
  EXPECT_EQ(events.back().number, kFirst + 100);
  EXPECT_EQ(job.events(kFirst + 100, 10).size(), 1u);
  EXPECT_TRUE(job.events(kFirst + 101, 10).empty());
}

TEST(JobHistory, ReportsOutputOnceATurnAndBeforeTheEnd) {
  JobHistory job(1, OutputProgress(1), kFirst);
  job.on_effect(kNow, output(job::kMainThread, 1, "a"));
  job.on_effect(kNow, output(job::kMainThread, 2, "b"));
  job.end_turn(kNow, {});
  job.on_effect(kNow, output(job::kMainThread, 3, "c"));
  job.on_effect(kNow, end(job::kMainThread, 4));
  wire::pb::JobRecord record;
  record.set_state(wire::pb::JobRecord::DONE);
  EXPECT_FALSE(job.over());
  job.on_over(kNow, record);
  const auto events = job.events(0, 100);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(std::get<JobEvent::OutputGrew>(events[0].kind).size, 2u);
  EXPECT_TRUE(std::holds_alternative<JobEvent::ThreadEnded>(events[1].kind));
  EXPECT_EQ(std::get<JobEvent::OutputGrew>(events[2].kind).size, 3u);
  EXPECT_EQ(std::get<JobEvent::Over>(events[3].kind).state, JobState::done);
  EXPECT_TRUE(job.over());
}

TEST(JobHistory, RecallsALifeBeforeWithoutEvents) {
  JobHistory job(2, OutputProgress(2), kFirst);
  job.recall(job::entry_of(output(job::thread_of_task(0, 2), 1, "abc")).header);
  job.recall(job::entry_of(output(job::thread_of_task(1, 2), 1, "d")).header);
  job.recall_failed(job::thread_of_task(0, 2));
  EXPECT_TRUE(job.events(0, 10).empty());
  EXPECT_EQ(job.output().final_size(Stream::output), 4u);
}

TEST(JobViews, ASummaryIsMadeFromCounts) {
  wire::pb::JobRecord record;
  record.set_threads(10);
  record.set_ended(3);
  record.set_failed(1);
  const JobSummary summary = summary_of({}, record, counts_of(record, 2), EndAnnounced::not_yet);
  EXPECT_EQ(summary.threads, 10u);
  EXPECT_EQ(summary.waiting, 4u);
  EXPECT_EQ(summary.running, 2u);
  EXPECT_EQ(summary.ended, 3u);
  EXPECT_EQ(summary.failed, 1u);
}

TEST(JobViews, AJobRunsUntilItsEndWasNotified) {
  job::JobSnapshot snapshot;
  snapshot.record.set_state(wire::pb::JobRecord::DONE);
  snapshot.record.set_ended_at_ns(5);
  snapshot.record.mutable_counters()->set_resumed(3);
  snapshot.threads.push_back({.id = job::kMainThread, .task = 0, .state = ThreadView::State::ended, .exit_code = 4});
  EXPECT_EQ(summary_of({}, snapshot.record, {}, EndAnnounced::not_yet).state, JobState::running);
  EXPECT_FALSE(summary_of({}, snapshot.record, {}, EndAnnounced::not_yet).ended_at);
  const JobView view = view_of({}, snapshot, EndAnnounced::over);
  EXPECT_EQ(view.summary.state, JobState::done);
  EXPECT_TRUE(view.summary.ended_at);
  EXPECT_EQ(view.summary.counters.resumed, 3u);
  EXPECT_EQ(view.threads.front().state, ThreadView::State::ended);
  EXPECT_EQ(view.threads.front().exit_code, 4u);
}

TEST(JobHistory, EndsOfTasksInOneTurnAreOneEventWithTotals) {
  constexpr std::uint32_t kTasks = 100;
  JobHistory job(kTasks, OutputProgress(kTasks), kFirst);
  for (std::uint32_t task = 10; task < 40; ++task) job.on_effect(kNow, end(job::thread_of_task(task, kTasks), 1, task == 20 ? 3 : 0));
  EXPECT_TRUE(job.end_turn(kNow, {.ended = 49, .failed = 1, .running = 4, .hosts = 2}));
  const auto events = job.events(0, 100);
  ASSERT_EQ(events.size(), 1u);
  const auto& ended = std::get<JobEvent::TasksEnded>(events[0].kind);
  EXPECT_EQ(ended.ended, 49u);
  EXPECT_EQ(ended.hosts, 2u);
  EXPECT_EQ(ended.tasks, (std::vector<job::TaskSpan>{{10, 30}}));
  ASSERT_EQ(ended.failures.size(), 1u);
  EXPECT_EQ(ended.failures[0].task, 20u);
  for (std::uint32_t task = 0; task < kTasks; task += 2) job.on_effect(kNow, end(job::thread_of_task(task, kTasks), 1, 1));
  job.end_turn(kNow, {});
  EXPECT_EQ(std::get<JobEvent::TasksEnded>(job.events(0, 100).back().kind).failures.size(), JobEvent::TasksEnded::kMaxFailures);
}

TEST(JobHistory, WakesReadersOfOutputThatIsNotFinal) {
  JobHistory job(2, OutputProgress(2), kFirst);
  job.on_effect(kNow, output(job::thread_of_task(1, 2), 1, "early"));
  EXPECT_TRUE(job.end_turn(kNow, {}));
  EXPECT_TRUE(job.events(0, 10).empty());
}

}  // namespace
}  // namespace gw::node
