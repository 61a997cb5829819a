#pragma once
// The owner's rules for lending: to whom, when, and how much a stranger's job may ask for.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace gw::job {

// When a machine lends. All conditions have to hold; of several hours, one.
struct LendingTimes {
  struct Hours {  // in minutes since midnight, local time; `to` before `from`: over midnight
    std::uint32_t from = 0, to = 0;
    auto operator<=>(const Hours&) const = default;
  };
  static constexpr std::size_t kMaxHours = 8;

  bool idle = false;        // only while the owner does not use the machine
  bool plugged_in = false;  // only while it does not run on battery
  std::vector<Hours> hours;

  auto operator<=>(const LendingTimes&) const = default;
  bool always() const { return !idle && !plugged_in && hours.empty(); }
  // "always", or a list such as "idle,plugged-in,22:00-07:00". Kind::invalid.
  static Result<LendingTimes> parse(std::string_view text);
  std::string text() const;
};

// To whom a machine lends.
struct LendingAudience {
  static constexpr std::size_t kMaxGrids = 16;

  bool anyone = false;
  bool mine = false;            // jobs of the owner, and jobs in the private grids of this machine
  std::set<std::string> grids;  // jobs in these, by name

  auto operator<=>(const LendingAudience&) const = default;
  // A list of "mine", "anyone", "grid NAME", separated by commas. Kind::invalid.
  static Result<LendingAudience> parse(std::string_view text);
  std::string text() const;
};

// A user (by the public key that signs the jobs) or a peer (by its id): both have 32 bytes, and the owner of a machine may name either.
using ConsumerName = Hash256;

struct LendingRules {
  static constexpr std::size_t kMaxNames = 256;  // in each list
  static constexpr std::uint32_t kMaxWeight = 100;

  LendingAudience audience{.anyone = false, .mine = true, .grids = {}};
  LendingTimes when;
  std::set<ConsumerName> allowed;                 // may use this machine, whatever the audience is
  std::set<ConsumerName> blocked;                 // may not, whatever else is set
  std::map<ConsumerName, std::uint32_t> weights;  // of users whose part is not 1
  // Limits on what a job of another user may ask for, for each of its threads; 0: no limit.
  std::uint64_t stranger_memory_bytes = 0;
  std::uint64_t stranger_cpu_seconds = 0;
  std::uint64_t stranger_disk_bytes = 0;
  std::uint64_t stranger_threads = 0;  // of the whole job

  auto operator<=>(const LendingRules&) const = default;
  // Kind::invalid: which list is too long, or which weight is out of range.
  Status check() const;
};

}  // namespace gw::job
