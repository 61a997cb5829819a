#include "os/cage/cage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "os/cage/system_calls.h"

namespace gw::os {
namespace {

// How a caged child ended that ran `body`: its result, or minus the signal. 200: the cage could not be made.
int in_cage(CagePlan plan, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    plan.keep.insert(plan.keep.begin(), {0, 1, 2});
    auto cage = Cage::enter(std::move(plan));
    if (!cage) std::fprintf(stderr, "%s\n", cage.error().detail.c_str());
    if (!cage || !cage->shut()) ::_exit(200);
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(Cage, LetsOrdinaryWorkHappen) {
  EXPECT_EQ(in_cage({},
                    [] {
                      int answer = 0;
                      std::thread worker([&] { answer = 42; });
                      worker.join();
                      void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                      return memory == MAP_FAILED ? 1 : answer;
                    }),
            42);
}

TEST(Cage, EndsTheProcessAtACallThatIsNotNeeded) {
  EXPECT_EQ(in_cage({}, [] { return ::getppid() > 0 ? 0 : 1; }), -SIGSYS);
  EXPECT_EQ(in_cage({}, [] { return ::kill(::getpid(), 0); }), -SIGSYS);
}

TEST(Cage, HoldsThreadsThatExistedBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto cage = Cage::enter({.keep = {0, 1, 2}});
    if (!cage) ::_exit(200);
    int fds[2];
    if (::pipe(fds) != 0) ::_exit(200);
    std::thread older([&] {
      char go;
      if (::read(fds[0], &go, 1) == 1) (void)::getppid();
      ::_exit(0);
    });
    if (!cage->shut()) ::_exit(200);
    (void)!::write(fds[1], "x", 1);
    older.join();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

TEST(Cage, ClosesWhatIsNotKept) {
  const int inherited = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(in_cage({.left_open = {Lock::seccomp}}, [&] { return ::fcntl(inherited, F_GETFD) < 0 ? 1 : 0; }), 1);
  EXPECT_EQ(in_cage({.keep = {inherited}, .left_open = {Lock::seccomp}}, [&] { return ::fcntl(inherited, F_GETFD) < 0 ? 1 : 0; }), 0);
  ::close(inherited);
}

TEST(Cage, IsNoRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can stop being root";
  const auto is_root = [](std::set<Lock> open) {
    open.insert(Lock::seccomp);
    return in_cage({.left_open = std::move(open)}, [] { return ::geteuid() == 0 || ::getegid() == 0 || ::setuid(0) == 0 ? 1 : 0; });
  };
  EXPECT_EQ(is_root({}), 0);
  EXPECT_EQ(is_root({Lock::identity}), 1);
}

TEST(Cage, FilesAreOutOfReachWithoutTheFilterToo) {
  const auto opens = [](std::set<Lock> open) {
    open.insert(Lock::seccomp);
    return in_cage({.left_open = std::move(open)},
                   [] { return ::open("/etc/passwd", O_RDONLY) < 0 && ::open("passwd", O_RDONLY) < 0 ? 0 : 1; });
  };
  EXPECT_EQ(opens({}), 0);
  EXPECT_EQ(opens({Lock::folder, Lock::identity}), 0);                          // Landlock alone
  if (::geteuid() == 0) EXPECT_EQ(opens({Lock::landlock, Lock::identity}), 0);  // the empty root directory alone
  EXPECT_EQ(opens({Lock::folder, Lock::identity, Lock::landlock}), 1);
}

// The bytes that the limit counts already: earlier tests in this process, if there were any, have left something.
std::uint64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::strtoull(line.c_str() + 7, nullptr, 10) << 10;
  return 0;
}

TEST(Cage, LimitsAreSet) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need the memory";
  const auto fill = [](std::set<Lock> open) {
    return in_cage({.data_bytes = data_bytes() + (64u << 20), .left_open = std::move(open)}, [] {
      return ::mmap(nullptr, 256u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 0 : 1;
    });
  };
  EXPECT_EQ(fill({}), 0);
  EXPECT_EQ(fill({Lock::limits}), 1);
}

}  // namespace
}  // namespace gw::os
