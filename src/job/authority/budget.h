#pragma once
// Limits on what this peer stores for others, counted per job, per origin and in all.

#include <cstdint>
#include <map>
#include <string_view>

#include "job/names.h"

namespace gw::job {

// Amounts stored for threads of other peers.
struct StoredForOthers {
  std::uint64_t threads = 0;
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t determinants = 0;

  bool operator==(const StoredForOthers&) const = default;
};

// Three levels of limits (docs/design/007-job-authority.md, "Budgets"). The origin is the leader of the job: all jobs of one leader share
// one budget, and one origin cannot use up the budget of all origins together.
//
// Invariants: no sum exceeds its limit, unless adopt() found it so at a start; a job or origin with nothing stored has no entry. Costs:
// O(log jobs). Limits: Limits; entries are bounded by all.threads. A value without threads.
class Budget {
 public:
  struct Limits {
    StoredForOthers job{.threads = 1u << 14, .blobs = 1u << 18, .bytes = std::uint64_t{16} << 30, .determinants = 1u << 20};
    StoredForOthers origin{.threads = 1u << 15, .blobs = 1u << 19, .bytes = std::uint64_t{32} << 30, .determinants = 1u << 21};
    StoredForOthers all{.threads = 1u << 16, .blobs = 1u << 20, .bytes = std::uint64_t{64} << 30, .determinants = 1u << 22};
  };
  struct Account {
    JobId job;
    PeerId origin;
  };

  explicit Budget(const Limits& limits) : limits_(limits) {}

  // Changes one amount of that job from `before` to `after`. A decrease always succeeds. Kind::overloaded names the limit that would be
  // exceeded; then nothing has changed.
  Status change(const Account& account, const StoredForOthers& before, const StoredForOthers& after);
  // Counts what earlier boots have stored; never refused.
  void adopt(const Account& account, const StoredForOthers& found);

  // From now on these hold: what is stored beyond them stays, and nothing is added to it.
  void set_limits(const Limits& limits) { limits_ = limits; }

  const StoredForOthers& used() const { return all_; }
  StoredForOthers used_by(const PeerId& origin) const;
  const std::map<PeerId, StoredForOthers>& used_by_origin() const { return origins_; }
  const Limits& limits() const { return limits_; }

 private:
  Status check(const StoredForOthers& used, const StoredForOthers& before, const StoredForOthers& after, const StoredForOthers& limit,
               std::string_view whose) const;
  void apply(const Account& account, const StoredForOthers& before, const StoredForOthers& after);

  Limits limits_;
  std::map<JobId, StoredForOthers> jobs_;
  std::map<PeerId, StoredForOthers> origins_;
  StoredForOthers all_;
};

}  // namespace gw::job
