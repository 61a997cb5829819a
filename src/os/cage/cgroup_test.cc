#include "os/cage/cgroup.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

#include "os/process/child_process.h"

namespace gw::os {
namespace {

// Starts to use memory when it is told to, by a byte on its standard input.
constexpr const char* kHungry = "read go; exec dd if=/dev/zero of=/dev/null bs=300M count=1";

TEST(Cgroup, EndsAProcessThatUsesTooMuchMemory) {
  auto group = Cgroup::make({.memory_bytes = 32u << 20, .tasks = 10});
  if (!group && group.error().kind == Kind::unsupported) GTEST_SKIP() << group.error().detail;
  ASSERT_TRUE(group);
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  auto child = ChildProcess::start({.argv = {"/bin/sh", "-c", kHungry}, .env = {"PATH=/usr/bin:/bin"}, .descriptors = {{go[0], 0}}});
  ASSERT_TRUE(child);
  ASSERT_TRUE(group->add(child->pid()));
  EXPECT_FALSE(group->ran_out_of_memory());
  ASSERT_EQ(::write(go[1], "\n", 1), 1);
  pollfd exited{child->exited_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&exited, 1, 20'000), 1);
  EXPECT_EQ(child->status()->signal, SIGKILL);
  EXPECT_TRUE(group->ran_out_of_memory());
  ::close(go[0]);
  ::close(go[1]);
}

}  // namespace
}  // namespace gw::os
