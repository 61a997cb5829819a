#include "node/jobs/task_output_files.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;

wire::pb::Effect::OutputFile piece_of(std::uint64_t thread, const std::string& path, const std::string& bytes, std::uint64_t offset = 0,
                                      bool last = true) {
  wire::pb::Effect::OutputFile piece;
  piece.set_thread(thread);
  piece.set_path(path);
  piece.set_bytes(bytes);
  piece.set_offset(offset);
  piece.set_last(last);
  return piece;
}

class TaskOutputs : public ::testing::Test {
 protected:
  std::string read(const std::string& name) const {
    const auto bytes = os::read_file(folder.path() / name, 1u << 20);
    return bytes ? std::string(as_text(*bytes)) : "(none)";
  }

  const os::TempDir folder = os::TempDir::make().value();
  TaskOutputFiles files{[this](std::uint64_t thread) -> Result<std::vector<Mount>> {
    if (thread > 9) return fail(Kind::invalid, "there is no such task");
    const std::string name = fmt::format("new/{}.txt", thread);
    return std::vector<Mount>{{folder.path() / name, name}};
  }};
};

TEST_F(TaskOutputs, AreInPlaceAsSoonAsTheyAreWhole) {
  files.take(piece_of(2, "new/2.txt", "ab", 0, false));
  EXPECT_EQ(read("new/2.txt"), "(none)");
  files.take(piece_of(3, "new/3.txt", "other"));
  EXPECT_EQ(read("new/3.txt"), "other");
  files.take(piece_of(2, "new/2.txt", "cd", 2));
  EXPECT_EQ(read("new/2.txt"), "abcd");
  files.finish();
  EXPECT_TRUE(files.failures().empty());
  EXPECT_EQ(files.placed(), 2u);
}

TEST_F(TaskOutputs, ATaskThatNamesTheFileOfAnotherSpoilsOnlyItself) {
  files.take(piece_of(2, "new/3.txt", "forged"));
  files.take(piece_of(2, "new/2.txt", "late"));
  files.take(piece_of(77, "new/3.txt", "forged"));
  files.take(piece_of(3, "new/3.txt", "right"));
  EXPECT_EQ(read("new/3.txt"), "right");
  EXPECT_EQ(read("new/2.txt"), "(none)");
  EXPECT_EQ(files.failures().size(), 2u);
}

TEST_F(TaskOutputs, WhatIsNotWholeIsNotThere) {
  files.take(piece_of(2, "new/2.txt", "ab", 0, false));
  files.finish();
  EXPECT_EQ(files.failures().size(), 1u);
  EXPECT_TRUE(fs::is_empty(folder.path() / "new"));
}

}  // namespace
}  // namespace gw::node
