#pragma once
// The share: the part of this machine that its owner lends to jobs.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/authority/budget.h"
#include "job/lending/lending_rules.h"

namespace gw::node {

struct Share {
  std::uint32_t cores = 1;                  // slots: threads of jobs that may run at once
  std::uint64_t memory_bytes = 0;           // of all workers together; 0: no limit besides that of each worker
  std::uint32_t cpu_percent = 100;          // of the time of these cores
  std::uint32_t nice = 19;                  // of the workers: 19 is the lowest priority
  std::uint64_t bandwidth_bytes_per_s = 0;  // of content sent for jobs of other peers, and the same received; 0: no limit
  std::uint32_t slots_per_peer = 0;         // for the jobs of one other peer; 0: no limit
  std::uint32_t jobs_per_peer = 0;          // of one other peer at a time; 0: no limit
  // Bytes stored for other peers: code, inputs and images of their threads that run here, images of those that run elsewhere.
  std::uint64_t disk_bytes = 0;            // in all; 0: 64 GiB
  std::uint64_t disk_bytes_per_peer = 0;   // for the jobs of one of them; 0: half of that
  std::uint64_t disk_bytes_per_job = 0;    // for one job; 0: a quarter
  std::uint64_t disk_bytes_per_grid = 0;   // for the jobs of one grid; 0: three quarters
  std::uint32_t idle_after_seconds = 180;  // without a sign of its owner, the machine counts as idle
  job::LendingRules rules;
  std::set<std::string> tags;  // that jobs may ask for (run --need tag=NAME); at most job::kMaxTags
  // Code and inputs of jobs that are over, which stay for the next job; 0: none stay.
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;

  auto operator<=>(const Share&) const = default;
};

// The members that change. Names are added to the lists, and removed from the others; a weight of 1 is that of everybody.
struct ShareChange {
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> cpu_percent;
  std::optional<std::uint32_t> nice;
  std::optional<std::uint64_t> bandwidth_bytes_per_s;
  std::optional<std::uint32_t> slots_per_peer;
  std::optional<std::uint32_t> jobs_per_peer;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<std::uint64_t> disk_bytes_per_peer;
  std::optional<std::uint64_t> disk_bytes_per_job;
  std::optional<std::uint64_t> disk_bytes_per_grid;
  std::optional<std::uint32_t> idle_after_seconds;
  std::optional<std::string> audience;  // as in LendingAudience::parse
  std::optional<std::string> when;      // as in LendingTimes::parse
  std::optional<std::uint64_t> stranger_memory_bytes;
  std::optional<std::uint64_t> stranger_cpu_seconds;
  std::optional<std::uint64_t> stranger_disk_bytes;
  std::optional<std::uint64_t> stranger_threads;
  std::vector<job::ConsumerName> allow;
  std::vector<job::ConsumerName> block;
  std::vector<job::ConsumerName> unlist;  // neither allowed nor blocked
  std::map<job::ConsumerName, std::uint32_t> weights;
  std::optional<std::uint64_t> cache_bytes;
  std::vector<std::string> tag;
  std::vector<std::string> untag;
};

// The numbers of a share by the names that the API and the file have for them. One list for all readers and writers.
template <class Use>
void for_each_number(auto& share, Use use) {
  use("cores", share.cores);
  use("memory_bytes", share.memory_bytes);
  use("cpu_percent", share.cpu_percent);
  use("nice", share.nice);
  use("bandwidth_bytes_per_s", share.bandwidth_bytes_per_s);
  use("slots_per_peer", share.slots_per_peer);
  use("jobs_per_peer", share.jobs_per_peer);
  use("disk_bytes", share.disk_bytes);
  use("disk_bytes_per_peer", share.disk_bytes_per_peer);
  use("disk_bytes_per_job", share.disk_bytes_per_job);
  use("disk_bytes_per_grid", share.disk_bytes_per_grid);
  use("cache_bytes", share.cache_bytes);
  use("idle_after_seconds", share.idle_after_seconds);
  auto& rules = rules_of(share);
  use("stranger_memory_bytes", rules.stranger_memory_bytes);
  use("stranger_cpu_seconds", rules.stranger_cpu_seconds);
  use("stranger_disk_bytes", rules.stranger_disk_bytes);
  use("stranger_threads", rules.stranger_threads);
}
inline job::LendingRules& rules_of(Share& share) { return share.rules; }
inline const job::LendingRules& rules_of(const Share& share) { return share.rules; }
inline ShareChange& rules_of(ShareChange& change) { return change; }
inline const ShareChange& rules_of(const ShareChange& change) { return change; }

// The limits on what this machine stores for other peers, in bytes and in everything that grows with them.
job::Budget::Limits budget_of(const Share& share);

// Kind::invalid: which value is out of range.
Result<Share> changed(const Share& share, const ShareChange& change);

// The saved share; nothing if none was saved. Kind::corrupt: the file is damaged.
Result<std::optional<Share>> load_share(const std::filesystem::path& file);
Status save_share(const std::filesystem::path& file, const Share& share);

}  // namespace gw::node
