#pragma once
// The workers of a peer, by the names it has given them.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/images/new_image.h"
#include "node/worker/hosted_worker.h"
#include "node/worker/native_code.h"
#include "node/worker/worker_pool.h"
#include "peer/peer.h"

namespace gw::node {

// Starts the workers a peer asks for, sends them its frames with the attachments (modules with their compiled code, images), and delivers
// their frames and their deaths. Decides nothing.
//
// Images are decoded and hashed on another thread. Frames that follow an image wait until it is checked, so that their order stays; the
// gates bound how many they are. From a worker whose gates do not wait nothing is read beyond kMaxReceived frames or kMaxReceivedBytes.
//
// The owner is told from the loop, never from inside a call of start(), kill() or send(); it may call all of them when it is told.
// Belongs to the loop's thread. Limits: those of HostedWorker; the peer limits how many workers there are.
class WorkerTable {
 public:
  class Owner {
   public:
    virtual void on_worker(job::WorkerId worker, peer::WorkerFrame frame) = 0;
    // A thread that was to be restored is not in the worker: its image could not be read.
    virtual void on_restore_failed(job::WorkerId worker, const peer::RestoreFailed& failed) = 0;
    // Part of what a frame to the worker needs beside it was read, or all of it has gone to the worker.
    virtual void on_worker_progress(job::WorkerId worker) = 0;
    // The worker is gone; everything it said before has been told.
    virtual void on_worker_lost(job::WorkerId worker, const Death& death) = 0;
    // Everything that came with one wake-up has been told; next_deadline() may have changed.
    virtual void on_worker_wakeup() = 0;

   protected:
    ~Owner() = default;
  };
  struct Config {
    WorkerProcess::Config process;
    std::size_t spares = 1;                                  // workers started ahead of time
    isolate::CodeKind code_kind = isolate::CodeKind::start;  // that modules are loaded with
  };
  // References outlive it.
  struct Parts {
    EventLoop& loop;
    const NativeCode& code;
    Owner& owner;
  };

  WorkerTable(Parts parts, const Config& config);
  ~WorkerTable();

  // Starts the spares that are missing.
  Status refill() { return pool_.refill(); }
  void start(const job::StartWorker& start, const WorkerShare& share);
  void kill(job::WorkerId worker) { workers_.erase(worker); }
  void pause(const job::PauseWorker& pause);
  void send(job::FrameToWorker frame);
  void end_all() { workers_.clear(); }

  // Enforces the shares of the workers' jobs from now on. Returns the jobs whose workers use more memory than their share: these workers
  // keep their old one.
  std::vector<job::JobId> hold(const std::function<WorkerShare(const job::JobId&)>& share_of);

  job::Time next_deadline() const;
  void on_deadline(job::Time now);

  std::size_t size() const { return workers_.size(); }
  // Of the job's worker; none: it has none.
  struct Use {
    std::uint64_t resident_bytes = 0;
    std::chrono::nanoseconds cpu_time{0};
  };
  Use use_of(const job::JobId& job) const;
  std::chrono::nanoseconds cpu_time() const;  // of all that run
  // Priority of workers that start from now on.
  void set_nice(std::uint32_t nice) { pool_.set_nice(nice); }

 private:
  struct Worker {
    std::unique_ptr<HostedWorker> process;
    job::JobId job;
    std::uint64_t memory_share;                         // no attachment may be larger
    std::shared_ptr<const os::SealedMemory> module;     // shared with what is being done about its code on another thread
    std::deque<WorkerProcess::Received> received = {};  // wait until the image before them is checked
    std::size_t received_bytes = 0;                     // in their frames
    bool checking = false;
    bool has_code = false;  // the worker was given compiled code with its module
    // False: the worker is gone. Shared with what is put together for it on another thread.
    std::shared_ptr<std::atomic<bool>> needed = std::make_shared<std::atomic<bool>>(true);

    Worker(std::unique_ptr<HostedWorker> hosted, const job::JobId& of, std::uint64_t memory)
        : process(std::move(hosted)), job(of), memory_share(memory) {}
    Worker(const Worker&) = delete;
    ~Worker() { *needed = false; }
  };
  static constexpr std::size_t kMaxReceived = 1024;
  static constexpr std::size_t kMaxReceivedBytes = 32u << 20;

  void on_ready(job::WorkerId id);
  void on_lost(job::WorkerId id, const Death& death);
  void on_attachments(job::WorkerId id, HostedWorker::Position position, Result<std::vector<os::SealedMemory>> memories);
  Status restore(HostedWorker& worker, HostedWorker::Position position, const std::vector<os::SealedMemory>& memories);
  void check(job::WorkerId id, WorkerProcess::Received received);
  void on_checked(job::WorkerId id, wire::pb::FromWorker frame, Result<job::NewImage> image);
  void drain(job::WorkerId id);
  static void bound_received(Worker& worker);
  void after_loaded(Worker& worker, const wire::pb::FromWorker::Loaded& loaded);
  void drop_code(Worker& worker);
  void post(std::function<void()> callback);

  EventLoop& loop_;
  const NativeCode& code_;
  Owner& owner_;
  const isolate::CodeKind code_kind_;
  WorkerPool pool_;
  std::map<job::WorkerId, Worker> workers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with callbacks
};

}  // namespace gw::node
