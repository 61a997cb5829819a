#pragma once
// The cage around strangers' code: the rights that a process gives up, irrevocably, before it reads the first byte of a guest.

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::os {

// The parts of the cage. Each holds without the others; several usually stand in the way of one attack (docs/security.md).
enum class Lock : std::uint8_t {
  descriptors,  // everything but the plan's descriptors is closed
  limits,       // rlimits
  folder,       // an empty, dead directory as working directory and, for root, as root directory
  identity,     // not root, no capabilities, not dumpable
  landlock,     // no files, no TCP, no signals to and no sockets of processes outside
  seccomp,      // only the system calls of system_calls.cc
};

struct CagePlan {
  std::vector<int> keep;                      // descriptors, ascending
  std::uint64_t data_bytes = 64ull << 30;     // private writable memory, mapped or not yet; the parent lowers it when it knows the job
  std::uint64_t file_bytes = 16ull << 30;     // of one file in memory (memfd): there are no others
  std::uint32_t descriptors = 128;            // open at once
  std::uint32_t threads = 256;                // counted where the process has a user id of its own; pids cgroup elsewhere
  std::chrono::seconds cpu_time{90 * 86400};  // second line behind the limits of the isolates
  std::set<Lock> left_open;                   // for escape tests: they show that each attack succeeds without the lock that stops it
};

// Entered in two steps, because an engine opens files while it starts but none afterwards:
//
//   enter()   every lock but seccomp. REQUIRES: the process has one thread. Threads made later are inside.
//   shut()    seccomp, for all threads.
//
// There is no way back. Required of the kernel: no_new_privs, seccomp, close_range. Used where they are, and said by held_by(): Landlock.
class Cage {
 public:
  static Result<Cage> enter(CagePlan plan);
  Status shut();

  // The active parts of the cage, for display: "uid 4290772987", "landlock 7", "seccomp".
  const std::vector<std::string>& held_by() const { return held_by_; }

 private:
  explicit Cage(CagePlan plan) : plan_(std::move(plan)) {}
  bool wanted(Lock lock) const { return !plan_.left_open.contains(lock); }
  Status close_descriptors();
  Status set_limits();
  Status leave_folder();
  Status give_up_identity(std::uint32_t user);
  Status confine_files();

  CagePlan plan_;
  std::vector<std::string> held_by_;
};

}  // namespace gw::os
