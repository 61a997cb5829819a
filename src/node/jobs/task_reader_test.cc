#include "node/jobs/task_reader.h"

#include <gmock/gmock.h>

#include "job/test/tasks.h"
#include "node/disk/segment_store.h"
#include "os/files/file.h"

namespace gw::node {
namespace {

using job::EffectKind;
using job::ThreadId;

class TaskReaderTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kTasks = 10;

  void append(const job::EffectEntry& entry) { end_ = store_.append(job_, end_, entry).value(); }
  void print(ThreadId thread, const std::string& bytes, EffectKind kind = EffectKind::output) {
    job::EffectEntry entry{.header = {.thread = thread, .epoch = 1, .sequence = 1, .kind = kind}, .bytes = bytes};
    entry.header.bytes = static_cast<std::uint32_t>(bytes.size());
    append(entry);
  }
  static ThreadId thread(std::uint32_t task) { return job::thread_of_task(task, kTasks); }
  static job::Effect end_effect(std::uint32_t task, std::uint32_t code) {
    const wire::pb::TaskResult result = job::test::result_of(task, kTasks, "", code);
    return *result.effects().rbegin();
  }
  job::EndFacts facts(std::uint32_t attempts = 1) const {
    return {.host = host_, .ended_at = std::chrono::seconds(100), .run_time = std::chrono::seconds(3), .attempts = attempts};
  }
  TaskReader::Source source() const { return {.job = job_, .tasks = kTasks, .end = end_, .over = true}; }
  std::string read(FrameQuery query) {
    std::string text;
    for (bool end = false; !end;) {
      const OutputFrames found = reader_.frames(source(), query).value();
      for (const OutputFrame& frame : found.frames) text += frame.bytes;
      end = found.end;
      query.from = found.next;
    }
    return text;
  }

  const job::JobId job_{sha256(as_bytes("a job"))};
  const job::PeerId host_{sha256(as_bytes("a host"))};
  os::TempDir folder_ = os::TempDir::make().value();
  SegmentStore store_ = SegmentStore::open(folder_.path()).value();
  TaskReader reader_{folder_.path()};
  segment::Position end_;
};

TEST_F(TaskReaderTest, GivesOutputInTheOrderOfItsArrivalOrOfTheTasks) {
  print(thread(7), "seven ");
  print(thread(2), "two ");
  print(thread(7), "errors ", EffectKind::errors);
  print(ThreadId{77777}, "forked ");
  append(job::end_entry(end_effect(7, 0), facts()));
  print(thread(2), "more ");
  EXPECT_EQ(read({}), "seven two errors forked more ");
  EXPECT_EQ(read({.limit = 1}), "seven two errors forked more ") << "piece by piece";
  EXPECT_EQ(read({.order = FrameQuery::Order::task}), "two more seven errors forked ");
  EXPECT_EQ(read({.order = FrameQuery::Order::task, .limit = 1}), "two more seven errors forked ");
  FrameQuery some{.order = FrameQuery::Order::task, .stream = Stream::output, .tasks = job::TaskSet()};
  some.tasks->add(7);
  EXPECT_EQ(read(some), "seven ");
  some.order = FrameQuery::Order::arrival;
  EXPECT_EQ(read(some), "seven ");
}

TEST_F(TaskReaderTest, FollowsAJobThatGrows) {
  print(thread(3), "a");
  TaskReader::Source growing = source();
  growing.over = false;
  OutputFrames found = reader_.frames(growing, {}).value();
  EXPECT_EQ(found.frames.size(), 1u);
  EXPECT_FALSE(found.end);
  EXPECT_EQ(reader_.frames(growing, {.from = found.next}).value().frames.size(), 0u);
  print(thread(1), "b");
  growing.end = end_;
  found = reader_.frames(growing, {.from = found.frames.back().next}).value();
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_EQ(found.frames[0].thread, thread(1));
}

TEST_F(TaskReaderTest, LeavesOutWhatAFailedRunHasPrinted) {
  print(thread(3), "void ");
  append(job::attempt_entry(end_effect(3, 1), facts()));
  print(thread(3), "kept ");
  append(job::end_entry(end_effect(3, 0), facts(2)));
  EXPECT_EQ(read({.order = FrameQuery::Order::task}), "kept ");
}

TEST_F(TaskReaderTest, FindsTheEntriesOfAThreadThatLieFarApart) {
  for (int i = 0; i < 40; ++i) {
    print(thread(5), std::to_string(i) + " ");
    print(thread(6), std::string(10'000, 'x'));
  }
  std::string all;
  for (int i = 0; i < 40; ++i) all += std::to_string(i) + " ";
  FrameQuery query{.order = FrameQuery::Order::task, .tasks = job::TaskSet()};
  query.tasks->add(5);
  EXPECT_EQ(read(query), all);
}

TEST_F(TaskReaderTest, SaysHowTasksHaveEnded) {
  append(job::end_entry(end_effect(4, 9), facts(3)));
  std::vector<ThreadView> views{{.id = thread(4), .task = 4, .state = ThreadView::State::failed},
                                {.id = thread(5), .task = 5, .state = ThreadView::State::waiting}};
  ASSERT_TRUE(reader_.complete(source(), views));
  EXPECT_EQ(views[0].exit_code, 9u);
  EXPECT_EQ(views[0].host, host_);
  EXPECT_EQ(views[0].attempts, 3u);
  EXPECT_EQ(views[0].started_at, job::Time(std::chrono::seconds(97)));
  EXPECT_EQ(views[1].ended_at, job::Time(0));
}

}  // namespace
}  // namespace gw::node
