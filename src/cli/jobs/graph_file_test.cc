#include "cli/jobs/graph_file.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

GraphFile parse(const std::string& text) {
  auto parsed = parse_graph(text, "flow.toml");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().detail);
  return parsed ? *std::move(parsed) : GraphFile();
}

std::string complaint(const std::string& text) {
  const auto parsed = parse_graph(text, "flow.toml");
  return parsed ? "" : parsed.error().detail;
}

TEST(GraphFile, PutsStagesInOrderAndLinksTheirFiles) {
  const GraphFile file = parse(R"(
[[task]]
name = "report"
args = ["report", 7]
inputs = ["fit-*.txt", "style.css"]
outputs = ["report.txt"]

[[task]]
name = "fit"
each = ["lin", "log"]
args = ["{}", "{#}"]
stdin = "clean/rows.csv"
inputs = ["clean/rows.csv:data"]
outputs = ["fit-{}.txt"]

[[task]]
name = "clean"
env = ["MODE=fast"]
inputs = ["raw.csv"]
outputs = ["clean/"]
)");
  ASSERT_EQ(file.tasks.size(), 4u);
  EXPECT_EQ(file.graph.names(0), "clean");
  EXPECT_EQ(file.graph.names(1), "fit");
  EXPECT_EQ(file.graph.names(2), "report");
  EXPECT_EQ(file.graph.counts(1), 2u);
  EXPECT_EQ(file.graph.before_size(), 2);
  EXPECT_TRUE(file.graph.files_are_read(0));
  EXPECT_FALSE(file.graph.files_are_read(2));
  const GraphTask& fit = file.tasks[2];
  EXPECT_EQ(fit.args, (std::vector<std::string>{"log", "1"}));
  EXPECT_EQ(fit.outputs[0].guest, "fit-log.txt");
  ASSERT_EQ(fit.files_from.size(), 1u);
  EXPECT_EQ(fit.files_from[0].task(), 0u);
  EXPECT_EQ(fit.files_from[0].output(), "clean/rows.csv");
  EXPECT_EQ(fit.files_from[0].path(), "data");
  ASSERT_TRUE(fit.standard_input_from);
  EXPECT_TRUE(fit.inputs.empty());
  const GraphTask& report = file.tasks[3];
  EXPECT_EQ(report.args[1], "7");
  ASSERT_EQ(report.files_from.size(), 2u);
  EXPECT_EQ(report.files_from[1].task(), 2u);
  EXPECT_EQ(report.files_from[1].path(), "fit-log.txt");
  ASSERT_EQ(report.inputs.size(), 1u);
  EXPECT_EQ(report.inputs[0].host, "style.css");
}

TEST(GraphFile, KeepsTheOrderOfTheFileWhereItIsFree) {
  const GraphFile file = parse("[[task]]\nname='b'\n[[task]]\nname='a'\nafter=['b']\n[[task]]\nname='c'\n");
  EXPECT_EQ(file.graph.names(0), "b");
  EXPECT_EQ(file.graph.names(1), "a");
  EXPECT_EQ(file.graph.names(2), "c");
}

TEST(GraphFile, NamesACircle) {
  EXPECT_EQ(
      complaint("[[task]]\nname='a'\nafter=['c']\n[[task]]\nname='b'\nafter=['a']\n[[task]]\nname='c'\nafter=['b']\n[[task]]\nname='d'\n"
                "after=['c']\n"),
      "flow.toml, line 1: the tasks follow each other in a circle: 'a' after 'c' after 'b' after 'a'");
  EXPECT_EQ(complaint("[[task]]\nname='a'\nafter=['a']\n"), "flow.toml, line 1: task 'a' comes after itself");
}

TEST(GraphFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint("[[task]]\nname='fit'\n[[task]]\nname='b'\nafter=['fat']\n"),
            "flow.toml, line 3: task 'b' comes after 'fat', and there is no such task: did you mean 'fit'?");
  EXPECT_EQ(complaint("[[task]]\nname='a'\n[[task]]\nname='a'\n"), "flow.toml, line 3: two tasks are called 'a': the first is in line 1");
  EXPECT_EQ(complaint("[[task]]\nname='a'\nargz=[]\n"), "flow.toml, line 3: there is no 'argz' for a task: did you mean 'args'?");
  EXPECT_EQ(complaint("[[task]]\nargs=[]\n"), "flow.toml, line 1: a task has no name: write name = \"...\"");
  EXPECT_EQ(complaint("[[task]]\nname='a b'\n"),
            "flow.toml, line 2: 'a b' is not a name for a task: use 1 to 64 letters, digits, '.', '-' and '_'");
  EXPECT_EQ(complaint("[[task]]\nname='a'\nargs='x'\n"), "flow.toml, line 3: 'args' is a list, as in args = [\"...\"]");
  EXPECT_EQ(complaint("[task]\nname='a'\n"), "flow.toml, line 1: 'task' is not known here: a file of tasks has tables [[task]]");
  EXPECT_EQ(complaint(""), "flow.toml has no tasks: write a table [[task]] with a name for each");
  EXPECT_TRUE(complaint("[[task]\n").starts_with("flow.toml, line 1: "));
  EXPECT_EQ(complaint("[[task]]\nname='a'\ntasks=0\n"), "flow.toml, line 3: 'tasks' is a number from 1 to 1048576");
  EXPECT_EQ(complaint("[[task]]\nname='a'\nenv=['X']\n"), "flow.toml, line 1: 'X' of task 'a' is no variable: write NAME=VALUE");
}

TEST(GraphFile, RefusesTwoWritersOfAFile) {
  EXPECT_EQ(complaint("[[task]]\nname='a'\noutputs=['x/y']\n[[task]]\nname='b'\noutputs=['x//y']\n"),
            "flow.toml, line 4: 'b' and 'a' (line 1) both write 'x/y'");
  EXPECT_EQ(complaint("[[task]]\nname='a'\noutputs=['x/']\n[[task]]\nname='b'\noutputs=['x/y']\n"),
            "flow.toml, line 4: 'b' writes 'x/y', which is in 'x/', an output of 'a' (line 1)");
  EXPECT_EQ(complaint("[[task]]\nname='a'\ntasks=2\noutputs=['x']\n"),
            "flow.toml, line 1: two tasks of 'a' write 'x': put {#} or {} into its name");
  EXPECT_EQ(complaint("[[task]]\nname='a'\ninputs=['x']\noutputs=['x']\n"),
            "flow.toml, line 1: task 'a' reads 'x', which it writes itself");
}

}  // namespace
}  // namespace gw::cli
