// Tasks with rows at their host: segments are fetched when a task of them is to run.

#include "job/test/at_host.h"
#include "job/test/tasks.h"

namespace gw::job {
namespace hosted_job_test {
namespace {

using wire::pb::ToWorker;

class AtHostWithRows : public AtHost {
 protected:
  static constexpr std::uint32_t kPerSegment = 10;

  AtHostWithRows() { begin(1'000'000'000); }

  void begin(std::uint64_t promote_after_ns, std::string second = {}) {
    host_->close(out_);
    segments_ = {segment(0), second.empty() ? segment(kPerSegment) : std::move(second)};
    wire::pb::Manifest content = manifest_of(0);
    content.mutable_policy()->set_promote_after_ns(promote_after_ns);
    content.mutable_config()->add_args("{}");
    content.mutable_array()->set_count(2 * kPerSegment);
    content.mutable_array()->mutable_values()->set_has_rows(true);
    content.mutable_array()->mutable_values()->add_columns("");
    for (const std::string& bytes : segments_) {
      auto& described = *content.mutable_array()->add_segments();
      described.set_hash(wire::bytes_of(sha256(as_bytes(bytes))));
      described.set_rows(kPerSegment);
    }
    claim(content);
  }
  static std::string segment(std::uint32_t first) {
    wire::pb::TaskRows rows;
    for (std::uint32_t i = 0; i < kPerSegment; ++i) rows.add_rows()->add_values(fmt::format("value {}", first + i));
    return rows.SerializeAsString();
  }
  void batch(std::uint32_t first, std::uint32_t count) {
    JobMessage::TaskBatch batch;
    batch.set_claim(7);
    batch.set_session(1);
    batch.set_number(++batches_);
    batch.mutable_tasks()->set_first(first);
    batch.mutable_tasks()->set_count(count);
    host_->on_task_batch(now_, batch, out_);
    take();
  }
  // Task and value of what the worker was told to run since the last call.
  std::vector<std::pair<std::uint32_t, std::string>> run() {
    take();
    std::vector<std::pair<std::uint32_t, std::string>> list;
    for (const ToWorker& frame : std::exchange(disk_.frames, {})) {
      int row = 0;
      for (const wire::pb::TaskRange& range : frame.run_tasks().ranges())
        for (std::uint32_t i = 0; i < range.count(); ++i) list.emplace_back(range.first() + i, frame.run_tasks().rows(row++).values(0));
    }
    return list;
  }
  std::vector<std::string> segments_;
  std::uint64_t batches_ = 0;
};

TEST_F(AtHostWithRows, ASegmentIsFetchedForItsTasksAndGoesToTheWorkerRowByRow) {
  batch(8, 1);
  load();
  EXPECT_TRUE(run().empty());
  EXPECT_TRUE(blobs_.is_needed(sha256(as_bytes(segments_[0])), job_));
  EXPECT_FALSE(blobs_.is_needed(sha256(as_bytes(segments_[1])), job_)) << "no task of it is here";
  receive(kHome, segments_[0]);
  EXPECT_EQ(run(), (std::vector<std::pair<std::uint32_t, std::string>>{{8, "value 8"}}));
  batch(9, 2);
  EXPECT_EQ(run(), (std::vector<std::pair<std::uint32_t, std::string>>{{9, "value 9"}})) << "the next segment is on its way";
  receive(kHome, segments_[1]);
  EXPECT_EQ(run(), (std::vector<std::pair<std::uint32_t, std::string>>{{10, "value 10"}}));
}

TEST_F(AtHostWithRows, AThreadThatBeginsHereStartsWithItsRow) {
  begin(0);
  load();
  disk_.frames.clear();
  JobMessage::Assign assign = assignment(0);
  assign.set_task(3);
  assign.set_thread(thread_of_task(3, 2 * kPerSegment).value());
  host_->on_assign(now_, assign, out_);
  take();
  const auto starts = [&] { return std::ranges::count_if(disk_.frames, [](const ToWorker& frame) { return frame.has_start(); }); };
  if (!host_->worker()) load();
  load();
  take();
  EXPECT_EQ(starts(), 0);
  receive(kHome, segments_[0]);
  take();
  EXPECT_EQ(starts(), 1);
}

// No host could run these tasks: they fail, and do not wander from host to host.
TEST_F(AtHostWithRows, TasksOfASegmentThatIsNoneFail) {
  begin(1'000'000'000, "nonsense");
  batch(kPerSegment, 2);
  load();
  receive(kHome, segments_[1]);
  std::vector<std::uint32_t> failed;
  for (const JobMessage& message : take())
    for (const wire::pb::TaskResult& result : message.task_report().results()) {
      EXPECT_TRUE(wire::check_task_result(result));
      EXPECT_EQ(result.effects(0).end().reason(), Effect::End::TRAPPED);
      failed.push_back(result.task());
    }
  EXPECT_TRUE(run().empty());
  EXPECT_EQ(failed, (std::vector<std::uint32_t>{kPerSegment, kPerSegment + 1}));
}

// Defect: the tasks came back to home without end, and threads of other tasks failed with them.
TEST_F(AtHostWithRows, OnlyTasksOfASegmentThatNobodyHasAreLost) {
  batch(kPerSegment, 2);
  batch(0, 2);
  load();
  receive(kHome, segments_[0]);
  EXPECT_EQ(run().size(), 2u);
  take();
  host_->on_code_lost(now_, sha256(as_bytes(segments_[1])), out_);
  std::vector<std::uint32_t> lost;
  for (const JobMessage& message : take()) {
    lost.insert(lost.end(), message.task_report().lost().begin(), message.task_report().lost().end());
    EXPECT_TRUE(message.task_report().returned().empty());
  }
  EXPECT_EQ(lost, (std::vector<std::uint32_t>{kPerSegment, kPerSegment + 1}));
}

TEST_F(AtHostWithRows, TasksThatRunAreLostWithAnInputThatNobodyHasAndOthersReturned) {
  batch(0, 1);
  load();
  receive(kHome, segments_[0]);
  EXPECT_EQ(run().size(), 1u);
  batch(kPerSegment, 1);
  const Hash256 input = sha256(as_bytes("an input of a row"));
  FromWorker frame;
  frame.mutable_want_chunk()->set_hash(wire::bytes_of(input));
  ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  take();
  host_->on_code_lost(now_, input, out_);
  std::vector<std::uint32_t> lost, returned;
  for (const JobMessage& message : take()) {
    lost.insert(lost.end(), message.task_report().lost().begin(), message.task_report().lost().end());
    for (const wire::pb::TaskRange& range : message.task_report().returned()) returned.push_back(range.first());
  }
  EXPECT_EQ(lost, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(returned, (std::vector<std::uint32_t>{kPerSegment}));
}

TEST_F(AtHostWithRows, TheWorkerMayReadInputsThatOnlyRowsName) {
  batch(0, 1);
  load();
  FromWorker frame;
  frame.mutable_want_chunk()->set_hash(wire::bytes_of(sha256(as_bytes("an input of a row"))));
  EXPECT_TRUE(host_->on_frame(now_, frame, {}, out_));
  EXPECT_TRUE(blobs_.is_needed(sha256(as_bytes("an input of a row")), job_));
}

}  // namespace
}  // namespace hosted_job_test
}  // namespace gw::job
