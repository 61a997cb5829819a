#pragma once
// How the jobs of several users share the slots of one lender.
//
// The problem. A lender has few slots, and jobs of several users want all of them. Each user must get the part that the owner's weights
// give, whatever the number of its jobs, tasks or threads and however long its tasks are, and a new user must not wait until the tasks of
// another one have ended.
//
// Ways that were rejected. Moving whole claims: a lender of one slot could serve only one user, and each move costs an image. Moving slots
// only at the end of a task: a user with long tasks gets more than its part. Weights of the kernel's scheduler: they need a control group
// that this user may write.
//
// The way. Claims may have more slots than the lender; at each moment a claim has a number of *lanes*, and all lanes together are not more
// than the slots. While users compete, lanes are dealt out anew for each turn (100 ms), one at a time, to the user with the least use of
// slots, divided by its weight: deficit round robin in the form of virtual time. A claim without a lane is paused; a claim with fewer lanes
// than before begins no task on the lanes that it has lost. Slots are bundles of a core and its part of the memory, so the part of the
// slots is also the dominant part of DRF.
//
// Invariants.
// 1. The lanes of a turn are not more than the slots.
// 2. No lane is left while a claim has work for it, unless the threads of the claim, which run together, need more lanes than are left.
// 3. A user that was idle gains nothing by it: its virtual time continues with that of the others.
// 4. Of the jobs of one user those with the highest priority go first; equal ones share like users of equal weight.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "job/lending/lending_rules.h"
#include "job/names.h"

namespace gw::job {

// Costs: O(lanes x claims) per turn while users compete, O(claims) otherwise. Limits: as many claims and users as the caller adds. A value
// without I/O, clock or threads.
class FairTurns {
 public:
  struct Config {
    Time turn = std::chrono::milliseconds(100);
  };
  // A claim that has work.
  struct Contender {
    PeerId home;
    ConsumerName consumer;
    std::uint32_t weight = 1;
    std::uint32_t priority = 0;
    std::uint32_t lanes = 1;  // that it can use
    std::uint32_t least = 1;  // that it needs to go on at all: its threads run together

    auto operator<=>(const Contender&) const = default;
  };

  explicit FairTurns(const Config& config) : config_(config) {}

  // Adds or changes a claim; none: it has no work now, or is gone. True: lanes have to be dealt out anew.
  bool set(Time now, const JobId& job, std::optional<Contender> contender);
  // Deals out the lanes from now on.
  void deal(Time now, std::uint32_t slots);
  // When the next turn begins; kNever: everything that has work has its lanes.
  Time next() const { return next_; }
  // The lanes of a claim. A claim without work may use as many as it likes, since it uses none.
  std::optional<std::uint32_t> lanes(const JobId& job) const;
  std::uint32_t dealt() const;
  std::size_t size() const { return claims_.size(); }

  // Slot time used since the last call, by job.
  struct Use {
    PeerId home;
    ConsumerName consumer;
    Time slot_time{0};
  };
  std::map<JobId, Use> take_use(Time now);
  std::size_t unsampled() const { return use_.size(); }  // jobs with use since then

 private:
  struct Claim {
    Contender contender;
    std::uint32_t lanes = 0;
    double virtual_time = 0;  // of the claim among those of its user
  };

  void charge(Time now);
  void share(std::uint32_t slots);
  void join(const ConsumerName& consumer);

  const Config config_;
  std::map<JobId, Claim> claims_;
  std::map<ConsumerName, double> virtual_times_;  // of the users that have a claim; in seconds of a slot, divided by the weight
  std::map<JobId, Use> use_;
  Time charged_{0};
  Time next_ = kNever;
};

}  // namespace gw::job
