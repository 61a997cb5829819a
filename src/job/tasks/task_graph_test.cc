#include "job/tasks/task_graph.h"

#include <gtest/gtest.h>

#include "job/test/graphs.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

using test::diamond;
using test::graph_of;

std::vector<std::uint32_t> list(std::span<const std::uint32_t> stages) { return {stages.begin(), stages.end()}; }

TEST(TaskGraph, KnowsStagesTasksAndTheirOrder) {
  const TaskGraph graph = TaskGraph::make(graph_of(diamond()), 6).value();
  EXPECT_EQ(graph.stages(), 4u);
  EXPECT_EQ(graph.tasks_of(1), (TaskSpan{1, 3}));
  EXPECT_EQ(graph.stage_of(0), 0u);
  EXPECT_EQ(graph.stage_of(3), 1u);
  EXPECT_EQ(graph.stage_of(5), 3u);
  EXPECT_EQ(list(graph.before(3)), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(list(graph.behind(0)), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(graph.behind(3).empty());
  EXPECT_EQ(graph.name_of_task(2), "left[1]");
  EXPECT_EQ(graph.name_of_task(5), "report");
}

TEST(TaskGraph, NamesTheFailedTaskBehindEachSkippedStage) {
  const TaskGraph graph = TaskGraph::make(graph_of({{"a"}, {"b", 1, {0}}, {"c", 1, {1}}, {"d"}}), 4).value();
  TaskSet failed;
  EXPECT_EQ(graph.causes(failed), std::vector<std::uint32_t>(4, TaskGraph::kNone));
  failed.add(0);
  EXPECT_EQ(graph.causes(failed), (std::vector<std::uint32_t>{TaskGraph::kNone, 0, 0, TaskGraph::kNone}));
}

TEST(TaskGraph, RefusesWhatIsNoGraphOfTheArray) {
  EXPECT_FALSE(TaskGraph::make(graph_of(diamond()), 7));                         // a task in no stage
  EXPECT_FALSE(TaskGraph::make(graph_of(diamond()), 5));                         // tasks beyond the array
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a", 1, {0}}}), 1));                   // before itself
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a", 1, {1}}, {"b"}}), 2));            // a later one before an earlier one
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a"}, {"b"}, {"c", 1, {1, 0}}}), 3));  // not ascending
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a"}, {"b", 1, {0, 0}}}), 2));         // twice
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a b"}}), 1));                         // no name
  EXPECT_FALSE(TaskGraph::make(graph_of({{"a", 0}, {"b"}}), 1));                 // a stage without tasks
  EXPECT_FALSE(TaskGraph::make({}, 1));
  auto short_columns = graph_of(diamond());
  short_columns.mutable_before_counts()->RemoveLast();
  EXPECT_FALSE(TaskGraph::make(short_columns, 6));
  auto too_few = graph_of(diamond());
  too_few.mutable_before()->RemoveLast();
  EXPECT_FALSE(TaskGraph::make(too_few, 6));
  auto too_many = graph_of(diamond());
  too_many.add_before(2);
  EXPECT_FALSE(TaskGraph::make(too_many, 6));
  auto overflow = graph_of({{"a"}, {"b"}});
  overflow.set_counts(0, ~std::uint32_t{0});
  EXPECT_FALSE(TaskGraph::make(overflow, 2));
}

TEST(TaskGraph, KnowsWhatANameMayBe) {
  EXPECT_TRUE(is_stage_name("fit-2.x_y"));
  for (const char* bad : {"", "a b", "a/b", "a[0]", "ü"}) EXPECT_FALSE(is_stage_name(bad)) << bad;
  EXPECT_FALSE(is_stage_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace gw::job
