#include "node/worker/hosted_worker.h"

#include <algorithm>

namespace gw::node {

Result<std::unique_ptr<HostedWorker>> HostedWorker::make(EventLoop& loop, std::unique_ptr<WorkerProcess> process,
                                                         std::function<void()> ready) {
  GW_TRY(WatchSet set, WatchSet::make());
  std::unique_ptr<HostedWorker> worker(new HostedWorker(std::move(process), std::move(set)));
  GW_TRY(worker->watch_, loop.watch(worker->set_.fd(), std::move(ready)));
  worker->update_watched();
  return worker;
}

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

void HostedWorker::complete(Position position, std::vector<Outgoing> frames) {
  const auto found = std::ranges::find(frames_, position, &PendingFrame::position);
  GW_ASSERT(found != frames_.end() && !frames.empty());
  std::vector<PendingFrame> complete;
  for (Outgoing& one : frames) complete.push_back({position, std::move(one.frame), std::move(one.beside), true});
  const auto behind = frames_.erase(found);
  frames_.insert(behind, std::make_move_iterator(complete.begin()), std::make_move_iterator(complete.end()));
  flush();
}

void HostedWorker::withdraw(Position position) {
  std::erase_if(frames_, [&](const PendingFrame& frame) { return frame.position == position; });
  flush();
}

void HostedWorker::flush() {
  for (; !frames_.empty() && frames_.front().complete; frames_.pop_front()) {
    // A send to a dead worker needs no report: the death is reported with its reason when the process is read.
    Status sent = process_->send(frames_.front().frame, std::move(frames_.front().beside));
    if (!sent && sent.error().kind != Kind::disconnected) kill(DeathCause::broke_rules, sent.error().detail);
  }
  update_watched();
}

// --- what comes from it

std::vector<WorkerProcess::Received> HostedWorker::take() {
  std::vector<WorkerProcess::Received> received = process_->on_turn();
  update_watched();
  return received;
}

void HostedWorker::set_reading(bool reading) {
  if (process_->reading() == reading) return;
  process_->set_reading(reading);
  update_watched();
}

void HostedWorker::kill(DeathCause cause, std::string sentence) { process_->kill(cause, std::move(sentence)); }

void HostedWorker::update_watched() {
  if (process_->death()) return watch_.reset();
  std::vector<pollfd> wanted;
  process_->add_watched(wanted);
  if (Status watched = set_.watch(wanted); !watched) process_->kill(DeathCause::engine_fault, watched.error().detail);
}

}  // namespace gw::node
