#pragma once
// The threads of one claim at their host.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "job/actions.h"
#include "job/deadlines.h"
#include "job/host/hosted_storage.h"
#include "job/host/hosted_thread.h"

namespace gw::job {

// Knows which threads are here, in which epoch each was here last, which of them wait for a slot, when each is due, whose images are on
// their way to this disk, and what is charged to the budget for each.
//
// Invariants: a thread that was here in an epoch does not come back in that epoch or an older one; the budget is charged for the threads
// that are here and for no others. Costs: O(log threads) per call but for those that say otherwise. Limits: Config. A value without
// threads.
class HostedThreads {
 public:
  struct Config {
    std::size_t threads = 4096;    // at once
    std::size_t begun = 1u << 16;  // threads one claim may ever have: as many as a job has
  };
  struct Environment {  // outlives it
    JobId job;
    ImageTrees& images;
    HostedStorage& storage;
    CodeStaging& code;
  };

  HostedThreads(const Config& config, const Environment& environment) : config_(config), environment_(environment) {}
  HostedThreads(const HostedThreads&) = delete;

  const std::map<ThreadId, HostedThread>& all() const { return threads_; }
  bool empty() const { return threads_.empty(); }
  // REQUIRES: it is here.
  HostedThread& at(ThreadId id) { return threads_.at(id); }
  // nullptr: it is not here.
  HostedThread* find(ThreadId id);
  // nullptr: it is not here in this epoch.
  HostedThread* find(std::uint64_t thread, std::uint64_t epoch);
  // The thread that the worker names in a frame; nullptr if it has left meanwhile. Kind::invalid if the worker was never given it.
  Result<HostedThread*> thread_of_worker(std::uint64_t thread, std::uint64_t epoch);
  // The threads that cannot go on here without this image. O(threads).
  std::vector<ThreadId> that_need(const Hash256& root) const;
  const std::set<ThreadId>& queued() const { return queued_; }
  // Threads that wait for a message use none. One that has waited goes on when its message comes, whether or not there is a slot.
  std::size_t slots_used() const { return slots_used_ - parked_.size(); }
  std::size_t never_waited() const { return slots_used_ - waited_.size(); }

  // Whether the thread was not here in this epoch yet, and there is room for it.
  bool may_add(ThreadId id, std::uint64_t epoch) const;
  // REQUIRES: may_add(), and the thread is not here.
  HostedThread& add(const HostedThread::Environment& environment, const JobMessage::Assign& assign, Time now);
  // Gives back everything of the thread. REQUIRES: it is here.
  void remove(ThreadId id, Actions& out);
  // The worker drops the thread, if it runs it.
  void drop_from_worker(const HostedThread& thread, Actions& out);
  // As in HostedThread; the thread uses a slot from now on.
  void start(HostedThread& thread, Time now, const std::optional<wire::pb::ThreadConfig>& config, Actions& out);
  void adopt(HostedThread& thread, Time now, Actions& out);

  // Called after anything that may have changed when the thread is due, or whether it waits for a slot.
  void refresh(HostedThread& thread);
  // A thread that is due; nullptr: there is none.
  HostedThread* take_due(Time now);
  Time next_deadline() const { return deadlines_.next(); }
  // Charges what is stored for the thread now. Kind::overloaded: there is no room.
  Status charge(const HostedThread& thread);

  // An image of the thread is on its way to this disk.
  void set_saving(const Hash256& root, ThreadId id);
  // The thread whose image is complete on this disk now; nullptr: it has left, or the image is another one.
  HostedThread* take_saved(const Hash256& root);

 private:
  const Config config_;
  const Environment environment_;
  std::map<ThreadId, HostedThread> threads_;
  std::map<ThreadId, StoredForOthers> charged_;      // for each of them
  std::set<ThreadId> queued_;                        // wait for a slot
  std::set<ThreadId> parked_;                        // wait for a message
  std::set<ThreadId> waited_;                        // have done so here
  std::map<Hash256, ThreadId> saving_;               // images that the disk has not confirmed
  std::map<ThreadId, std::uint64_t> highest_epoch_;  // the last epoch of each thread that was here under this claim
  Deadlines<ThreadId> deadlines_;
  std::size_t slots_used_ = 0;
};

}  // namespace gw::job
