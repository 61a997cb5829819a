#pragma once
// The part of a job that runs on this peer: one claim, one worker, the threads home has assigned.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/host/code_staging.h"
#include "job/host/host_status.h"
#include "job/host/hosted_storage.h"
#include "job/host/hosted_tasks.h"
#include "job/host/hosted_threads.h"
#include "job/host/worker_lanes.h"
#include "job/images/blob_references.h"
#include "job/images/image_fetches.h"

namespace gw::job {

// Host of the threads and tasks of one job; docs/design/003-peers.md has the protocol. Routes what comes from home, keepers, disk and
// worker to the code (CodeStaging) and to each thread (HostedThread), gives threads slots in the worker, and tells home what it holds.
//
// Invariants: no more threads run than the claim has slots; a thread runs at most once per epoch. No step is O(threads),
// but for a full status, which names them all, and the death of the worker. Limits: Config, the gates' (each bounds what it has not got
// acknowledged), and the budget: a thread whose image is over it leaves, and home places it on another peer. A machine without I/O or
// threads: its peer owns and drives it.
class HostedJob {
 public:
  struct Config {
    HostedThread::Config thread;
    CodeStaging::Config code;
    HostedTasks::Config tasks;
    Time status_every = std::chrono::seconds(5);  // a full one
    HostedThreads::Config threads;
  };
  struct Environment {  // outlives it
    PeerId self;
    BlobReferences& blobs;
    Swarm& swarm;
    ImageTrees& images;
    std::uint64_t& next_worker;
    Budget& budget;                                                          // for what is stored for other peers
    std::optional<wire::GridId> grid = {};                                   // in which the job runs
    std::function<std::optional<std::string>(const Manifest&)> excess = {};  // as in CodeStaging::Source
  };
  struct Claim {
    PeerId home;
    JobId job;
    std::uint64_t claim;
    std::uint32_t slots;
    Hash256 manifest;  // the blob of it
  };

  HostedJob(const Config& config, const Environment& environment, const Claim& claim);
  HostedJob(const HostedJob&) = delete;  // its threads refer to it

  const Claim& claim() const { return claim_; }
  std::optional<WorkerId> worker() const { return code_.worker(); }
  const Manifest* manifest() const { return code_.manifest(); }  // nullptr: it is not here yet

  void begin(Time now, Actions& out);
  // Gives back everything. Nothing may be called afterwards.
  void close(Actions& out);

  // Home.
  void on_claim(Time now, const JobMessage::ClaimName& claim, Actions& out);
  void on_assign(Time now, const JobMessage::Assign& assign, Actions& out);
  void on_drop(Time now, const JobMessage::ThreadName& name, Actions& out);
  void on_task_batch(Time now, const JobMessage::TaskBatch& batch, Actions& out);
  void on_stored(Time now, const JobMessage::Stored& stored, Actions& out);
  void on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out);
  void on_input(Time now, const JobMessage::Input& input, Actions& out);
  void on_mails(Time now, const JobMessage::Mails& mails, Actions& out) {
    HostedThread* thread = threads_.find(mails.thread(), mails.epoch());
    if (thread == nullptr) return;
    thread->on_mails(now, mails, out);
    threads_.refresh(*thread);
  }
  void on_suspend(Time now, const JobMessage::ThreadName& name, Actions& out);
  void on_files_are(Time now, const JobMessage::FilesAre& answer, Actions& out) {
    code_.on_files_are(answer);
    advance(now, out);
  }
  // The owner of this machine. Takes no more threads, and suspends those that are here: home places them on other peers.
  void drain(Time now, Actions& out);
  bool draining() const { return status_.draining(); }
  bool drained() const { return draining() && threads_.empty() && tasks_.empty(); }
  // The lanes that the job can use now, and those that it needs to go on at all; none: it has nothing to run.
  struct Demand {
    std::uint32_t lanes, least;
  };
  std::optional<Demand> demand() const {
    const std::size_t threads = slots_used() + tasks_.promoted();
    const std::size_t wanted = threads + threads_.queued().size() + tasks_.in_worker().size() + tasks_.queued();
    if (!code_.ready() || draining() || wanted == 0) return std::nullopt;
    const auto within = [this](std::size_t lanes) { return static_cast<std::uint32_t>(std::min<std::size_t>(lanes, claim_.slots)); };
    return Demand{within(wanted), within(threads)};
  }
  // Lets at most so many threads and tasks run at once; 0: the worker is paused. Tasks that run on a lane that is lost come to their end,
  // and threads stay: the lanes of a claim that is not paused are never fewer than Demand::least.
  void set_lanes(Time now, std::uint32_t lanes, Actions& out) {
    if (lanes_.set(lanes, worker(), out)) start_queued(now, out);
  }
  std::uint32_t lanes() const { return lanes_.paused() ? 0 : lanes_.count(); }
  // Keepers.
  void on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out);
  void on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out);
  // The disk. A blob more is on it; these bytes were asked for; an image is complete, or something of it is lost.
  void on_blob_stored(Time now, const Hash256& hash, Actions& out);
  void on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  // No peer that takes part in the job has the blob.
  void on_code_lost(Time now, const Hash256& hash, Actions& out);
  void on_image_change(Time now, const ImageTrees::Change& change, Actions& out);
  // The worker. Kind::invalid if it broke a rule, or Kind::corrupt: it has to be killed.
  Status on_frame(Time now, const wire::pb::FromWorker& frame, const std::optional<NewImage>& image, Actions& out);
  // A part of what the worker was to get beside a frame has been read.
  void on_worker_progress(Time now);
  // The image from which a thread was to be restored could not be read from this disk: the thread leaves, and home places it again.
  struct RestoreFailure {
    ThreadId thread;
    std::uint64_t epoch;
    std::string why;
    bool no_image;  // else it can be read elsewhere
  };
  void on_restore_failed(Time now, const RestoreFailure& failure, Actions& out);
  // `tasks`: those that ran at that moment.
  void on_worker_died(Time now, std::string why, std::span<const std::uint32_t> tasks, Actions& out);

  void on_tick(Time now, Actions& out);
  Time next_deadline() const {
    return std::min(
        {full_status_at_, threads_.next_deadline(), tasks_.next_due(), code_.next_due(), has_work() ? code_.start_at() : kNever});
  }

  struct Running {
    ThreadId thread;
    std::uint64_t epoch;
  };
  std::vector<Running> running() const {
    std::vector<Running> list;
    for (const auto& [id, thread] : threads_.all())
      if (thread.in_worker()) list.push_back({id, thread.epoch()});
    return list;
  }
  // Since when no thread has run here and nothing of the code or of an image has arrived; kNever: a thread runs.
  Time idle_since() const { return slots_used() > 0 || !tasks_.in_worker().empty() ? kNever : busy_at_; }
  const HostedTasks& tasks() const { return tasks_; }
  std::size_t slots_used() const { return threads_.slots_used(); }
  std::size_t never_waited() const { return threads_.never_waited(); }

 private:
  bool has_work() const { return !threads_.empty() || !tasks_.empty(); }

  HostedThread::Environment thread_environment();
  void suspend(HostedThread& thread, Actions& out);
  // The thread cannot stay: home places it on another peer.
  using Gone = HostStatus::Gone;
  void give_back(ThreadId id, const std::string& why, Gone gone, Actions& out);
  void give_back_all(Time now, const std::string& why, Actions& out);
  void advance(Time now, Actions& out);
  // `unfinished` threads of the job were forked and have not ended: the worker refuses forks beyond its limit.
  void note_children(std::uint64_t unfinished, Actions& out);
  void start_queued(Time now, Actions& out);
  void on_fetched(std::vector<ImageFetches::Done> done, Actions& out);
  void on_image_lost(Time now, const ImageTrees::Change& change, Actions& out);

  // --- what home is told
  void send_full_status(Time now, Actions& out);

  // --- what the worker says
  Status on_want_chunk(Time now, const Hash256& hash, Actions& out);
  Status on_effects(Time now, const wire::pb::FromWorker::Effects& frame, Actions& out);
  Status on_determinants(Time now, const wire::pb::FromWorker::Determinants& frame, Actions& out);
  Status on_image(Time now, const wire::pb::FromWorker::Image& frame, const NewImage& image, Actions& out);
  Status on_failed(Time now, const wire::pb::FromWorker::Failed& frame, Actions& out);
  void fail_exhausted(const HostedThread& thread, Actions& out);
  void fail_one(const HostedThread& thread, const std::string& sentence, Actions& out);
  void fail_all(const std::string& sentence, Actions& out);

  const Config config_;
  const Environment environment_;
  const Claim claim_;
  HostedStorage storage_;
  CodeStaging code_;
  HostStatus status_;
  HostedTasks tasks_;
  ImageFetches fetches_;
  HostedThreads threads_;
  WorkerLanes lanes_;           // of the claim's slots: those that may run now
  std::uint64_t children_ = 0;  // as the worker was told
  Time full_status_at_{0};
  Time busy_at_{0};  // when something last ran, or came
};

}  // namespace gw::job
