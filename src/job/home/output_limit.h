#pragma once
// How much a home stores of what the threads of a job print and write.

#include <cstdint>
#include <map>

#include "job/effects/stored_effect.h"
#include "wire/messages/limits.h"

namespace gw::job {

// Counts the bytes of stored effects per thread and for the whole job. The workers hold the limits of the manifest too, so an effect beyond
// them comes from a host that lies: without a count at home such a host fills the disk of the home.
//
// Costs: O(log threads). Limit: one entry for each thread that has stored something and has not ended. A value without threads.
class OutputLimit {
 public:
  struct Config {
    std::uint64_t job_bytes = std::uint64_t{64} << 30;  // of one job, with everything
  };
  // Files leave in frames that have names besides the bytes.
  static constexpr std::uint64_t kFileFrames = 64u << 20;

  OutputLimit(const Config& config, const wire::pb::Limits& limits)
      : config_(config), printed_(wire::effective_output_bytes(limits)), files_(2 * wire::effective_file_bytes(limits) + kFileFrames) {}

  // Whether the effect may be stored. Kind::overloaded with a sentence if not.
  Status check(const Effect& effect) const;
  // Counts an effect that was stored, in this boot or an earlier one.
  void add(const StoredEffect& effect);
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  // Of what the job may store, half is stored.
  bool is_half_full() const { return stored_bytes_ > config_.job_bytes / 2; }

 private:
  struct Thread {
    std::uint64_t printed = 0;
    std::uint64_t files = 0;
  };

  const Config config_;
  const std::uint64_t printed_, files_;  // of one thread
  std::map<ThreadId, Thread> threads_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace gw::job
