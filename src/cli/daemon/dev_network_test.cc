#include "cli/daemon/dev_network.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::cli {
namespace {

Result<std::vector<std::string>> links_in(std::string_view text) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "links";
  EXPECT_TRUE(os::write_file_atomic(file, as_bytes(text), os::Durability::unflushed));
  return read_links(file, 3);
}

TEST(DevNetwork, ReadsDistances) {
  const auto links = links_in("# from to\n1 2 40\n\n* 3 80.5 10 0.01  # far\n");
  ASSERT_TRUE(links) << links.error().detail;
  EXPECT_EQ(*links, (std::vector<std::string>{"1 2 40 0 0", "* 3 80.5 10 0.01"}));
}

TEST(DevNetwork, SaysWhichLineIsWrong) {
  for (const char* text : {"1 2\n", "1 4 10\n", "0 1 10\n", "1 2 x\n", "1 2 3 4 5 6\n", "1 2 10ms\n"}) {
    const auto links = links_in(std::string("1 2 1\n") + text);
    ASSERT_FALSE(links) << text;
    EXPECT_NE(links.error().detail.find("line 2"), std::string::npos) << links.error().detail;
  }
}

}  // namespace
}  // namespace gw::cli
