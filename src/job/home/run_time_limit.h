#pragma once
// How long each thread of a job may run, on all its hosts together.
//
// The problem. A worker knows how long a thread has run in its own process, and ends a guest only while the guest runs. A thread that moves
// would begin its time again at each host, and a thread that sleeps would never reach its end.
//
// A way that was rejected: the time in the image. It is lost with everything since the last image when a host is lost, and a thread that
// waits in an image at no host needs a clock all the same.
//
// Home counts instead: the time that a thread has run, from the report of a host that it has started until it left that host. A thread that
// says nothing is reported with the next full status, up to five seconds late: it gets that time too much, and never too little. Time in
// which it waits for a slot, or in which the job is suspended, does not count. The worker still ends a thread that runs past its limit at
// the first host, because it can say where the program was; home ends it kSlack later.

#include <optional>
#include <string>

#include "job/authority/manifest.h"
#include "job/deadlines.h"
#include "job/home/thread_table.h"

namespace gw::job {

// All times are since 1970, because they are recorded. Costs: O(log threads) per call, O(threads) for recover(). Limit: those of the
// ThreadTable. A value without threads of its own.
class RunTimeLimit {
 public:
  static constexpr Time kSlack = std::chrono::seconds(1);
  // Between two records that home is alive, if its user has set a limit: the time of threads that die with this machine is known up to
  // the last one.
  static constexpr Time kRecordEvery = std::chrono::seconds(5);

  explicit RunTimeLimit(const Manifest& manifest);

  // The host of the thread has started it. True: the thread is to be recorded.
  bool on_started(Time now, ThreadId id, HomeThread& thread);
  void on_left(Time now, ThreadId id, HomeThread& thread);
  // After a restart of home, which ran last at `alive_at`. Threads at other hosts have run all the time.
  void recover(Time now, Time alive_at, const PeerId& self, ThreadTable& threads);

  // Returns a thread that has used up its time, once.
  std::optional<ThreadId> take_due(Time now) { return deadlines_.take_due(now); }
  // As a worker says it.
  std::string sentence() const;
  // The end of such a thread, as an effect with this number.
  Effect end_of(ThreadId id, const HomeThread& thread, std::uint64_t sequence) const;

  // Whether home is to record now that it is alive.
  bool is_record_due(Time now);

 private:
  void count_from(Time now, ThreadId id, HomeThread& thread);

  Time limit_;
  bool chosen_;  // by the user
  Deadlines<ThreadId> deadlines_;
  Time record_at_{0};
};

}  // namespace gw::job
