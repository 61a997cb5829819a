#pragma once
// The state of a job at one moment, as plain values for users.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reason.h"
#include "job/claim_table.h"
#include "job/manifest.h"
#include "job/names.h"
#include "job/recovery_counters.h"
#include "job/thread_table.h"
#include "wire/records.pb.h"

namespace gw::job {

// A thread as home knows it. The same value reaches the API, where it becomes JSON.
struct ThreadView {
  ThreadId id;
  std::optional<std::uint32_t> task;  // none: forked
  enum class State : std::uint8_t { waiting, running, ended, failed };
  State state = State::waiting;
  std::optional<PeerId> host;   // where it runs, or ran last
  std::uint64_t epoch = 0;      // 0: never placed
  std::uint64_t resumed = 0;    // from an image, after its host was lost
  std::uint64_t restarted = 0;  // from its beginning
  std::uint32_t exit_code = 0;  // once it has ended
  std::string sentence;         // why it failed
  Reason reason = Reason::ok;   // why it waits
};

struct HostSnapshot {
  PeerId peer;
  std::uint32_t slots = 0;     // claimed now
  std::uint64_t running = 0;   // threads there now
  std::uint64_t finished = 0;  // threads that came to their end there
  std::uint64_t lost = 0;      // threads that had to leave because it, or its worker, went away
  std::uint64_t taken = 0;     // threads it took over
};

struct JobSnapshot {
  wire::pb::JobRecord record;  // counts and times; neither manifest nor threads
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::vector<ThreadView> threads;  // tasks in their order, then forked ones by id
  std::vector<HostSnapshot> peers;  // by id
};

// A thread as recorded.
ThreadView snapshot_of(ThreadId id, const wire::pb::ThreadRecord& record);
// A job that has ended, with the threads that its record keeps.
JobSnapshot snapshot_of(const wire::pb::JobRecord& record);

// A job that runs. `no_slot`: why a thread that could start anywhere does not.
JobSnapshot snapshot_of(const wire::pb::JobRecord& record, const Manifest& manifest, const ThreadTable& threads, const ClaimTable& claims,
                        Reason no_slot);
// What is counted: names, tasks, threads, how they ended.
wire::pb::JobRecord totals_of(const Manifest& manifest, const ThreadTable& threads, const RecoveryCounters& counters);
// The first `most` threads, as they are written down at the end.
void add_threads(const Manifest& manifest, const ThreadTable& threads, std::size_t most, wire::pb::JobRecord& record);
// Tasks, then forked threads by id.
std::vector<ThreadId> in_order(const Manifest& manifest, const ThreadTable& threads);

}  // namespace gw::job
