#include "os/process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

namespace gw::os {
namespace {

ExitStatus wait_for(ChildProcess& child) {
  pollfd exited{child.exited_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&exited, 1, 20'000), 1);
  auto status = child.status();
  EXPECT_TRUE(status.has_value());
  return status.value_or(ExitStatus{});
}

TEST(ChildProcess, SaysHowItEnded) {
  auto child = ChildProcess::start({.argv = {"/bin/sh", "-c", "exit 7"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(*child).exit_code, 7);
  EXPECT_EQ(child->status()->exit_code, 7);
}

TEST(ChildProcess, IsKilledOnRequest) {
  auto child = ChildProcess::start({.argv = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->status());
  child->kill();
  EXPECT_EQ(wait_for(*child).signal, SIGKILL);
  child->kill();  // of a process that is gone: nothing
}

TEST(ChildProcess, GoesWithTheObject) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({.argv = {"/bin/sleep", "1000"}});
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);  // reaped, too: a zombie would still be there
}

TEST(ChildProcess, GoesOnWhenItIsLeft) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({.argv = {"/bin/sleep", "1000"}});
    ASSERT_TRUE(child);
    pid = child->pid();
    child->leave();
  }
  EXPECT_EQ(::kill(pid, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(ChildProcess, AMissingProgramIsNotFound) {
  auto child = ChildProcess::start({.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, Kind::not_found);
}

// The numbers cross: each lands where it should all the same.
TEST(ChildProcess, DescriptorsArePassedUnderTheirNumbers) {
  int one[2], two[2];
  ASSERT_EQ(::pipe2(one, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(two, O_CLOEXEC), 0);
  auto child = ChildProcess::start({.argv = {"/bin/sh", "-c", "echo first >&3; echo second >&4; ls /proc/self/fd | wc -l >&3"},
                                    .env = {"PATH=/usr/bin:/bin"},
                                    .descriptors = {{two[1], 4}, {one[1], 3}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(*child).exit_code, 0);
  std::string buffer(100, '\0');
  EXPECT_EQ(buffer.substr(0, static_cast<std::size_t>(::read(two[0], buffer.data(), 100))), "second\n");
  EXPECT_EQ(buffer.substr(0, static_cast<std::size_t>(::read(one[0], buffer.data(), 6))), "first\n");
  for (const int fd : {one[0], one[1], two[0], two[1]}) ::close(fd);
}

// As sockets that libraries open are: without O_CLOEXEC.
TEST(ChildProcess, GetsNoDescriptorThatIsNotPassed) {
  int ends[2], answer[2];
  ASSERT_EQ(::pipe2(answer, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ends, 0), 0);
  const int low = ::fcntl(ends[0], F_DUPFD, 7), high = ::fcntl(ends[0], F_DUPFD, 40);
  auto child = ChildProcess::start({.argv = {"/bin/sh", "-c", "echo /proc/$$/fd/* >&9"},
                                    .env = {"PATH=/usr/bin:/bin"},
                                    .descriptors = {{ends[0], 0}, {ends[1], 1}, {ends[1], 2}, {answer[1], 9}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(*child).exit_code, 0);
  ::close(answer[1]);
  std::string open(1000, '\0');
  open.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(answer[0], open.data(), open.size()))));
  for (const int fd : {low, high}) EXPECT_EQ(open.find("fd/" + std::to_string(fd)), std::string::npos) << open;
  EXPECT_NE(open.find("fd/9"), std::string::npos) << open;
  for (const int fd : {ends[0], ends[1], low, high, answer[0]}) ::close(fd);
}

TEST(ChildProcess, HasASessionOfItsOwn) {
  auto child = ChildProcess::start({.argv = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(::getsid(child->pid()), child->pid());
}

}  // namespace
}  // namespace gw::os
