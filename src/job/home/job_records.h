#pragma once
// The records of a job at its home.

#include <cstdint>

#include "job/actions.h"
#include "job/authority/charter.h"
#include "job/home/job_snapshot.h"
#include "job/home/loss_policy.h"
#include "job/home/output_limit.h"
#include "job/records.h"

namespace gw::job {

// The records and the output of one job at its home: from the acceptance of the job to its last record, which is all that stays.
//
// Invariant: the counters are written once per turn at most. Costs: O(1), but for end(), which removes what was written for each thread.
// A machine without I/O or threads: its Home owns and drives it.
class JobRecords {
 public:
  struct Environment {  // outlives it
    const Charter& charter;
    const Manifest& manifest;
    const ThreadTable& threads;
    const TaskTable& tasks;
    const ClaimTable& claims;
    RecoveryCounters& counters;
    const LossPolicy& losses;
  };

  JobRecords(const OutputLimit::Config& config, const Environment& environment)
      : environment_(environment), output_(config, environment.manifest.content().policy().limits()) {}

  // The bytes that were submitted beside the charter.
  struct Submitted {
    ByteView manifest;
    ByteView row_inputs = {};  // as in pb::JobSubmission
  };
  // Times are since 1970.
  void begin(Time now, const Submitted& submitted, Actions& out);
  void recover(Time submitted_at, const std::vector<StoredEffect>& effects);
  void write(ThreadId id, Actions& out) const;
  // A host has taken a thread that was lost before, from an image or from its beginning.
  void on_taken(ThreadId id, HomeThread& thread, RecoveryCounters::From from, Actions& out);
  void append(EffectEntry entry, Actions& out);
  // A run of the thread has failed, and it begins again.
  void append_attempt(ThreadId id, const Effect& end, const EndFacts& facts, Actions& out);
  // Home runs now, so threads at this peer do.
  void write_alive(Time now, Actions& out);
  // Writes the counters if they have changed.
  void end_turn(Actions& out);
  // Replaces all records by the last one, and appends the details to the output. `failure`: why the job could not begin; empty: it has.
  void end(Time now, wire::pb::JobRecord::State state, std::string failure, Actions& out);
  // Why the job ends before all its tasks have run.
  void set_sentence(std::string sentence) { progress_.sentence = std::move(sentence); }

  const OutputLimit& output() const { return output_; }
  Time submitted_at() const { return progress_.submitted_at; }
  wire::pb::JobRecord record() const;

 private:
  std::string key(RecordKind kind, ThreadId thread = {}) const;
  void write_counters(Actions& out) const;

  const Environment environment_;
  OutputLimit output_;
  JobProgress progress_;
  Time alive_at_{0};  // since 1970; 0: not recorded
};

}  // namespace gw::job
