#pragma once
// Control groups: limits that the kernel keeps for a process from outside, version 1 or 2.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::os {

// A group of our own below, or beside, the one this process is in, for one child. Removed with the object; what a process left behind that
// was killed is removed by the next one that makes a group.
class Cgroup {
 public:
  struct Limits {
    std::uint64_t memory_bytes;
    std::uint32_t tasks;  // threads and processes
  };

  // Kind::unsupported where there are none, or none this user may write.
  static Result<Cgroup> make(const Limits& limits);
  Cgroup(Cgroup&& other) noexcept;
  ~Cgroup();

  Status add(pid_t process);
  // Sets the memory limit. The kernel takes back memory in use above it, or ends a process of the group.
  Status set_memory(std::uint64_t bytes);
  // Processor time for everything in the group, such as 1.5 processors; 0: no limit. Kind::unsupported where time is not controlled.
  Status set_processors(double processors);
  // The kernel has ended something in it for lack of memory.
  bool ran_out_of_memory() const;
  // "cgroup v1: memory, pids"
  const std::string& description() const { return description_; }

 private:
  Cgroup() = default;
  Status make_v1(const Limits& limits, const std::filesystem::path& name);
  Status make_v2(const Limits& limits, const std::filesystem::path& name);
  Result<std::filesystem::path> time_folder();

  enum class Version : std::uint8_t { one, two };
  Version version_ = Version::one;
  std::vector<std::filesystem::path> folders_;  // the first is that of memory
  std::filesystem::path time_;                  // of version 1: made when first needed
  pid_t process_ = 0;
  std::filesystem::path memory_events_;
  std::string description_;
};

}  // namespace gw::os
