#pragma once
// The share: the part of this machine that its owner lends to jobs.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "job/authority/budget.h"

namespace gw::node {

struct Share {
  std::uint32_t cores = 1;           // slots: threads of jobs that may run at once
  std::uint64_t memory_bytes = 0;    // of all workers together; 0: no limit besides that of each worker
  std::uint32_t cpu_percent = 100;   // of the time of these cores
  std::uint32_t slots_per_peer = 0;  // for the jobs of one other peer; 0: no limit
  std::uint32_t jobs_per_peer = 0;   // of one other peer at a time; 0: no limit
  // Bytes stored for other peers: code, inputs and images of their threads that run here, images of those that run elsewhere.
  std::uint64_t disk_bytes = 0;           // in all; 0: 64 GiB
  std::uint64_t disk_bytes_per_peer = 0;  // for the jobs of one of them; 0: half of that
  std::uint64_t disk_bytes_per_job = 0;   // for one job; 0: a quarter
  std::uint64_t disk_bytes_per_grid = 0;  // for the jobs of one grid; 0: three quarters

  auto operator<=>(const Share&) const = default;
};

// The members that change.
struct ShareChange {
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> cpu_percent;
  std::optional<std::uint32_t> slots_per_peer;
  std::optional<std::uint32_t> jobs_per_peer;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<std::uint64_t> disk_bytes_per_peer;
  std::optional<std::uint64_t> disk_bytes_per_job;
  std::optional<std::uint64_t> disk_bytes_per_grid;
};

// The limits on what this machine stores for other peers, in bytes and in everything that grows with them.
job::Budget::Limits budget_of(const Share& share);

// Kind::invalid: which value is out of range.
Result<Share> changed(const Share& share, const ShareChange& change);

// The saved share; nothing if none was saved. Kind::corrupt: the file is damaged.
Result<std::optional<Share>> load_share(const std::filesystem::path& file);
Status save_share(const std::filesystem::path& file, const Share& share);

}  // namespace gw::node
