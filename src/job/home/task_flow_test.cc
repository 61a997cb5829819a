#include "job/home/task_flow.h"

#include <gtest/gtest.h>

#include "job/test/graphs.h"

namespace gw::job {
namespace {

using test::diamond;
using test::TestStage;

const PeerId kLeaseHolder{sha256(as_bytes("a host"))};

class Flow : public testing::Test {
 protected:
  explicit Flow(const std::vector<TestStage>& stages = diamond())
      : manifest_(Manifest::check(Manifest::encode(test::manifest_of_graph(stages))).value()), tasks_(manifest_.tasks()) {}

  void begin() { flow_.begin(threads_); }
  // The tasks that can be leased now.
  std::vector<std::uint32_t> lease() {
    std::vector<std::uint32_t> leased;
    while (const auto span = tasks_.lease(100, kLeaseHolder, TaskTable::SameHost::no))
      for (std::uint32_t i = 0; i < span->count; ++i) leased.push_back(span->first + i);
    return leased;
  }
  void end(std::uint32_t task) {
    tasks_.end(task);
    flow_.on_over(task, TaskFlow::End::well, out_);
  }
  void fail(std::uint32_t task) {
    tasks_.fail(task, {.exit_code = 3, .sentence = ""});
    flow_.on_over(task, TaskFlow::End::badly, out_);
  }

  using List = std::vector<std::uint32_t>;
  const Manifest manifest_;
  TaskTable tasks_;
  ThreadTable threads_;
  ClaimTable claims_;
  HomeBlobs blobs_{.has = [](const Hash256&) { return true; }, .put = {}, .adopt = {}};
  TaskFiles files_{{{}, manifest_, claims_, blobs_}};
  TaskFlow flow_{manifest_, tasks_, files_};
  Actions out_;
};

TEST_F(Flow, ReleasesAStageWhenAllBeforeItHaveEnded) {
  begin();
  EXPECT_EQ(lease(), List{0});
  EXPECT_FALSE(flow_.take_released());
  end(0);
  EXPECT_TRUE(flow_.take_released());
  EXPECT_EQ(lease(), (List{1, 2, 3, 4}));
  end(4);
  end(2);
  end(1);
  EXPECT_EQ(lease(), List{});
  EXPECT_EQ(flow_.why_held(5), Explanation(Reason::tasks_before, "it waits for left (1 of 3 tasks)"));
  end(3);
  EXPECT_EQ(lease(), List{5});
  end(5);
  EXPECT_EQ(tasks_.unfinished(), 0u);
}

TEST_F(Flow, SkipsWhatIsBehindAFailedTaskAndSaysWhy) {
  begin();
  lease();
  end(0);
  lease();
  fail(2);
  EXPECT_EQ(tasks_.skipped(), 1u);
  end(1);
  end(3);
  end(4);
  EXPECT_EQ(lease(), List{});
  EXPECT_EQ(tasks_.unfinished(), 0u);
  flow_.tell_skipped({}, out_);
  flow_.tell_skipped({}, out_);
  ASSERT_EQ(out_.later.size(), 1u);
  const auto& told = std::get<TasksSkipped>(std::get<Notify>(out_.later[0]).event);
  EXPECT_EQ(told.tasks, (std::vector<TaskSpan>{{5, 1}}));
  EXPECT_EQ(told.sentence, "skipped because task left[1] failed");
}

TEST_F(Flow, SkipsAllDescendantsAtOnce) {
  begin();
  lease();
  fail(0);
  EXPECT_EQ(tasks_.skipped(), 5u);
  EXPECT_EQ(tasks_.unfinished(), 0u);
}

TEST_F(Flow, FollowsFromTheResultsAfterARestart) {
  tasks_.recover(0);
  tasks_.end(0);
  tasks_.recover(1);
  tasks_.fail(1, {});
  begin();
  EXPECT_EQ(lease(), (List{2, 3, 4}));
  EXPECT_EQ(tasks_.skipped(), 1u);
}

class FlowOfFiles : public Flow {
 protected:
  FlowOfFiles() : Flow({{"a", 1, {}, true}, {"b", 2, {0}}}) {}
};

TEST_F(FlowOfFiles, ReleasesTheRestOfAStageAfterARestartAlsoIfATaskOfItHasFailed) {
  tasks_.recover(0);
  tasks_.end(0);
  tasks_.recover(2);
  tasks_.fail(2, {});
  begin();
  EXPECT_EQ(lease(), List{}) << "the files of task 0 are not ready";
  flow_.list_files(out_);
  EXPECT_EQ(lease(), List{1});
}

TEST_F(Flow, CountsATaskThatIsAThread) {
  tasks_.recover(0);
  tasks_.promote(0);
  threads_.add(manifest_.thread_of(0)).task = 0;
  begin();
  EXPECT_EQ(lease(), List{});
  threads_.end(manifest_.thread_of(0), {});
  flow_.on_over(0, TaskFlow::End::well, out_);
  EXPECT_EQ(lease(), (List{1, 2, 3, 4}));
}

class FlowOfSome : public Flow {
 protected:
  FlowOfSome() { tasks_ = TaskTable(6, {{2, 1}, {5, 1}}); }
};

TEST_F(FlowOfSome, TakesTasksThatTheJobDoesNotHaveForOver) {
  begin();
  EXPECT_EQ(lease(), List{2});
  end(2);
  EXPECT_EQ(lease(), List{5});
}

}  // namespace
}  // namespace gw::job
