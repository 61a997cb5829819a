#pragma once
// Whether this machine lends to a job now; docs/design/017-lending.md.

#include <cstdint>
#include <optional>
#include <string>

#include "base/signature.h"
#include "job/authority/manifest.h"
#include "job/lending/lending_rules.h"
#include "job/names.h"

namespace gw::job {

// The state of the machine and of its owner, as the operating system shows it.
struct LendingConditions {
  Time owner_idle{0};  // since the last sign of the owner: input, or load of the owner's programs
  bool on_battery = false;
  std::uint32_t minute_of_day = 0;  // local time
  bool known = false;               // false: nothing was read yet, and rules that need it refuse

  auto operator<=>(const LendingConditions&) const = default;
};

// A job that asks for slots.
struct LendingAsker {
  PeerId home;
  ConsumerName submitter;     // the key that signed the job
  std::string grid;           // in which the job runs, by its name here; empty: not known
  bool private_grid = false;  // of which this peer is a member
};

// The policy of the lender, kept by the lender alone: used before slots are granted, and again for granted slots when the rules or the
// conditions have changed. Every refusal is a sentence for the user whose job waits. A value without I/O, clock or threads.
class Lending {
 public:
  struct Config {
    std::optional<ConsumerName> owner;  // the key of the user of this machine; none: only jobs of this peer are the owner's
    LendingRules rules{.audience = {.anyone = true, .mine = true, .grids = {}}};
    Time idle_after = std::chrono::minutes(3);  // without a sign of the owner, the machine counts as idle
  };

  Lending(Config config, const PeerId& self) : config_(std::move(config)), self_(self) {}

  const LendingRules& rules() const { return config_.rules; }
  const LendingConditions& conditions() const { return conditions_; }
  void set_rules(LendingRules rules, Time idle_after);
  void set_conditions(const LendingConditions& conditions) { conditions_ = conditions; }
  // Why no worker can start on this machine; empty: they can. Jobs of this peer are refused too then.
  void set_workers_fail(std::string why) { workers_fail_ = std::move(why); }
  const std::string& workers_fail() const { return workers_fail_; }

  // Why the job gets nothing here now; none: it may use this machine. The owner's rules never refuse jobs of this peer: their owner
  // started them.
  std::optional<std::string> refusal(const LendingAsker& asker) const;
  // Why a job with this manifest asks for too much; none: it does not. The owner's jobs have no such limits.
  std::optional<std::string> excess(const LendingAsker& asker, const Manifest& manifest) const;
  // Why jobs of other peers get nothing here now, whoever asks; none: some may.
  std::optional<std::string> closed() const;
  // The same, as far as the owner decides.
  std::optional<std::string> closed_by_owner() const;
  std::uint32_t weight_of(const ConsumerName& submitter) const;

 private:
  bool is_owner(const LendingAsker& asker) const { return asker.home == self_ || asker.submitter == config_.owner; }

  Config config_;
  const PeerId self_;
  LendingConditions conditions_;
  std::string workers_fail_;
};

}  // namespace gw::job
