#pragma once
// Rebuilds the state of the home of a job from the records of its earlier boots.

#include <map>
#include <vector>

#include "job/authority/authority.h"
#include "job/authority/manifest.h"
#include "job/effects/effect_ledger.h"
#include "job/effects/stored_effect.h"
#include "job/home/claim_table.h"
#include "job/home/mailboxes.h"
#include "job/home/recovery_counters.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"
#include "wire/records.pb.h"

namespace gw::job {

// The records of one job that its home has found on disk.
struct HomeRecords {
  wire::pb::JobRecord job;
  bool suspended = false;
  wire::pb::RecoveryCountersRecord counters;
  std::map<ThreadId, wire::pb::ThreadRecord> threads;
  std::vector<StoredEffect> effects;                                             // in the order in which they were stored
  std::map<std::uint64_t, wire::pb::InputRecord> input;                          // by piece
  std::map<ThreadId, std::map<std::uint64_t, wire::pb::FilePieceRecord>> files;  // that tasks left for others, by piece
  Mailboxes::Items mail;
  Mailboxes::Marks mail_marks;  // by sender
  Mailboxes::Watches watches;
};

// Fills the tables of a home from its records, once. Damaged records are Kind::corrupt with what contradicts what, never the end of the
// process. A value without threads; everything it is given outlives it.
class HomeRecovery {
 public:
  struct Parts {
    const Manifest& manifest;
    EffectLedger& ledger;
    ThreadTable& threads;
    TaskTable& tasks;
    ClaimTable& claims;
    LeaderRoster& roster;
    RecoveryCounters& counters;
  };

  HomeRecovery(Time now, const HomeRecords& records, const Parts& parts) : now_(now), records_(records), parts_(parts) {}

  // REQUIRES: the tasks are in the tables, and nothing has happened to them.
  Status run();

 private:
  Status recover_tasks();
  Status recover_effects();
  bool recover_result(const StoredEffect& effect);
  Status recover_thread(ThreadId id);
  Status recover_place(ThreadId id, const wire::pb::ThreadRecord& record);

  const Time now_;
  const HomeRecords& records_;
  const Parts parts_;
};

}  // namespace gw::job
