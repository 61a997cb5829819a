#include "os/cage/cage.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>

#include "os/cage/landlock.h"
#include "os/cage/system_calls.h"
#include "os/files/io.h"

namespace gw::os {
namespace {

Status set_limit(__rlimit_resource_t which, rlim_t value, const char* name) {
  const rlimit both{value, value};
  if (::setrlimit(which, &both) != 0) return fail(Kind::internal, "cannot set the limit {} to {}: {}", name, value, reason(errno));
  return ok();
}

// A user id that no other process has: near the end of the ids this process may use, different for each live process. 0: there is none.
Result<std::uint32_t> own_user_id() {
  constexpr std::uint32_t kReserved = 1024;  // the last few have meanings: -1 none, -2 nobody
  constexpr std::uint32_t kProcessIds = 1u << 22;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> map(std::fopen("/proc/self/uid_map", "re"), std::fclose);
  if (!map) return fail(Kind::internal, "cannot read /proc/self/uid_map, which says which user ids there are: {}", reason(errno));
  std::uint64_t end = 0, room = 0;
  unsigned long first = 0, outside = 0, count = 0;
  while (std::fscanf(map.get(), "%lu %lu %lu", &first, &outside, &count) == 3) {
    if (first + count <= end) continue;
    end = first + count;
    room = count;
  }
  if (room <= kReserved) return 0u;
  const auto spread = std::min<std::uint64_t>(room - kReserved, kProcessIds);
  return static_cast<std::uint32_t>(end - kReserved - static_cast<std::uint64_t>(::getpid()) % spread);
}

Status drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) return fail(Kind::internal, "cannot give up capabilities: {}", reason(errno));
  return ok();
}

Status become(std::uint32_t id) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0)
    return fail(Kind::internal, "cannot become user {}: {}", id, reason(errno));
  return ok();
}

// Runs in a process that shares only the working and root directories with ours. When that process has ended, its directory stays empty.
int enter_dead_folder(void*) {
  if (::chdir("/proc/self/fdinfo") != 0) return errno;
  if (::geteuid() == 0 && ::chroot(".") != 0) return errno;
  return 0;
}

pid_t clone_into_dead_folder(void* stack_end) {
  if (kSanitized) {
    // A sanitizer watches clone() and cannot bear a child in its own memory: a copy then, made behind its back.
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FS | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) ::_exit(enter_dead_folder(nullptr));
    return child;
  }
  // CLONE_VFORK: it is done before we go on, so that it may use our memory.
  return ::clone(enter_dead_folder, stack_end, CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
}

}  // namespace

Result<Cage> Cage::enter(CagePlan plan) {
  Cage cage(std::move(plan));
  if (cage.wanted(Lock::descriptors)) GW_TRY_VOID(cage.close_descriptors());
  if (cage.wanted(Lock::limits)) GW_TRY_VOID(cage.set_limits());
  GW_TRY(const std::uint32_t user, own_user_id());  // while there still is a /proc
  if (cage.wanted(Lock::folder)) GW_TRY_VOID(cage.leave_folder());
  if (cage.wanted(Lock::identity)) GW_TRY_VOID(cage.give_up_identity(user));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(Kind::unsupported, "cannot set no_new_privs: {}", reason(errno));
  cage.held_by_.emplace_back("no_new_privs");
  // After the change of user, which would undo it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail(Kind::internal, "cannot tie this process to its parent: {}", reason(errno));
  if (cage.wanted(Lock::landlock)) GW_TRY_VOID(cage.confine_files());
  return cage;
}

Status Cage::shut() {
  if (!wanted(Lock::seccomp)) return ok();
  GW_TRY_VOID(allow_only_needed_system_calls());
  held_by_.emplace_back("seccomp");
  return ok();
}

Status Cage::close_descriptors() {
  GW_ASSERT(std::ranges::is_sorted(plan_.keep));
  unsigned next = 0;
  for (const int kept : plan_.keep) {
    const auto fd = static_cast<unsigned>(kept);
    if (fd > next && ::close_range(next, fd - 1, 0) != 0) return fail(Kind::unsupported, "cannot close descriptors: {}", reason(errno));
    next = fd + 1;
  }
  if (::close_range(next, std::numeric_limits<unsigned>::max(), 0) != 0)
    return fail(Kind::unsupported, "cannot close descriptors: {}", reason(errno));
  return ok();
}

Status Cage::set_limits() {
  // RLIMIT_DATA and not RLIMIT_AS: the engine reserves 10 GB of addresses for each memory and uses few of them.
  if (!kSanitized) GW_TRY_VOID(set_limit(RLIMIT_DATA, plan_.data_bytes, "RLIMIT_DATA"));
  GW_TRY_VOID(set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE"));
  GW_TRY_VOID(set_limit(RLIMIT_FSIZE, plan_.file_bytes, "RLIMIT_FSIZE"));
  GW_TRY_VOID(set_limit(RLIMIT_NOFILE, plan_.descriptors, "RLIMIT_NOFILE"));
  GW_TRY_VOID(set_limit(RLIMIT_MEMLOCK, 0, "RLIMIT_MEMLOCK"));
  GW_TRY_VOID(set_limit(RLIMIT_MSGQUEUE, 0, "RLIMIT_MSGQUEUE"));
  GW_TRY_VOID(set_limit(RLIMIT_CPU, static_cast<rlim_t>(plan_.cpu_time.count()), "RLIMIT_CPU"));
  // The kernel counts processes by user: among those of an ordinary user our share cannot be told apart.
  if (::geteuid() == 0 && wanted(Lock::identity)) GW_TRY_VOID(set_limit(RLIMIT_NPROC, plan_.threads, "RLIMIT_NPROC"));
  held_by_.emplace_back("rlimits");
  return ok();
}

Status Cage::leave_folder() {
  constexpr std::size_t kStack = 64u << 10;
  void* stack = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return fail(Kind::internal, "cannot map a stack: {}", reason(errno));
  const pid_t child = clone_into_dead_folder(static_cast<char*>(stack) + kStack);
  int status = 0;
  const bool reaped = child > 0 && TEMP_FAILURE_RETRY(::waitpid(child, &status, 0)) == child;
  ::munmap(stack, kStack);
  if (!reaped) return fail(Kind::internal, "cannot start a process to leave the file system with: {}", reason(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(Kind::internal, "cannot leave the file system: {}", reason(WIFEXITED(status) ? WEXITSTATUS(status) : EINTR));
  held_by_.emplace_back("empty folder");
  return ok();
}

Status Cage::give_up_identity(std::uint32_t user) {
  // In a container that has no other user ids (0) root stays root, without the powers of one.
  if (::geteuid() == 0 && user != 0) {
    GW_TRY_VOID(become(user));
    held_by_.push_back(fmt::format("uid {}", user));
  }
  GW_TRY_VOID(drop_capabilities());
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return fail(Kind::internal, "cannot keep other processes out of this one: {}", reason(errno));
  held_by_.emplace_back("no capabilities");
  return ok();
}

Status Cage::confine_files() {
  GW_TRY(const int version, forbid_everything_by_landlock());
  if (version > 0) held_by_.push_back(fmt::format("landlock {}", version));
  return ok();
}

}  // namespace gw::os
