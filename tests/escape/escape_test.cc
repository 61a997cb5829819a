// Attacks on the cage. Each is contained by it, and each works when the locks that hold it are left open: else the test would prove
// nothing.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "attacks.h"
#include "os/cage/cage.h"
#include "os/cage/system_calls.h"
#include "os/files/file.h"
#include "os/process/child_process.h"

namespace gw::test {
namespace {

using os::Lock;

struct Case {
  const char* attack;
  std::set<Lock> held_by;  // without these it works
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.attack; }

const std::set<Lock> kFileLocks = {Lock::seccomp, Lock::landlock, Lock::folder};
const std::set<Lock> kProcessLocks = {Lock::seccomp, Lock::landlock, Lock::identity};
const std::set<Lock> kEverything = {Lock::descriptors, Lock::limits, Lock::folder, Lock::identity, Lock::landlock, Lock::seccomp};

const Case kCases[] = {
    {"open_file", kFileLocks},
    {"open_by_dots", kFileLocks},
    {"open_by_old_call", kFileLocks},
    {"open_by_new_call", kFileLocks},
    {"open_by_handle", {Lock::seccomp, Lock::landlock, Lock::folder, Lock::identity}},
    {"open_by_io_uring", {Lock::seccomp, Lock::limits}},
    {"read_proc", kFileLocks},
    {"use_leaked_descriptor", {Lock::descriptors}},
    {"look_at_file", {Lock::seccomp, Lock::folder}},
    {"plant_code", kFileLocks},
    {"connect_out", {Lock::seccomp, Lock::landlock}},
    {"listen_for_others", {Lock::seccomp, Lock::landlock}},
    {"make_socket", {Lock::seccomp}},
    {"exec", kFileLocks},
    {"fork_process", {Lock::seccomp}},
    {"clone_into_namespaces", {Lock::seccomp, Lock::folder}},
    {"trace_parent", kProcessLocks},
    {"signal_parent", kProcessLocks},
    {"read_parent", kProcessLocks},
    {"become_root", {Lock::seccomp, Lock::identity}},
    {"push_keys", {Lock::seccomp}},
    {"load_bpf", {Lock::seccomp, Lock::identity}},
    {"catch_faults", {Lock::seccomp}},
    {"exhaust_memory", {Lock::limits}},
    {"exhaust_files_in_memory", {Lock::limits}},
    {"exhaust_descriptors", {Lock::limits}},
    {"exhaust_threads", {Lock::limits}},
    {"exhaust_cpu", {Lock::limits}},
};

// A port with a listener, and a folder that every user may write to.
class Escape : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener_.get(), 8), 0);
    ASSERT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  }

  // Whether the attack works with these locks left open.
  bool works(const std::set<Lock>& open) {
    std::string locks = ",";
    for (const Lock lock : open) locks += std::to_string(static_cast<int>(lock)) + ",";
    std::filesystem::remove(folder_.path() / "planted");
    const os::UniqueFd leaked(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    static const char kMemory = 'm';
    auto child = os::ChildProcess::start({.argv = {GODWIT_ESCAPE_WORKER, GetParam().attack, locks, std::to_string(port_),
                                                   folder_.path().string(), fmt::format("{}", reinterpret_cast<std::uintptr_t>(&kMemory))},
                                          .env = {},
                                          .descriptors = {{leaked.get(), kLeakedFile}}});
    EXPECT_TRUE(child);
    pollfd exited{child->exited_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&exited, 1, 300'000), 1);
    const auto status = child->status();
    EXPECT_TRUE(status && status->exit_code != 99) << "the escape worker is broken";
    return status && status->signal == 0 && status->exit_code == 42;
  }

  os::UniqueFd listener_;
  int port_ = 0;
  os::TempDir folder_ = std::move(os::TempDir::make().value());
};

TEST_P(Escape, IsContained) { EXPECT_FALSE(works({})); }

TEST_P(Escape, WorksWithoutItsContainment) {
  if (!works(kEverything)) GTEST_SKIP() << "this user cannot do that on this machine anyway";
  EXPECT_TRUE(works(GetParam().held_by));
}

std::vector<Case> cases() {
  std::vector<Case> list(std::begin(kCases), std::end(kCases));
  // Sanitizers need memory without bounds, and calls that lead to files.
  if (os::kSanitized)
    std::erase_if(list,
                  [](const Case& one) { return one.held_by == std::set{Lock::limits} || std::string_view(one.attack) == "look_at_file"; });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Attacks, Escape, testing::ValuesIn(cases()), [](const auto& info) { return std::string(info.param.attack); });

}  // namespace
}  // namespace gw::test
