#pragma once
// A worker process as the node's loop drives it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "job/names.h"
#include "node/worker/watch_set.h"
#include "node/worker/worker_process.h"

namespace gw::node {

// One worker of one job: watches its process for the loop, and keeps the order of the frames to it while what goes beside some of them is
// still being put together.
//
// `ready` is called on the node thread when take() is worth calling; it is never called from inside a call, nor after the object has gone.
// Limits: kMaxWaiting frames wait; the worker is killed if there are more. Belongs to the node thread, which must have started the process.
class HostedWorker {
 public:
  static constexpr std::size_t kMaxWaiting = 1u << 16;

  static Result<std::unique_ptr<HostedWorker>> make(boost::asio::io_context& io, std::unique_ptr<WorkerProcess> process,
                                                    std::function<void()> ready);
  ~HostedWorker();

  // A frame that can go, after those before it.
  void send(wire::pb::ToWorker frame, std::vector<os::UniqueFd> beside);
  // A frame that cannot go yet; complete() says what goes beside it.
  using Position = std::uint64_t;
  Position reserve(wire::pb::ToWorker frame);
  void complete(Position position, std::vector<os::UniqueFd> beside);
  // The frame of this name, to be changed before it is completed.
  wire::pb::ToWorker& reserved(Position position) { return find(position).frame; }

  // Everything that has come. Afterwards death() may be set; nothing comes any more then.
  std::vector<WorkerProcess::Received> take();
  const std::optional<Death>& death() const { return process_->death(); }
  void kill(DeathCause cause, std::string sentence);
  WorkerProcess::Time next_deadline() const { return process_->next_deadline(); }
  pid_t pid() const { return process_->pid(); }
  void hold(const WorkerShare& share) { process_->hold(share); }
  std::uint64_t resident_bytes() const { return process_->resident_bytes(); }

 private:
  struct PendingFrame {
    Position position;
    wire::pb::ToWorker frame;
    std::vector<os::UniqueFd> beside;
    bool complete = false;
  };

  HostedWorker(boost::asio::io_context& io, std::unique_ptr<WorkerProcess> process, WatchSet set, std::function<void()> ready);
  PendingFrame& find(Position position);
  Position add(PendingFrame waiting);
  void flush();
  void watch();

  std::unique_ptr<WorkerProcess> process_;
  WatchSet set_;
  boost::asio::posix::stream_descriptor descriptor_;  // a second one of set_
  std::function<void()> ready_;
  std::shared_ptr<bool> alive_;  // shared with the handler that waits: it must not touch what has gone
  bool waiting_ = false;
  std::deque<PendingFrame> frames_;
  Position next_position_ = 0;
};

}  // namespace gw::node
