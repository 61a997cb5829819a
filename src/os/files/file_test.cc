#include "os/files/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

namespace gw::os {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir_.path()), {})); }

  TempDir dir_ = TempDir::make().value();
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  const fs::path path = dir_.path() / "a";
  Bytes content(300'000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i * 7);
  ASSERT_TRUE(write_file_atomic(path, content));
  EXPECT_EQ(read_file(path, content.size()).value(), content);
}

TEST_F(FileTest, ReadsTheHeadOfLongAndShortFiles) {
  const fs::path path = dir_.path() / "a";
  ASSERT_TRUE(write_file_atomic(path, as_bytes("godwit")));
  EXPECT_EQ(as_text(read_head(path, 3).value()), "god");
  EXPECT_EQ(as_text(read_head(path, 100).value()), "godwit");
  EXPECT_EQ(read_head(dir_.path() / "missing", 3).error().kind, Kind::not_found);
}

TEST_F(FileTest, ReplacesOldContentAndLeavesNoTemporaryFile) {
  const fs::path path = dir_.path() / "a";
  ASSERT_TRUE(write_file_atomic(path, as_bytes("old and longer")));
  ASSERT_TRUE(write_file_atomic(path, as_bytes("new")));
  EXPECT_EQ(as_text(read_file(path, 100).value()), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, HonoursTheUmask) {
  const fs::path path = dir_.path() / "a";
  const mode_t before = ::umask(022);
  ASSERT_TRUE(write_file_atomic(path, {}));
  ::umask(before);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0644});
}

TEST_F(FileTest, PrivateFileIsForItsUserAloneAndTheFirstOneStays) {
  const fs::path path = dir_.path() / "key";
  ASSERT_TRUE(create_private_file(path, as_bytes("first")));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(create_private_file(path, as_bytes("second")));
  EXPECT_EQ(as_text(read_file(path, 100).value()), "first");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, RefusesMoreThanTheLimit) {
  const fs::path path = dir_.path() / "a";
  ASSERT_TRUE(write_file_atomic(path, as_bytes("12345")));
  EXPECT_TRUE(read_file(path, 5));
  EXPECT_EQ(read_file(path, 4).error().kind, Kind::overloaded);
  EXPECT_EQ(read_file(path, 0).error().kind, Kind::overloaded);
}

TEST_F(FileTest, ReadsFilesWithoutASize) {
  EXPECT_EQ(read_file("/dev/zero", 3 << 20).error().kind, Kind::overloaded);
  EXPECT_GT(read_file("/proc/self/status", 1 << 20).value().size(), 0u);
}

TEST_F(FileTest, NamesTheReason) {
  EXPECT_EQ(read_file(dir_.path() / "nowhere", 10).error().kind, Kind::not_found);
  EXPECT_EQ(read_file(dir_.path(), 10).error().kind, Kind::invalid);
  EXPECT_EQ(write_file_atomic(dir_.path() / "nowhere" / "a", {}).error().kind, Kind::not_found);
}

TEST_F(FileTest, FailedReplacementLeavesNothingBehind) {
  ASSERT_TRUE(fs::create_directory(dir_.path() / "folder"));
  EXPECT_FALSE(write_file_atomic(dir_.path() / "folder", as_bytes("x")));
  EXPECT_EQ(entries(), 1u);
}

TEST(TempDirTest, GoesWithItsContent) {
  fs::path path;
  {
    TempDir dir = TempDir::make().value();
    TempDir moved = std::move(dir);
    path = moved.path();
    ASSERT_TRUE(write_file_atomic(path / "a", {}));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(CacheDirTest, FollowsTheEnvironment) {
  TempDir dir = TempDir::make().value();
  ::setenv("XDG_CACHE_HOME", dir.path().c_str(), 1);
  EXPECT_EQ(cache_dir().value(), dir.path() / "godwit");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", dir.path().c_str(), 1);
  EXPECT_EQ(cache_dir().value(), dir.path() / ".cache" / "godwit");
  ::unsetenv("HOME");
  EXPECT_EQ(cache_dir().error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::os
