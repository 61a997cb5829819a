#pragma once
// The amounts that this peer stores for one job because it runs a part of it.

#include "job/authority/budget.h"

namespace gw::job {

// Charges the code, inputs and images of a hosted job to the budget of this peer, beside what the peer keeps for threads that run
// elsewhere. A job of this peer's own is not charged: it is not stored for others.
//
// Invariant: the budget has exactly what was added here and not removed. Costs: those of the budget. A value without threads.
class HostedStorage {
 public:
  // The budget outlives it. nullptr: the job is this peer's own.
  HostedStorage(Budget* budget, const Budget::Account& account) : budget_(budget), account_(account) {}
  HostedStorage(const HostedStorage&) = delete;
  ~HostedStorage() { remove(charged_); }

  // Changes one part from `before` to `after`. Kind::overloaded names the limit that would be exceeded; then nothing has changed.
  Status change(const StoredForOthers& before, const StoredForOthers& after);
  Status add(const StoredForOthers& more) { return change({}, more); }
  void remove(const StoredForOthers& less);

 private:
  Budget* const budget_;
  const Budget::Account account_;
  StoredForOthers charged_;
};

}  // namespace gw::job
