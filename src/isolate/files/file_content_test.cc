#include "isolate/files/file_content.h"

#include <gtest/gtest.h>

namespace gw::isolate {
namespace {

std::string text(const FileContent& content, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size, 0xee);
  bytes.resize(content.read(offset, bytes));
  return std::string(as_text(bytes));
}

TEST(FileContent, ReadsWhatWasWrittenAndZerosBetween) {
  FileContent content;
  content.write(wire::kPageBytes - 2, as_bytes("abcd"));
  EXPECT_EQ(content.size(), wire::kPageBytes + 2);
  EXPECT_EQ(text(content, wire::kPageBytes - 3, 100), std::string("\0abcd", 5));
  content.write(5 * wire::kPageBytes, as_bytes("z"));
  EXPECT_EQ(content.slots().size(), 6u);
  EXPECT_FALSE(content.slots()[3].page);
  EXPECT_EQ(text(content, 5 * wire::kPageBytes - 1, 9), std::string("\0z", 2));
  EXPECT_EQ(text(content, content.size(), 9), "");
}

TEST(FileContent, ForgetsWhatWasCutOff) {
  FileContent content;
  content.write(0, as_bytes("secret"));
  content.resize(2);
  content.resize(6);
  EXPECT_EQ(text(content, 0, 10), std::string("se\0\0\0\0", 6));
  content.resize(0);
  EXPECT_TRUE(content.slots().empty());
}

TEST(FileContent, SharesPagesUntilOneIsWritten) {
  FileContent content;
  content.write(0, as_bytes("one"));
  content.write(wire::kPageBytes, as_bytes("two"));
  FileContent copy = content;
  copy.write(wire::kPageBytes, as_bytes("TWO"));
  EXPECT_EQ(content.slots()[0].page, copy.slots()[0].page);
  EXPECT_NE(content.slots()[1].page, copy.slots()[1].page);
  EXPECT_EQ(text(content, wire::kPageBytes, 3), "two");
  EXPECT_EQ(text(copy, wire::kPageBytes, 3), "TWO");
  copy.resize(1);
  EXPECT_EQ(text(content, 0, 3), "one");
}

TEST(FileContent, ForgetsTheHashOfAPageThatChanges) {
  FileContent content;
  content.write(0, as_bytes("x"));
  content.slots()[0].hash = Hash256{};
  content.write(1, as_bytes("y"));
  EXPECT_FALSE(content.slots()[0].hash);
}

}  // namespace
}  // namespace gw::isolate
