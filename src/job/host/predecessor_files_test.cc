#include "job/host/predecessor_files.h"

#include <gtest/gtest.h>

#include "job/tasks/file_list.h"
#include "wire/messages/worker_frames.h"
#include "wire/names.h"

namespace gw::job {
namespace {

wire::pb::FromTask from(std::uint32_t task, const std::string& output, const std::string& path) {
  wire::pb::FromTask from;
  from.set_task(task);
  from.set_output(output);
  from.set_path(path);
  return from;
}

wire::pb::TaskRow row_of(const std::vector<wire::pb::FromTask>& list) {
  wire::pb::TaskRow row;
  row.add_args("an argument");
  for (const wire::pb::FromTask& one : list) *row.add_files_from() = one;
  return row;
}

std::string list_of(const std::vector<std::string>& paths) {
  wire::pb::TaskFileList list;
  for (const std::string& path : paths) list.add_entries()->set_path(path);
  return list.SerializeAsString();
}

class FilesAtHost : public testing::Test {
 protected:
  void answer(std::uint32_t task, const std::string& list, bool not_over = false) {
    JobMessage::FilesAre message;
    JobMessage::FilesAre::Files& files = *message.add_files();
    files.set_task(task);
    files.set_not_over(not_over);
    if (!list.empty()) files.set_list(wire::bytes_of(sha256(as_bytes(list))));
    files_.on_answer(message);
  }
  void load(const std::string& list) { files_.on_list(sha256(as_bytes(list)), list); }

  Time now_{std::chrono::seconds(1)};
  PredecessorFiles files_{{.retry = std::chrono::milliseconds(800), .bytes = 1000}};
};

using Tasks = std::vector<std::uint32_t>;

TEST_F(FilesAtHost, AsksOnceThenAgainUntilItIsAnswered) {
  const wire::pb::TaskRow row = row_of({from(3, "a", "x"), from(3, "b", "y"), from(5, "c", "z")});
  EXPECT_EQ(files_.take_question(now_, row), (Tasks{3, 5}));
  EXPECT_EQ(files_.take_question(now_, row), Tasks{});
  EXPECT_EQ(files_.take_due(now_), Tasks{});
  answer(3, "");
  EXPECT_EQ(files_.take_due(now_ + std::chrono::seconds(1)), Tasks{5});
  answer(5, "");
  EXPECT_EQ(files_.next_due(), kNever);
}

TEST_F(FilesAtHost, MakesFilesOfOtherTasksInputs) {
  const wire::pb::TaskRow row = row_of({from(3, "out", "in/three"), from(5, "data", "data")});
  const std::string three = list_of({"out", "out/a", "log"}), five = list_of({"data"});
  files_.take_question(now_, row);
  EXPECT_FALSE(files_.make(row)->has_value());
  answer(3, three);
  answer(5, five);
  EXPECT_EQ(files_.missing(row).size(), 2u);
  load(three);
  EXPECT_EQ(files_.missing(row), std::vector{sha256(as_bytes(five))});
  EXPECT_FALSE(files_.make(row)->has_value());
  load(five);
  const wire::pb::TaskRow made = **files_.make(row);
  ASSERT_EQ(made.inputs_size(), 3);
  EXPECT_EQ(made.inputs(0).path(), "in/three");
  EXPECT_EQ(made.inputs(1).path(), "in/three/a");
  EXPECT_EQ(made.inputs(2).path(), "data");
  EXPECT_EQ(made.args(0), "an argument");
  EXPECT_FALSE(PredecessorFiles::concerns(made));
}

TEST_F(FilesAtHost, ReadsStandardInputFromAFile) {
  wire::pb::TaskRow row;
  *row.mutable_standard_input_from() = from(3, "out", "stdin");
  const std::string list = list_of({"out"});
  files_.take_question(now_, row);
  answer(3, list);
  EXPECT_FALSE(files_.missing(row).empty());
  load(list);
  EXPECT_TRUE((*files_.make(row))->has_standard_input());
}

TEST_F(FilesAtHost, SaysWhatATaskHasNotLeft) {
  const wire::pb::TaskRow row = row_of({from(3, "out", "x")});
  files_.take_question(now_, row);
  answer(3, "");
  const auto none = files_.make(row);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().detail, "task 3 has left no 'out', which it reads");
}

TEST_F(FilesAtHost, SaysThatATaskDoesNotComeBefore) {
  const wire::pb::TaskRow row = row_of({from(3, "out", "x")});
  files_.take_question(now_, row);
  answer(3, "", true);
  EXPECT_FALSE(files_.make(row));
}

TEST_F(FilesAtHost, IgnoresAnswersThatNobodyAskedFor) {
  answer(3, "", true);
  EXPECT_EQ(files_.take_question(now_, row_of({from(3, "out", "x")})), Tasks{3});
}

TEST_F(FilesAtHost, OldListsMakeRoomAndARowOfTooManyFails) {
  const std::string first = list_of({std::string(600, 'a')}), second = list_of({std::string(600, 'b')});
  const wire::pb::TaskRow one = row_of({from(1, std::string(600, 'a'), "x")}), two = row_of({from(2, std::string(600, 'b'), "x")});
  for (const auto* row : {&one, &two}) files_.take_question(now_, *row);
  answer(1, first);
  answer(2, second);
  EXPECT_EQ(files_.missing(one).size(), 1u);
  load(first);
  EXPECT_TRUE(files_.make(one)->has_value());
  EXPECT_EQ(files_.missing(two).size(), 1u);
  load(second);
  EXPECT_TRUE(files_.make(two)->has_value());
  EXPECT_EQ(files_.missing(one).size(), 1u) << "it has made room";
  wire::pb::TaskRow both = one;
  *both.add_files_from() = two.files_from(0);
  for (const Hash256& hash : files_.missing(both)) files_.on_list(hash, hash == sha256(as_bytes(first)) ? first : second);
  EXPECT_FALSE(files_.make(both));
}

TEST_F(FilesAtHost, AListThatCannotBeReadFailsTheTask) {
  const wire::pb::TaskRow row = row_of({from(3, "out", "x")});
  files_.take_question(now_, row);
  answer(3, "no list");
  EXPECT_FALSE(files_.missing(row).empty());
  load("no list");
  EXPECT_FALSE(files_.make(row));
}

}  // namespace
}  // namespace gw::job
