#include "node/worker/hosted_worker.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "os/io.h"

namespace gw::node {

Result<std::unique_ptr<HostedWorker>> HostedWorker::make(boost::asio::io_context& io, std::unique_ptr<WorkerProcess> process,
                                                         std::function<void()> ready) {
  GW_TRY(WatchSet set, WatchSet::make());
  std::unique_ptr<HostedWorker> worker(new HostedWorker(io, std::move(process), std::move(set), std::move(ready)));
  const int descriptor = ::fcntl(worker->set_.fd(), F_DUPFD_CLOEXEC, 0);  // Asio closes what it is given
  if (descriptor < 0) return fail(Kind::internal, "cannot watch a worker: {}", os::reason(errno));
  worker->descriptor_.assign(descriptor);
  worker->watch();
  return worker;
}

HostedWorker::HostedWorker(boost::asio::io_context& io, std::unique_ptr<WorkerProcess> process, WatchSet set, std::function<void()> ready)
    : process_(std::move(process)), set_(std::move(set)), descriptor_(io), ready_(std::move(ready)), alive_(std::make_shared<bool>(true)) {}

HostedWorker::~HostedWorker() { *alive_ = false; }

// --- frames to it

void HostedWorker::send(wire::pb::ToWorker frame, std::vector<os::UniqueFd> beside) {
  add({.position = 0, .frame = std::move(frame), .beside = std::move(beside), .complete = true});
  flush();
}

HostedWorker::Position HostedWorker::reserve(wire::pb::ToWorker frame) { return add({.position = 0, .frame = std::move(frame)}); }

HostedWorker::Position HostedWorker::add(PendingFrame waiting) {
  if (frames_.size() >= kMaxWaiting) kill(DeathCause::broke_rules, "the worker has too much to take in and was ended");
  waiting.position = ++next_position_;
  frames_.push_back(std::move(waiting));
  return next_position_;
}

HostedWorker::PendingFrame& HostedWorker::find(Position position) {
  const auto found = std::ranges::find(frames_, position, &PendingFrame::position);
  GW_ASSERT(found != frames_.end());
  return *found;
}

void HostedWorker::complete(Position position, std::vector<os::UniqueFd> beside) {
  PendingFrame& waiting = find(position);
  waiting.beside = std::move(beside);
  waiting.complete = true;
  flush();
}

void HostedWorker::flush() {
  for (; !frames_.empty() && frames_.front().complete; frames_.pop_front()) {
    // One that is dead says so in its own time, with the reason.
    Status sent = process_->send(frames_.front().frame, std::move(frames_.front().beside));
    if (!sent && sent.error().kind != Kind::disconnected) kill(DeathCause::broke_rules, sent.error().detail);
  }
  watch();
}

// --- what comes from it

std::vector<WorkerProcess::Received> HostedWorker::take() {
  std::vector<WorkerProcess::Received> received = process_->on_turn();
  watch();
  return received;
}

void HostedWorker::kill(DeathCause cause, std::string sentence) { process_->kill(cause, std::move(sentence)); }

void HostedWorker::watch() {
  if (process_->death()) return;
  std::vector<pollfd> wanted;
  process_->add_watched(wanted);
  if (Status watched = set_.watch(wanted); !watched) process_->kill(DeathCause::engine_fault, watched.error().detail);
  if (std::exchange(waiting_, true)) return;
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, alive = alive_](const boost::system::error_code& error) {
    if (!*alive) return;
    waiting_ = false;
    const auto ready = ready_;  // it may end this worker
    if (!error) ready();
  });
}

}  // namespace gw::node
