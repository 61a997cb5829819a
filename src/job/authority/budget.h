#pragma once
// Limits on what this peer stores for others, counted per job, per origin, per grid and in all.

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "job/names.h"

namespace gw::job {

// Amounts stored for threads of other peers, as their host or as their keeper.
struct StoredForOthers {
  std::uint64_t threads = 0;
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t nodes = 0;  // of image trees, roots included: this peer remembers what is below each
  std::uint64_t determinants = 0;

  StoredForOthers& operator+=(const StoredForOthers& more);
  // REQUIRES: no amount of `less` is larger.
  StoredForOthers& operator-=(const StoredForOthers& less);
  bool operator==(const StoredForOthers&) const = default;
};

// Four levels of limits (docs/design/007-job-authority.md, "Budgets"). The origin is the leader of the job: all jobs of one leader share
// one budget, and one origin cannot use up the budget of all origins together, nor one grid that of all grids.
//
// Invariants: no sum exceeds its limit, unless adopt() found it so at a start; a job or origin with nothing stored has no entry. Costs:
// O(log jobs). Limits: Limits; entries are bounded by all.threads and all.blobs. A value without threads.
class Budget {
 public:
  struct Limits {
    StoredForOthers job{
        .threads = 1u << 14, .blobs = 1u << 18, .bytes = std::uint64_t{16} << 30, .nodes = 1u << 15, .determinants = 1u << 20};
    StoredForOthers origin{
        .threads = 1u << 15, .blobs = 1u << 19, .bytes = std::uint64_t{32} << 30, .nodes = 1u << 16, .determinants = 1u << 21};
    StoredForOthers grid{
        .threads = 3u << 14, .blobs = 3u << 18, .bytes = std::uint64_t{48} << 30, .nodes = 3u << 15, .determinants = 3u << 20};
    StoredForOthers all{
        .threads = 1u << 16, .blobs = 1u << 20, .bytes = std::uint64_t{64} << 30, .nodes = 1u << 17, .determinants = 1u << 22};
  };
  struct Account {
    JobId job;
    PeerId origin;
    std::optional<wire::GridId> grid;  // none: the job runs in no grid
  };

  explicit Budget(const Limits& limits) : limits_(limits) {}

  // Changes one amount of that job from `before` to `after`. A decrease always succeeds. Kind::overloaded names the limit that would be
  // exceeded; then nothing has changed.
  Status change(const Account& account, const StoredForOthers& before, const StoredForOthers& after);
  // Counts what earlier boots have stored; never refused.
  void adopt(const Account& account, const StoredForOthers& found);

  // Sets new limits. Amounts above a limit stay, and nothing is added to them until they are below it.
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
  std::map<std::optional<wire::GridId>, StoredForOthers> grids_;
  StoredForOthers all_;
};

}  // namespace gw::job
