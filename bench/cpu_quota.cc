#include "cpu_quota.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace gw::bench {
namespace {

namespace fs = std::filesystem;

constexpr long kPeriodMicroseconds = 10'000;

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return static_cast<bool>(out);
}

}  // namespace

Result<CpuQuota> CpuQuota::make(double processors) {
  static int made = 0;
  const std::string name = fmt::format("godwit-bench-{}-{}", ::getpid(), made++);
  const auto quota = static_cast<long>(processors * kPeriodMicroseconds);
  std::error_code error;
  const fs::path one = "/sys/fs/cgroup/cpu", two = "/sys/fs/cgroup";
  const bool is_first_version = fs::exists(one / "cpu.cfs_quota_us", error) || fs::exists(one / "cgroup.procs", error);
  CpuQuota group((is_first_version ? one : two) / name);
  if (!fs::create_directory(group.folder_, error))
    return fail(Kind::unsupported, "cannot make the control group {}: {}", group.folder_.string(), error.message());
  const bool limited = is_first_version ? write_text(group.folder_ / "cpu.cfs_period_us", std::to_string(kPeriodMicroseconds)) &&
                                              write_text(group.folder_ / "cpu.cfs_quota_us", std::to_string(quota))
                                        : write_text(group.folder_ / "cpu.max", fmt::format("{} {}", quota, kPeriodMicroseconds));
  if (!limited) return fail(Kind::unsupported, "the control group {} does not limit processor time", group.folder_.string());
  return group;
}

CpuQuota::~CpuQuota() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove(folder_, ignored);
}

std::vector<std::string> CpuQuota::enter() const {
  return {"/bin/sh", "-c", fmt::format("echo $$ > {}/cgroup.procs && exec \"$@\"", folder_.string()), "sh"};
}

}  // namespace gw::bench
