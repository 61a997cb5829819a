#include "os/files/new_file.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::os {
namespace {

TEST(LinkNewFile, TheFirstFileGetsTheNameAndStays) {
  const TempDir folder = TempDir::make().value();
  const auto first = folder.path() / "first", second = folder.path() / "second", name = folder.path() / "name";
  ASSERT_TRUE(write_file_atomic(first, as_bytes("1")));
  ASSERT_TRUE(write_file_atomic(second, as_bytes("2")));
  EXPECT_EQ(link_new_file(first, name).value(), Linked::created);
  EXPECT_EQ(link_new_file(second, name).value(), Linked::was_there);
  EXPECT_EQ(as_text(read_file(name, 10).value()), "1");
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(second));
}

TEST(LinkNewFile, SaysWhatCannotBeCreated) {
  const TempDir folder = TempDir::make().value();
  const auto file = folder.path() / "file", nowhere = folder.path() / "no" / "name";
  ASSERT_TRUE(write_file_atomic(file, as_bytes("1")));
  const auto linked = link_new_file(file, nowhere);
  ASSERT_FALSE(linked);
  EXPECT_NE(linked.error().detail.find("cannot create " + nowhere.string()), std::string::npos) << linked.error().detail;
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace gw::os
