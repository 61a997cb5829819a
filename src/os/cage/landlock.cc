#include "os/cage/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::os {
namespace {

// From linux/landlock.h of kernel 6.12; Debian 12's header is older.
struct RulesetAttributes {
  std::uint64_t files, network, scoped;
};
constexpr unsigned kAskVersion = 1;
constexpr std::uint64_t kBindAndConnectTcp = 0b11;
constexpr std::uint64_t kAbstractSocketsAndSignals = 0b11;

// How many of the rights to files a version knows: the first 13, then moving between directories, truncating, ioctl on devices.
std::uint64_t file_rights(int version) {
  const int count = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (1ull << count) - 1;
}

}  // namespace

Result<int> landlock_version() {
  const int version = static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion));
  if (version < 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) return 0;
  if (version < 0) return fail(Kind::internal, "cannot ask for the version of Landlock: {}", reason(errno));
  return version;
}

Result<int> forbid_everything_by_landlock() {
  GW_TRY(const int version, landlock_version());
  if (version == 0) return 0;
  const RulesetAttributes rules{.files = file_rights(version),
                                .network = version >= 4 ? kBindAndConnectTcp : 0,
                                .scoped = version >= 6 ? kAbstractSocketsAndSignals : 0};
  // An older kernel refuses fields it does not know only if they are not zero.
  const UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0)));
  if (!ruleset) return fail(Kind::internal, "cannot make a Landlock rule set: {}", reason(errno));
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return fail(Kind::internal, "cannot confine this process by Landlock: {}", reason(errno));
  return version;
}

}  // namespace gw::os
