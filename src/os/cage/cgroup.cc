#include "os/cage/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::os {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "godwit-";

// Controller ("memory"; "" for version 2) -> folder of the group this process is in.
using OwnGroups = std::map<std::string, fs::path>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Lines of /proc/self/cgroup: "4:memory:/path", "0::/path".
std::map<std::string, std::string> own_paths() {
  std::map<std::string, std::string> paths;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) paths[""] = line.substr(second + 1);
    for (const std::string& controller : split(controllers, ',')) paths[controller] = line.substr(second + 1);
  }
  return paths;
}

// A mount shows the part of the hierarchy below `root`.
fs::path inside_mount(const fs::path& mount, const std::string& root, const std::string& group) {
  const fs::path below = fs::path(group).lexically_relative(root);
  if (below.empty() || *below.begin() == "..") return mount;
  return (mount / below).lexically_normal();
}

// Lines of /proc/self/mountinfo: "36 35 98:0 /root /mount options - cgroup source rw,memory".
OwnGroups own_groups() {
  const auto paths = own_paths();
  OwnGroups groups;
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto fields = split(line, ' ');
    const auto dash = std::ranges::find(fields, "-");
    if (fields.size() < 10 || fields.end() - dash < 4) continue;
    if (dash[1] == "cgroup2" && paths.contains("")) groups[""] = inside_mount(fields[4], fields[3], paths.at(""));
    if (dash[1] != "cgroup") continue;
    for (const std::string& controller : split(dash[3], ','))
      if (paths.contains(controller)) groups[controller] = inside_mount(fields[4], fields[3], paths.at(controller));
  }
  return groups;
}

Status put(const fs::path& file, const std::string& value) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail(Kind::unsupported, "cannot open {}: {}", file.string(), reason(errno));
  if (Status written = write_fully(fd.get(), as_bytes(value)); !written)
    return fail(Kind::unsupported, "cannot write {} to {}: {}", value, file.string(), written.error().detail);
  return ok();
}

// Groups whose owner was killed before it could remove them.
void remove_left_behind(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    pid_t owner = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), owner);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

Result<fs::path> make_group(const fs::path& parent, const fs::path& name) {
  remove_left_behind(parent);
  const fs::path folder = parent / name;
  if (::mkdir(folder.c_str(), 0755) != 0)
    return fail(Kind::unsupported, "cannot create the control group {}: {}", folder.string(), reason(errno));
  return folder;
}

}  // namespace

Result<Cgroup> Cgroup::make(const Limits& limits) {
  static std::atomic<unsigned> counter = 0;
  const std::string name = fmt::format("{}{}-{}", kPrefix, ::getpid(), counter++);
  Cgroup v1;
  if (v1.make_v1(limits, name)) return v1;
  Cgroup v2;
  GW_TRY_VOID(v2.make_v2(limits, name));
  return v2;
}

Status Cgroup::make_v1(const Limits& limits, const fs::path& name) {
  const OwnGroups groups = own_groups();
  if (!groups.contains("memory")) return fail(Kind::unsupported, "there is no memory control group of version 1");
  GW_TRY(const fs::path memory, make_group(groups.at("memory"), name));
  folders_.push_back(memory);
  GW_TRY_VOID(put(memory / "memory.limit_in_bytes", fmt::format("{}", limits.memory_bytes)));
  memory_events_ = memory / "memory.oom_control";
  description_ = "cgroup v1: memory";
  if (!groups.contains("pids")) return ok();
  GW_TRY(const fs::path pids, make_group(groups.at("pids"), name));
  folders_.push_back(pids);
  GW_TRY_VOID(put(pids / "pids.max", fmt::format("{}", limits.tasks)));
  description_ += ", pids";
  return ok();
}

Status Cgroup::make_v2(const Limits& limits, const fs::path& name) {
  const OwnGroups groups = own_groups();
  if (!groups.contains("")) return fail(Kind::unsupported, "there are no control groups");
  // A group that has processes, as ours does, cannot pass its controllers on: then beside it instead of below.
  for (const fs::path& parent : {groups.at(""), groups.at("").parent_path()}) {
    auto folder = make_group(parent, name);
    if (!folder) continue;
    folders_ = {*folder};
    if (!put(*folder / "memory.max", fmt::format("{}", limits.memory_bytes)) ||
        !put(*folder / "pids.max", fmt::format("{}", limits.tasks))) {
      ::rmdir(folder->c_str());
      folders_.clear();
      continue;
    }
    version_ = Version::two;
    memory_events_ = *folder / "memory.events";
    description_ = "cgroup v2: memory, pids";
    return ok();
  }
  return fail(Kind::unsupported, "no control group can be created below {}", groups.at("").string());
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : version_(other.version_),
      folders_(std::exchange(other.folders_, {})),
      time_(std::move(other.time_)),
      process_(other.process_),
      memory_events_(std::move(other.memory_events_)),
      description_(std::move(other.description_)) {}

Cgroup::~Cgroup() {
  for (const fs::path& folder : folders_) ::rmdir(folder.c_str());
}

Status Cgroup::add(pid_t process) {
  for (const fs::path& folder : folders_) GW_TRY_VOID(put(folder / "cgroup.procs", fmt::format("{}", process)));
  process_ = process;
  return ok();
}

Status Cgroup::set_memory(std::uint64_t bytes) {
  return put(folders_.front() / (version_ == Version::one ? "memory.limit_in_bytes" : "memory.max"), fmt::format("{}", bytes));
}

Result<fs::path> Cgroup::time_folder() {
  if (version_ == Version::two) return folders_.front();
  if (!time_.empty()) return time_;
  const OwnGroups groups = own_groups();
  if (!groups.contains("cpu")) return fail(Kind::unsupported, "there is no control group for processor time");
  GW_TRY(const fs::path made, make_group(groups.at("cpu"), folders_.front().filename()));
  folders_.push_back(made);
  if (process_ > 0) GW_TRY_VOID(put(made / "cgroup.procs", fmt::format("{}", process_)));
  time_ = made;
  return made;
}

Status Cgroup::set_processors(double processors) {
  constexpr int kPeriod = 100'000;  // microseconds
  const auto quota = static_cast<std::int64_t>(processors * kPeriod);
  if (quota == 0 && version_ == Version::one && time_.empty()) return ok();
  GW_TRY(const fs::path folder, time_folder());
  if (version_ == Version::two) return put(folder / "cpu.max", quota == 0 ? "max" : fmt::format("{} {}", quota, kPeriod));
  GW_TRY_VOID(put(folder / "cpu.cfs_period_us", fmt::format("{}", kPeriod)));
  return put(folder / "cpu.cfs_quota_us", fmt::format("{}", quota == 0 ? -1 : quota));
}

bool Cgroup::ran_out_of_memory() const {
  std::ifstream in(memory_events_);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("oom_kill ") && line != "oom_kill 0") return true;
  return false;
}

}  // namespace gw::os
