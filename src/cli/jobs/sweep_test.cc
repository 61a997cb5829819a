#include "cli/jobs/sweep.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/hash.h"
#include "job/authority/manifest.h"
#include "os/files/file.h"
#include "wire/messages/worker_frames.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    fs::create_directories(folder.path() / "in");
    for (const char* name : {"a", "b", "c"}) std::ofstream(folder.path() / "in" / name) << "content of " << name;
  }
  std::string at(const std::string& name) const { return (folder.path() / name).string(); }
  // The rows of all segments.
  static std::vector<wire::pb::TaskRow> rows_of(const Sweep& sweep) {
    std::vector<wire::pb::TaskRow> rows;
    for (int i = 0; i < sweep.array().segments_size(); ++i) {
      const std::string& bytes = sweep.segments()[static_cast<std::size_t>(i)];
      EXPECT_EQ(sweep.array().segments(i).hash(), wire::bytes_of(sha256(as_bytes(bytes))));
      const auto decoded = wire::decode_task_rows(as_bytes(bytes), sweep.array().segments(i).rows());
      EXPECT_TRUE(decoded);
      rows.insert(rows.end(), decoded->rows().begin(), decoded->rows().end());
    }
    return rows;
  }
  static TaskList values(const std::vector<std::string>& list) {
    TaskList tasks{.count = static_cast<std::uint32_t>(list.size())};
    for (const std::string& value : list) tasks.rows.push_back({value});
    return tasks;
  }

  const os::TempDir folder = os::TempDir::make().value();
  node::InputFiles inputs;
};

TEST_F(SweepTest, NumbersNeedNoRows) {
  const Sweep sweep = Sweep::make({.count = 1'000'000, .first = 1, .step = 2}, {.args = {"{}"}}, inputs).value();
  EXPECT_TRUE(sweep.segments().empty());
  EXPECT_EQ(sweep.array().count(), 1'000'000u);
  EXPECT_FALSE(sweep.array().values().has_rows());
}

TEST_F(SweepTest, APatternOfATaskStandsForTheFilesThatMatch) {
  fs::create_directories(folder.path() / "b");
  for (const char* name : {"b/2", "b/1"}) std::ofstream(folder.path() / name) << name;
  const Sweep sweep = Sweep::make(values({"b"}), {.inputs = {at("{}/*") + ":data"}}, inputs).value();
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows[0].inputs_size(), 2);
  EXPECT_EQ(rows[0].inputs(0).path(), "data/1");
  EXPECT_EQ(rows[0].inputs(1).path(), "data/2");
  EXPECT_FALSE(Sweep::make(values({"b"}), {.inputs = {at("{}/*.png")}}, inputs)) << "no file matches";
}

TEST_F(SweepTest, EachTaskHasItsFileAndStandardInput) {
  const Sweep sweep =
      Sweep::make(values({"a", "b"}), {.inputs = {at("in/{}") + ":data/{}.txt", at("in/c")}, .standard_input = at("in/{}")}, inputs)
          .value();
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[1].inputs_size(), 1) << "the input without a placeholder is common";
  EXPECT_EQ(rows[1].inputs(0).path(), "data/b.txt");
  EXPECT_EQ(rows[1].inputs(0).chunks(0), wire::bytes_of(sha256(as_bytes("content of b"))));
  EXPECT_EQ(rows[1].standard_input().size(), std::string("content of b").size());
  EXPECT_EQ(rows[0].values_size(), 0) << "no argument uses the value";
  EXPECT_EQ(Sweep::common_inputs({at("in/{}"), at("in/c")}), std::vector<std::string>{at("in/c")});
  EXPECT_EQ(inputs.chunks().size(), 2u);
  EXPECT_TRUE(inputs.entries().empty());
}

TEST_F(SweepTest, RowsHaveTheColumnsThatAreUsed) {
  TaskList tasks{.count = 1, .columns = {"", "x", "y"}};
  tasks.rows = {{"all", "1", "2"}};
  const Sweep sweep = Sweep::make(std::move(tasks), {.outputs = {"out/{#}.txt"}, .args = {"{y}"}}, inputs).value();
  EXPECT_EQ(sweep.array().values().columns_size(), 1);
  EXPECT_EQ(rows_of(sweep).at(0).values(0), "2");
  EXPECT_EQ(sweep.array().values().outputs(0), "out/{#}.txt");
}

TEST_F(SweepTest, ManyRowsAreCutIntoSegments) {
  std::vector<std::string> many;
  for (int i = 0; i < 3000; ++i) many.push_back(std::string(1000, 'x') + std::to_string(i));
  const Sweep sweep = Sweep::make(values(many), {.args = {"{}"}}, inputs).value();
  EXPECT_EQ(sweep.segments().size(), 3u);
  for (const std::string& segment : sweep.segments()) EXPECT_LE(segment.size(), wire::kMaxRowSegmentBytes);
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), 3000u);
  EXPECT_EQ(rows[2999].values(0), many[2999]);
}

TEST_F(SweepTest, PlacesOfOutputsFollowFromTheValues) {
  const Sweep sweep = Sweep::make(values({"in/a.png", "b.png"}), {.outputs = {at("{/.}.txt") + ":out/{//}/{/.}"}}, inputs).value();
  const auto mounts = sweep.outputs().of(sweep.tasks(), 0).value();
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].host, at("a.txt"));
  EXPECT_EQ(mounts[0].guest, "out/in/a");
  EXPECT_EQ(sweep.outputs().of(sweep.tasks(), 1)->at(0).guest, "out/b");
}

TEST_F(SweepTest, TasksThatWouldWriteTheSameFileAreRefused) {
  const auto refusal = [&](const TaskList& tasks, const std::string& output) {
    const auto made = Sweep::make(tasks, {.outputs = {output}}, inputs);
    return made ? "" : made.error().detail;
  };
  EXPECT_NE(refusal(values({"a", "b"}), "out.txt").find("tasks 0 and 1 would both write out.txt"), std::string::npos);
  EXPECT_NE(refusal(values({"x/a.png", "c", "y/a.jpg"}), "{/.}").find("tasks 0 and 2"), std::string::npos);
  EXPECT_NE(refusal(values({"a", "a/b"}), "{}").find("tasks 0 and 1"), std::string::npos) << "one inside the other";
  EXPECT_EQ(refusal(values({"a", "ab"}), "{}"), "");
  EXPECT_NE(refusal(values({"../a"}), "{}").find("HOST:GUEST"), std::string::npos);
  EXPECT_NE(refusal(values({"a"}), "{key}").find("--output"), std::string::npos);
}

TEST_F(SweepTest, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(Sweep::make(values({"a", "z"}), {.inputs = {at("in/{}")}}, inputs).error().kind, Kind::not_found);
  EXPECT_FALSE(Sweep::make(values({"a"}), {.standard_input = at("in")}, inputs));
}

}  // namespace
}  // namespace gw::cli
