#pragma once
// A worker process as the loop of its parent drives it.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "job/names.h"
#include "node/worker/event_loop.h"
#include "node/worker/watch_set.h"
#include "node/worker/worker_process.h"

namespace gw::node {

// A worker of one job: watches its process for the loop, and keeps the frames to it in order while the attachments of some of them are
// still being put together.
//
// `ready` is called by the loop when take() is worth calling; it is never called from inside a call, nor after the object has gone. Limits:
// kMaxWaiting frames wait; the worker is killed if there are more. Belongs to the loop's thread, which must have started the process.
class HostedWorker {
 public:
  static constexpr std::size_t kMaxWaiting = 1u << 16;

  static Result<std::unique_ptr<HostedWorker>> make(EventLoop& loop, std::unique_ptr<WorkerProcess> process, std::function<void()> ready);

  struct Outgoing {
    wire::pb::ToWorker frame;
    std::vector<os::UniqueFd> beside;
  };

  // A frame that can go, after those before it.
  void send(wire::pb::ToWorker frame, std::vector<os::UniqueFd> beside);
  // A frame that cannot go yet; complete() says what goes beside it.
  using Position = std::uint64_t;
  Position reserve(wire::pb::ToWorker frame);
  void complete(Position position, std::vector<os::UniqueFd> beside);
  // Sends the reserved frame as several frames, one after the other. REQUIRES: there is one.
  void complete(Position position, std::vector<Outgoing> frames);
  // Drops the reserved frame.
  void withdraw(Position position);
  // The frame of this name, to be changed before it is completed.
  wire::pb::ToWorker& reserved(Position position) { return find(position).frame; }

  // Everything that has come. Afterwards death() may be set; nothing comes any more then.
  std::vector<WorkerProcess::Received> take();
  // Whether more is taken; false while what has come has to wait.
  void set_reading(bool reading);
  const std::optional<Death>& death() const { return process_->death(); }
  void kill(DeathCause cause, std::string sentence);
  WorkerProcess::Time next_deadline() const { return process_->next_deadline(); }
  pid_t pid() const { return process_->pid(); }
  void hold(const WorkerShare& share) { process_->hold(share); }
  void set_paused(bool paused) { process_->set_paused(paused); }
  std::uint64_t resident_bytes() const { return process_->resident_bytes(); }
  std::chrono::nanoseconds cpu_time() const { return process_->cpu_time(); }

 private:
  struct PendingFrame {
    Position position;
    wire::pb::ToWorker frame;
    std::vector<os::UniqueFd> beside = {};
    bool complete = false;
  };

  HostedWorker(std::unique_ptr<WorkerProcess> process, WatchSet set) : process_(std::move(process)), set_(std::move(set)) {}
  PendingFrame& find(Position position);
  Position add(PendingFrame waiting);
  void flush();
  void update_watched();

  std::unique_ptr<WorkerProcess> process_;
  WatchSet set_;
  std::unique_ptr<EventLoop::Watch> watch_;  // of set_
  std::deque<PendingFrame> frames_;
  Position next_position_ = 0;
};

}  // namespace gw::node
