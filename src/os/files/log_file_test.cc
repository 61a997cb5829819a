#include "os/files/log_file.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::os {
namespace {

std::string content(const std::filesystem::path& path) {
  const auto bytes = read_file(path, 1 << 20);
  return bytes ? std::string(as_text(*bytes)) : "-";
}

TEST(LogFile, GoesOnWhereItEndedAndKeepsTheLatestFew) {
  const TempDir folder = TempDir::make().value();
  const auto path = folder.path() / "log";
  for (int life = 0; life < 2; ++life) {
    LogFile log = LogFile::open(path, {.bytes = 10, .kept = 2}, LogFile::Errors::stay).value();
    for (const char* line : {"one\n", "two\n", "three\n"}) log.write(line);
  }
  EXPECT_EQ(content(path), "two\nthree\n");  // "one\n" of the second life filled up the file of the first
  EXPECT_EQ(content(folder.path() / "log.1"), "three\none\n");
  EXPECT_EQ(content(folder.path() / "log.2"), "one\ntwo\n");
}

TEST(LogFile, NeverKeepsMoreThanItMay) {
  const TempDir folder = TempDir::make().value();
  LogFile log = LogFile::open(folder.path() / "log", {.bytes = 100, .kept = 2}, LogFile::Errors::stay).value();
  for (int i = 0; i < 1000; ++i) log.write("a line of twenty-four b\n");
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) bytes += entry.file_size();
  EXPECT_LE(bytes, 300u);
  EXPECT_GE(bytes, 200u);
}

TEST(LogFile, SaysWhereItCannotWrite) {
  const auto log = LogFile::open("/nowhere/log", {}, LogFile::Errors::stay);
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().detail.find("/nowhere/log"), std::string::npos);
}

}  // namespace
}  // namespace gw::os
