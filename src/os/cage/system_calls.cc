#include "os/cage/system_calls.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "os/files/io.h"

namespace gw::os {
namespace {

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// Allowed whatever the arguments are. None of them takes a path or an address, or reaches another process.
constexpr int kFree[] = {
    // Memory. The engine makes code executable, so PROT_EXEC must stay possible: a guest that has broken out of it runs native code anyway.
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    // Threads: waiting for each other, and what the C library does when one starts and ends.
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    // Time.
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(nanosleep),
    // Signals to itself: the engine catches accesses beyond a guest's memory.
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    // Descriptors it has: the socket to the parent, the one that wakes its loop, page map, stderr; memory it got or makes.
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(memfd_create),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    // Random numbers for hash tables.
    SCMP_SYS(getrandom),
};

// Refused with an error instead of ending the process, because a library asks and has another way.
struct Refused {
  int call, error;
};
constexpr Refused kRefused[] = {
    {SCMP_SYS(clone3), ENOSYS},  // its flags are out of a filter's sight; the C library then uses clone
    {SCMP_SYS(openat), EACCES},  // the memory allocator wants to read /proc/sys/vm/overcommit_memory when it gives memory back
};

#ifdef GW_SANITIZED_BUILD
constexpr int kForSanitizers[] = {
    SCMP_SYS(readlink),  SCMP_SYS(newfstatat),        SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler),
    SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity), SCMP_SYS(mincore),        SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo),   SCMP_SYS(process_vm_readv),  SCMP_SYS(pipe2),
};
#else
constexpr std::initializer_list<int> kForSanitizers = {};
#endif

// Threads as the C library makes them, and nothing that would become a process.
constexpr unsigned long kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                       CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// PAGEMAP_SCAN of linux/fs.h, which Debian 12 does not have yet: _IOWR('f', 16, 96 bytes).
constexpr unsigned long kScanPages = 0xc0606610;

scmp_arg_cmp argument(unsigned index, std::uint64_t value) { return {index, SCMP_CMP_EQ, value, 0}; }

// 32-bit arguments: the kernel ignores the upper half of the register, so must the filter.
scmp_arg_cmp argument32(unsigned index, std::uint32_t value) { return {index, SCMP_CMP_MASKED_EQ, 0xffff'ffff, value}; }

// Allowed with one of these arguments only.
struct Narrow {
  int call;
  scmp_arg_cmp condition;
};

std::initializer_list<Narrow> narrow_calls() {
  static const std::initializer_list<Narrow> kCalls = {
      {SCMP_SYS(clone), argument(0, kThreadFlags)},
      {SCMP_SYS(prctl), argument32(0, PR_SET_NAME)},
      {SCMP_SYS(tgkill), argument32(0, static_cast<std::uint32_t>(::getpid()))},  // abort()
      {SCMP_SYS(fcntl), argument32(1, F_ADD_SEALS)},
      {SCMP_SYS(fcntl), argument32(1, F_GET_SEALS)},
      {SCMP_SYS(fcntl), argument32(1, F_DUPFD_CLOEXEC)},
      // Which pages a guest has written. No other command, so that no device and no terminal understands anything.
      {SCMP_SYS(ioctl), argument32(1, UFFDIO_REGISTER)},
      {SCMP_SYS(ioctl), argument32(1, UFFDIO_UNREGISTER)},
      {SCMP_SYS(ioctl), argument32(1, kScanPages)},
  };
  return kCalls;
}

Status check(int error, const char* what) {
  if (error != 0) return fail(Kind::internal, "cannot set up the system call filter ({}): {}", what, reason(-error));
  return ok();
}

Status allow(scmp_filter_ctx filter, int call) { return check(::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0), "a call"); }

Status fill(scmp_filter_ctx filter) {
  for (const int call : kFree) GW_TRY_VOID(allow(filter, call));
  for (const int call : kForSanitizers) GW_TRY_VOID(allow(filter, call));
  for (const Narrow& narrow : narrow_calls())
    GW_TRY_VOID(check(::seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, narrow.call, 1, &narrow.condition), "a call with arguments"));
  for (const Refused& refused : kRefused) {
    const int error = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<std::uint16_t>(refused.error)), refused.call, 0);
    GW_TRY_VOID(check(error, "a refused call"));
  }
  return ok();
}

}  // namespace

Status allow_only_needed_system_calls() {
  const Filter filter(::seccomp_init(SCMP_ACT_KILL_PROCESS), ::seccomp_release);
  if (!filter) return fail(Kind::internal, "cannot set up the system call filter");
  GW_TRY_VOID(check(::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "other architectures"));
  GW_TRY_VOID(check(::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_NNP, 0), "privileges"));
  GW_TRY_VOID(check(::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1), "all threads"));
  GW_TRY_VOID(check(::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "order"));
  GW_TRY_VOID(fill(filter.get()));
  const int error = ::seccomp_load(filter.get());
  if (error != 0) return fail(Kind::unsupported, "the kernel refuses the system call filter: {}", reason(-error));
  return ok();
}

}  // namespace gw::os
