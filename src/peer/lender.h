#pragma once
// The slots that this peer lends: to which jobs, and how these share them; docs/design/017-lending.md.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/home/home.h"
#include "job/host/hosted_job.h"
#include "job/host/job_ages.h"
#include "job/host/slot_leases.h"
#include "job/lending/balance.h"
#include "job/lending/fair_turns.h"
#include "job/lending/lending.h"
#include "job/placing/capacity.h"
#include "peer/grids.h"

namespace gw::peer {

using job::JobId;

// Why slots are not lent: as in pb::JobMessage::Decline.
struct Refusal {
  job::JobMessage::Decline::Why why;
  std::string sentence;
};

// Applies the owner's rules (job::Lending) where slots are granted and where running jobs have to leave, and lets the jobs of several users
// take turns (job::FairTurns) when they hold more slots together than there are.
//
// Costs: O(log jobs) per change of a job; O(hosted jobs) when the rules or the owner's activity change, and per turn while users compete.
// Limits: those of SlotLeases. A machine without I/O or threads: its peer owns and drives it.
class Lender {
 public:
  struct Config {
    job::Lending::Config lending;
    job::FairTurns::Config turns;
    job::Balance::Config balance;
    Time sample_every = std::chrono::seconds(2);  // of the slots in use, here and elsewhere
  };
  struct Machines {  // outlive it
    const Grids& grids;
    job::Authorities& authorities;
    job::SlotLeases& slots;
    std::map<JobId, std::unique_ptr<job::HostedJob>>& hosted_jobs;
    std::map<JobId, std::unique_ptr<job::Home>>& homes;
  };
  struct Self {
    PeerId id;
    Time wall_offset{0};
  };

  Lender(const Config& config, const Self& self, const Machines& machines)
      : config_(config),
        self_(self),
        lending_(config.lending, self.id),
        turns_(config.turns),
        balance_(config.balance),
        machines_(machines) {}

  const job::Lending& lending() const { return lending_; }
  const job::FairTurns& turns() const { return turns_; }
  const job::Balance& balance() const { return balance_; }
  void recover_balance(const job::Balance::Name& name, const job::Balance::Entry& entry) { balance_.recover(name, entry); }
  // A message about a job goes to that peer, or comes from it: counts the bytes of blobs.
  void on_message(Time now, const PeerId& peer, const job::JobMessage& message);

  // The terms of a reservation for the search of a home, or why this machine does not lend to the job. REQUIRES: a query that was checked.
  std::variant<job::SlotLeases::Wanted, Refusal> terms(Time now, const job::Charter& charter, const job::JobMessage::Query& query);
  // Why there are no slots for a job that has the right to them: who holds them.
  Refusal who_holds_slots(const job::SlotLeases::Wanted& wanted) const;
  // Why the job asks for more than the owner allows.
  std::optional<std::string> excess(const JobId& job, const job::Manifest& manifest) const;

  // This machine was measured. `workers_fail`: why no worker can start; empty: they can.
  void set_capacity(job::Capacity capacity, std::string workers_fail) {
    capacity_ = std::move(capacity);
    lending_.set_workers_fail(std::move(workers_fail));
  }
  const job::Capacity& capacity() const { return capacity_; }

  // The jobs that have to leave after the change.
  std::vector<JobId> set_rules(Time now, job::LendingRules rules, Time idle_after);
  std::vector<JobId> set_conditions(const job::LendingConditions& conditions);
  // Slots that other peers are told of: those that are free, and none that a new user would share with others, since jobs that wait notice
  // a free slot by the rise of this number. None while the owner's rules give none to jobs of other peers. A peer whose disk is full or
  // whose workers cannot start is asked all the same, because its refusal says why: job::Home shows that to the user.
  std::uint32_t announced_slots() const;

  // The demand of the job may have changed.
  void refresh(Time now, const JobId& job);
  // The number of slots or the memory lent with them is another. Where memory is limited, jobs cannot share a slot.
  void on_resized(std::uint64_t memory_bytes) {
    machines_.slots.set_sharing(memory_bytes == 0);
    changed_ = true;
  }
  // Deals out the lanes, if something has changed or a turn is over.
  void deal(Time now, job::Actions& out);
  void on_tick(Time now, job::Actions& out);
  Time next_deadline() const { return std::min({turns_.next(), sample_at_, balance_.next_deadline()}); }

 private:
  job::LendingAsker asker_of(const PeerId& home, const job::Charter& charter) const;
  std::vector<JobId> refused_jobs() const;
  void sample(Time now);

  const Config config_;
  const Self self_;
  job::Lending lending_;
  job::FairTurns turns_;
  job::Balance balance_;
  const Machines machines_;
  job::Capacity capacity_;
  job::JobAges ages_;
  bool changed_ = false;  // since the lanes were dealt out
  Time sampled_{0};
  Time sample_at_ = job::kNever;  // never: this peer has no job, and runs none
};

}  // namespace gw::peer
