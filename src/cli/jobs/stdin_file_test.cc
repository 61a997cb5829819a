#include "cli/jobs/stdin_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::cli {
namespace stdin_file_test {

TEST(StdinFile, IsUploadedWithTheInputsAndIsNoFileOfTheProgram) {
  const os::TempDir folder = os::TempDir::make().value();
  const std::string file = (folder.path() / "lines").string();
  std::ofstream(file) << "one\ntwo\n";
  node::InputFiles inputs;
  const auto entry = add_stdin_file(file, inputs);
  ASSERT_TRUE(entry) << entry.error().detail;
  EXPECT_EQ(entry->size(), 8u);
  EXPECT_EQ(inputs.chunks().size(), 1u);
  EXPECT_TRUE(inputs.entries().empty());
}

TEST(StdinFile, IsNoFolderAndNoFileThatIsMissing) {
  const os::TempDir folder = os::TempDir::make().value();
  node::InputFiles inputs;
  EXPECT_EQ(add_stdin_file(folder.path().string(), inputs).error().detail, "--stdin " + folder.path().string() + " is not a file");
  EXPECT_FALSE(add_stdin_file((folder.path() / "missing").string(), inputs));
}

}  // namespace stdin_file_test
}  // namespace gw::cli
