#include "node/embedded/input_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

class InputSourceTest : public testing::Test {
 protected:
  InputSourceTest() { GW_ASSERT(os::write_file_atomic(file_, as_bytes(std::string_view("0123456789")), os::Durability::unflushed)); }

  os::TempDir folder_ = os::TempDir::make().value();
  const std::filesystem::path file_ = folder_.path() / "input";
};

TEST_F(InputSourceTest, AFileGoesOnWhereTheProgramHasGotTo) {
  InputSource source(-1);
  ASSERT_TRUE(source.open(file_, 7));
  EXPECT_EQ(source.read(2).value(), "78");
  EXPECT_EQ(source.read(64).value(), "9");
  EXPECT_EQ(source.read(64).value(), "");
}

TEST_F(InputSourceTest, WhatAFileGaveCanBePutBack) {
  InputSource source(-1);
  ASSERT_TRUE(source.open(file_, 0));
  EXPECT_EQ(source.read(4).value(), "0123");
  EXPECT_TRUE(source.put_back(2));
  EXPECT_EQ(source.read(4).value(), "2345");
}

TEST_F(InputSourceTest, WhatAPipeGaveCannotBePutBack) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const os::UniqueFd read_end(ends[0]), write_end(ends[1]);
  InputSource source(read_end.get());
  EXPECT_EQ(source.read(4).error().kind, Kind::timeout);
  ASSERT_EQ(::write(write_end.get(), "ab", 2), 2);
  EXPECT_EQ(source.read(4).value(), "ab");
  EXPECT_FALSE(source.put_back(2));
}

TEST_F(InputSourceTest, AFileThatIsGoneIsNamed) {
  InputSource source(-1);
  const Status opened = source.open(folder_.path() / "gone", 0);
  EXPECT_EQ(opened.error().kind, Kind::not_found);
  EXPECT_NE(opened.error().detail.find("gone"), std::string::npos);
}

}  // namespace
}  // namespace gw::node
