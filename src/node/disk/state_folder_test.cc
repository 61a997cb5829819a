#include "node/disk/state_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;

TEST(StateFolder, HasOneDaemonAtATime) {
  const os::TempDir place = os::TempDir::make().value();
  const fs::path folder = place.path() / "deep" / "state";
  {
    const auto first = StateFolder::open(folder);
    ASSERT_TRUE(first) << first.error().detail;
    const auto second = StateFolder::open(folder);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, Kind::overloaded);
    EXPECT_NE(second.error().detail.find(std::to_string(::getpid())), std::string::npos) << second.error().detail;
    EXPECT_TRUE(StateFolder::in_use(folder));
  }
  EXPECT_FALSE(StateFolder::in_use(folder));
  EXPECT_FALSE(StateFolder::in_use(place.path() / "none"));
  EXPECT_TRUE(StateFolder::open(folder));
}

TEST(StateFolder, IsForItsUserAlone) {
  const os::TempDir place = os::TempDir::make().value();
  const fs::path folder = place.path() / "state";
  ASSERT_TRUE(StateFolder::open(folder));
  fs::permissions(folder, fs::perms::others_read, fs::perm_options::add);
  EXPECT_EQ(StateFolder::open(folder).error().kind, Kind::invalid);
  const fs::path file = place.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_EQ(StateFolder::open(file).error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::node
