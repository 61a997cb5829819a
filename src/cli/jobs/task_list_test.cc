#include "cli/jobs/task_list.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/files/file.h"

namespace gw::cli {
namespace {

using Row = std::vector<std::string>;

TEST(TaskList, NumbersAreWrittenAsSlurmWritesThem) {
  const TaskList plain = numbered_tasks("5").value();
  EXPECT_EQ(plain.count, 5u);
  EXPECT_EQ(plain.values_of(4), Row{"4"});
  const TaskList steps = numbered_tasks("1-1000:2%8").value();
  EXPECT_EQ(steps.count, 500u);
  EXPECT_EQ(steps.values_of(0), Row{"1"});
  EXPECT_EQ(steps.values_of(499), Row{"999"});
  EXPECT_EQ(steps.at_once, 8u);
  EXPECT_EQ(numbered_tasks("7-7").value().count, 1u);
  EXPECT_EQ(numbered_tasks("10%3").value().at_once, 3u);
  for (const char* wrong : {"", "0", "a", "5-3", "1-5:0", "1-5:", "5%0", "5%", "5x", "-1", "1-9999999999999", "99999999"})
    EXPECT_FALSE(numbered_tasks(wrong)) << wrong;
}

TEST(TaskList, LinesAreValues) {
  const TaskList list = tasks_of_lines("one\ntwo words\r\n\nlast", "list").value();
  EXPECT_EQ(list.rows, (std::vector<Row>{{"one"}, {"two words"}, {""}, {"last"}}));
  EXPECT_EQ(tasks_of_lines("a\n", "list").value().count, 1u);
  EXPECT_FALSE(tasks_of_lines("", "list"));
  EXPECT_FALSE(tasks_of_lines(std::string(kMaxValueBytes + 1, 'x'), "list"));
  EXPECT_FALSE(tasks_of_lines(std::string_view("a\0b", 3), "list"));
}

TEST(TaskList, FilesMatchPatternsAndAreInputs) {
  const os::TempDir folder = os::TempDir::make().value();
  for (const char* name : {"b.png", "a.png", "c.txt"}) std::ofstream(folder.path() / name) << name;
  const TaskList list = tasks_of_files({(folder.path() / "*.png").string(), (folder.path() / "c.txt").string()}).value();
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  EXPECT_EQ(list.rows, (std::vector<Row>{{at("a.png")}, {at("b.png")}, {at("c.txt")}}));
  EXPECT_EQ(list.files, (Row{at("a.png"), at("b.png"), at("c.txt")}));
  EXPECT_EQ(tasks_of_files({at("*.gif")}).error().kind, Kind::not_found);
}

TEST(TaskList, ObjectsOfJsonHaveAColumnForEachKey) {
  const TaskList list = tasks_of_json(R"([{"n": 1, "name": "a b"}, {"name": "c", "n": 2.5, "more": true}])", "list").value();
  EXPECT_EQ(list.columns, (Row{"", "n", "name"}));
  EXPECT_EQ(list.rows[0], (Row{R"({"n":1,"name":"a b"})", "1", "a b"}));
  EXPECT_EQ(list.rows[1][1], "2.5");
  EXPECT_EQ(tasks_of_json(R"([1, "two", null, [3]])", "list").value().rows, (std::vector<Row>{{"1"}, {"two"}, {""}, {"[3]"}}));
  EXPECT_NE(tasks_of_json(R"([{"n": 1}, {"m": 2}])", "list").error().detail.find("item 1 has no 'n'"), std::string::npos);
  for (const char* wrong : {"", "{}", "[]", "[1,", R"([{"n": 1}, 2])"}) EXPECT_FALSE(tasks_of_json(wrong, "list")) << wrong;
}

TEST(TaskList, SeveralListsAreCombinedAsInGnuParallel) {
  const TaskList list = tasks_of_lists({{"a", "b"}, {"1", "2"}}).value();
  EXPECT_EQ(list.columns, (Row{"", "1", "2"}));
  EXPECT_EQ(list.rows, (std::vector<Row>{{"a 1", "a", "1"}, {"a 2", "a", "2"}, {"b 1", "b", "1"}, {"b 2", "b", "2"}}));
  EXPECT_FALSE(tasks_of_lists({{"a"}, {}}));
}

}  // namespace
}  // namespace gw::cli
