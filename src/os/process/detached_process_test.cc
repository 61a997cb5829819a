#include "os/process/detached_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "os/files/file.h"

namespace gw::os {
namespace {

// A named pipe makes the test wait for the process, and for nothing else.
TEST(DetachedProcess, GetsItsInputAndASessionOfItsOwn) {
  auto folder = TempDir::make();
  ASSERT_TRUE(folder);
  const std::string answer = folder->path() / "answer";
  ASSERT_EQ(::mkfifo(answer.c_str(), 0600), 0);
  const std::string script = "read line; echo \"$line $(ps -o sid= -p $$ | tr -d ' ') $$\" > " + answer;
  ASSERT_TRUE(start_detached({.argv = {"/bin/sh", "-c", script}, .stdin_bytes = {'h', 'i', '\n'}}));
  auto said = read_file(answer, 1000);
  ASSERT_TRUE(said) << said.error().detail;
  std::istringstream words{std::string(as_text(*said))};
  std::string line, session, pid;
  words >> line >> session >> pid;
  EXPECT_EQ(line, "hi");
  EXPECT_EQ(session, pid);
  EXPECT_NE(session, std::to_string(::getsid(0)));
}

}  // namespace
}  // namespace gw::os
