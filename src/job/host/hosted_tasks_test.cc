// The tasks of an array at their host.

#include <gmock/gmock.h>

#include "job/test/at_host.h"
#include "job/test/tasks.h"

namespace gw::job {
namespace hosted_job_test {
namespace {

using test::result_of;
using wire::pb::ToWorker;

class AtHostWithTasks : public AtHost {
 protected:
  static constexpr std::uint32_t kTasks = 100;

  AtHostWithTasks() {
    host_->close(out_);
    wire::pb::Manifest content = manifest_of(kTasks);
    content.mutable_policy()->set_promote_after_ns(1'000'000'000);
    claim(content);
  }

  void batch(std::uint32_t first, std::uint32_t count, std::uint64_t session = 1) {
    JobMessage::TaskBatch batch;
    batch.set_claim(7);
    batch.set_session(session);
    batch.set_number(++batches_);
    batch.mutable_tasks()->set_first(first);
    batch.mutable_tasks()->set_count(count);
    host_->on_task_batch(now_, batch, out_);
  }
  void stored(std::uint64_t reports) {
    JobMessage::TaskBatch batch;
    batch.set_claim(7);
    batch.set_session(1);
    batch.set_reports(reports);
    host_->on_task_batch(now_, batch, out_);
  }
  Status results(std::initializer_list<std::uint32_t> tasks) {
    FromWorker frame;
    for (const std::uint32_t task : tasks) *frame.mutable_task_results()->add_results() = result_of(task, kTasks);
    return host_->on_frame(now_, frame, {}, out_);
  }
  Status promoted(std::uint32_t task) {
    FromWorker frame;
    frame.mutable_promoted()->set_task(task);
    return host_->on_frame(now_, frame, {}, out_);
  }
  std::vector<JobMessage::TaskReport> reports() {
    std::vector<JobMessage::TaskReport> list;
    for (const JobMessage& message : take())
      if (message.has_task_report()) list.push_back(message.task_report());
    return list;
  }
  // The tasks that the worker was told to run since the last call.
  TaskSet run() {
    take();
    TaskSet tasks;
    for (const ToWorker& frame : std::exchange(disk_.frames, {}))
      for (const wire::pb::TaskRange& range : frame.run_tasks().ranges()) tasks.add(TaskSpan{range.first(), range.count()});
    return tasks;
  }
  void begin() {
    batch(0, 10);
    take();
    load();
    run();
  }

  std::uint64_t batches_ = 0;
};

TEST_F(AtHostWithTasks, TasksStartTheWorkerAndGoToIt) {
  batch(0, 10);
  take();
  EXPECT_TRUE(host_->worker());
  load();
  take();
  ASSERT_GE(disk_.frames.size(), 2u);
  EXPECT_TRUE(std::ranges::any_of(disk_.frames, [](const ToWorker& frame) { return frame.has_task_setup(); }));
  EXPECT_EQ(run().size(), 10u);
}

TEST_F(AtHostWithTasks, ResultsGoHomeUntilTheyAreStored) {
  begin();
  ASSERT_TRUE(results({0, 1, 2}));
  auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].results_size(), 3);
  EXPECT_EQ(sent[0].number(), 1u);
  EXPECT_EQ(sent[0].batches(), 1u);
  now_ += seconds(1);
  host_->on_tick(now_, out_);
  EXPECT_EQ(reports().size(), 1u) << "home has not answered";
  stored(1);
  now_ += seconds(1);
  host_->on_tick(now_, out_);
  EXPECT_TRUE(reports().empty());
}

TEST_F(AtHostWithTasks, ABatchIsAcknowledgedWithoutAResultToo) {
  begin();
  now_ += seconds(1);
  host_->on_tick(now_, out_);
  const auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].number(), 0u);
  EXPECT_EQ(sent[0].batches(), 1u);
}

TEST_F(AtHostWithTasks, ABatchThatComesTwiceOrEarlyIsNotTaken) {
  begin();
  batches_ = 0;
  batch(50, 10);
  EXPECT_TRUE(run().empty()) << "the first one again";
  batches_ = 2;
  batch(50, 10);
  EXPECT_TRUE(run().empty()) << "the second one is missing";
}

TEST_F(AtHostWithTasks, AResultOfATaskThatTheWorkerDoesNotHaveIsIgnored) {
  begin();
  ASSERT_TRUE(results({77}));
  EXPECT_TRUE(reports().empty());
  EXPECT_FALSE(results({100})) << "there is no such task";
}

TEST_F(AtHostWithTasks, TasksOfAnotherJobAreRefused) {
  batch(98, 10);
  take();
  load();
  EXPECT_EQ(run().spans(), (std::vector<TaskSpan>{{98, 2}}));
}

TEST_F(AtHostWithTasks, APromotedTaskIsAdoptedAsAThread) {
  begin();
  ASSERT_TRUE(promoted(3));
  const auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].promoted(0), 3u);
  JobMessage::Assign assign = assignment(3);
  assign.set_thread(thread_of_task(3, kTasks).value());
  assign.set_promoted(true);
  host_->on_assign(now_, assign, out_);
  take();
  EXPECT_TRUE(disk_.frames.back().has_adopt());
  ASSERT_EQ(host_->running().size(), 1u);
  ASSERT_TRUE(effect(assign, 1));
  host_->on_assign(now_, assign, out_);
  take();
  EXPECT_EQ(host_->running().size(), 1u) << "the assignment was repeated";
}

TEST_F(AtHostWithTasks, ATaskThatIsAThreadHereDoesNotRunAsATask) {
  begin();
  JobMessage::Assign assign = assignment(3, 2);
  assign.set_thread(thread_of_task(3, kTasks).value());
  host_->on_assign(now_, assign, out_);
  take();
  EXPECT_TRUE(std::ranges::any_of(disk_.frames, [](const ToWorker& frame) {
    return frame.has_drop_tasks() && frame.drop_tasks().ranges(0).first() == 3 && frame.drop_tasks().ranges(0).count() == 1;
  }));
  EXPECT_FALSE(host_->tasks().in_worker().contains(3));
  batch(3, 1);  // sent before the task became a thread at another host
  take();
  EXPECT_FALSE(run().contains(3));
}

TEST_F(AtHostWithTasks, APromotedTaskThatHomeDoesNotWantIsDropped) {
  begin();
  ASSERT_TRUE(promoted(3));
  JobMessage::ThreadName name;
  name.set_thread(thread_of_task(3, kTasks).value());
  name.set_epoch(1);
  host_->on_drop(now_, name, out_);
  take();
  EXPECT_TRUE(std::ranges::any_of(disk_.frames, [](const ToWorker& frame) { return frame.has_drop(); }));
}

TEST_F(AtHostWithTasks, ThoseThatRanWhenTheWorkerDiedAreReportedAndOthersRunAgain) {
  begin();
  const std::vector<std::uint32_t> running{0};
  host_->on_worker_died(now_, "out of memory", running, out_);
  auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0].lost(), testing::ElementsAre(0));
  EXPECT_EQ(sent[0].failure(), "out of memory");
  load();
  EXPECT_EQ(run().spans(), (std::vector<TaskSpan>{{1, 9}}));
}

TEST_F(AtHostWithTasks, ATaskThatTheWorkerCannotMakeGoesBack) {
  begin();
  FromWorker frame;
  frame.mutable_failed()->set_thread(thread_of_task(4, kTasks).value());
  frame.mutable_failed()->set_epoch(1);
  frame.mutable_failed()->set_gone(true);
  frame.mutable_failed()->set_error("no addresses are left");
  ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  const auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].returned(0).first(), 4u);
  EXPECT_EQ(sent[0].failure(), "no addresses are left");
}

TEST_F(AtHostWithTasks, ADrainReturnsAllTasks) {
  begin();
  host_->drain(now_, out_);
  const auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].returned(0).count(), 10u);
  EXPECT_TRUE(disk_.frames.back().has_drop_tasks());
  EXPECT_TRUE(host_->drained());
  batch(20, 5);
  EXPECT_EQ(reports().at(0).returned(0).first(), 20u);
}

TEST_F(AtHostWithTasks, TheTasksOfAnEarlierBootOfHomeAreForgotten) {
  begin();
  ASSERT_TRUE(results({0}));
  take();
  batches_ = 0;
  batch(5, 2, 2);
  take();
  const std::vector<ToWorker> frames = disk_.frames;
  EXPECT_TRUE(std::ranges::any_of(frames, [](const ToWorker& frame) { return frame.has_drop_tasks(); }));
  EXPECT_EQ(run().spans(), (std::vector<TaskSpan>{{5, 2}}));
  ASSERT_TRUE(results({5}));
  const auto sent = reports();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].number(), 1u);
  EXPECT_EQ(sent[0].session(), 2u);
}

TEST_F(AtHostWithTasks, ARecallStopsAllTasks) {
  begin();
  JobMessage::TaskBatch recall;
  recall.set_claim(7);
  recall.set_session(1);
  recall.set_number(2);
  recall.set_recall(true);
  host_->on_task_batch(now_, recall, out_);
  take();
  EXPECT_TRUE(disk_.frames.back().has_drop_tasks());
  ASSERT_TRUE(results({0}));
  EXPECT_TRUE(reports().empty());
}

}  // namespace
}  // namespace hosted_job_test
}  // namespace gw::job
