#pragma once
// The state of a job at one moment, as plain values for users.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reason.h"
#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"
#include "job/home/recovery_counters.h"
#include "job/home/slot_declines.h"
#include "job/home/task_flow.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"
#include "job/names.h"
#include "wire/records.pb.h"

namespace gw::job {

// A thread as home knows it. The same value reaches the API, where it becomes JSON.
struct ThreadView {
  ThreadId id;
  std::optional<std::uint32_t> task;  // none: forked
  std::string name = {};              // of the task, in a graph; empty: it has none
  enum class State : std::uint8_t { waiting, running, ended, failed, skipped };
  State state = State::waiting;
  std::optional<PeerId> host;   // where it runs, or ran last
  std::uint64_t epoch = 0;      // 0: never placed
  std::uint64_t resumed = 0;    // from an image, after its host was lost
  std::uint64_t restarted = 0;  // from its beginning
  std::uint32_t exit_code = 0;  // once it has ended
  std::string sentence;         // why it failed, or was skipped
  Explanation why;              // why it waits
  std::uint32_t attempts = 0;   // runs of it, with the present one; 0: not known
  Time started_at{0};           // since 1970; 0: not yet, or not known
  Time ended_at{0};             // likewise
};

struct HostSnapshot {
  PeerId peer;
  std::uint32_t slots = 0;     // claimed now
  std::uint64_t running = 0;   // threads there now
  std::uint64_t finished = 0;  // threads that came to their end there
  std::uint64_t lost = 0;      // threads that had to leave because the host or its worker was lost
  std::uint64_t taken = 0;     // threads it took over
  std::string failure = {};    // what it said last of a worker that died or did not start there
};

// The number of threads and tasks that wait for the same reason.
struct WaitCount {
  Explanation why;
  std::uint64_t count = 0;
};

struct JobSnapshot {
  wire::pb::JobRecord record;  // counts and times; neither manifest nor threads
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::vector<ThreadView> threads;  // tasks in their order, then forked ones by id; of an array of more, kMaxDetails
  std::vector<HostSnapshot> peers;  // by id
  std::vector<WaitCount> waits;     // of all threads and tasks, also those that are not listed; by reason
  std::vector<PeerReason> absent;   // live peers that do not work for the job, and why; of a job that waits for slots
};

// A thread as recorded.
ThreadView snapshot_of(ThreadId id, const wire::pb::ThreadRecord& record);
// A thread of a job that runs. `no_slot`: why a ready thread has no slot.
ThreadView view_of_thread(ThreadId id, const HomeThread& thread, const Explanation& no_slot);
// A job that has ended. Has threads and peers if `record` is the record of its details.
JobSnapshot snapshot_of(const wire::pb::JobRecord& record);

// How many of the tasks of a claim may have a slot: a host runs those that it holds in their order.
std::size_t running_tasks(const Claim& claim);
// Threads that have a host, and tasks that may have a slot: of the tasks that hosts hold, some only wait there.
std::size_t running_in(const ThreadTable& threads, const TaskTable& tasks, const ClaimTable& claims);
// A job that runs. `no_slot`: the reason why a ready thread or task has no slot.
struct HomeTables {
  const ThreadTable& threads;
  const TaskTable& tasks;
  const ClaimTable& claims;
  const TaskFlow& flow;
  Explanation no_slot;
  std::vector<PeerReason> absent = {};
};
JobSnapshot snapshot_of(const wire::pb::JobRecord& record, const Manifest& manifest, const HomeTables& tables);

// The facts that home knows of a job besides its threads.
struct JobProgress {
  wire::pb::JobRecord::State state = wire::pb::JobRecord::RUNNING;
  Time submitted_at{0}, ended_at{0};  // since 1970
  std::uint64_t stored_bytes = 0;     // of its output
  std::uint32_t details_bytes = 0;    // of the last entry of its output, once it is over
  std::uint64_t retried = 0;          // runs of tasks that failed and were repeated
  std::string sentence;               // why it ended before all its tasks had run
  std::string failure = {};           // why it could not begin
};
// The record of a job: name, counts of tasks and threads, how they ended. The record of a job that is over has no peers, so that its size
// is bounded.
wire::pb::JobRecord record_of(const JobProgress& progress, const Manifest& manifest, const ThreadTable& threads, const TaskTable& tasks,
                              const RecoveryCounters& counters);
// The last entry of the output of a job that is over: its record with its peers and kMaxDetails of its tasks and threads.
inline constexpr std::size_t kMaxDetails = 1000;
EffectEntry details_of(wire::pb::JobRecord record, const Manifest& manifest, const ThreadTable& threads, const TaskTable& tasks,
                       const RecoveryCounters& counters);
JobOver over_of(const JobId& id, const wire::pb::JobRecord& record);

}  // namespace gw::job
