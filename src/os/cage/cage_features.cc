#include "os/cage/cage_features.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "os/cage/cgroup.h"
#include "os/cage/landlock.h"

namespace gw::os {
namespace {

constexpr Cgroup::Limits kTrial{.memory_bytes = 1u << 20, .tasks = 1};

bool has_seccomp() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace

CageFeatures find_cage_features() {
  CageFeatures features{.seccomp = has_seccomp(), .own_user = ::geteuid() == 0};
  if (auto version = landlock_version()) features.landlock = *version;
  if (auto group = Cgroup::make(kTrial)) {
    features.control_group = group->description();
  } else {
    features.no_control_group = group.error().detail;
  }
  return features;
}

}  // namespace gw::os
