#include "job/host/hosted_threads.h"

#include <algorithm>

namespace gw::job {

HostedThread* HostedThreads::find(ThreadId id) {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

HostedThread* HostedThreads::find(std::uint64_t thread, std::uint64_t epoch) {
  HostedThread* found = find(ThreadId{thread});
  return found == nullptr || found->epoch() != epoch ? nullptr : found;
}

Result<HostedThread*> HostedThreads::thread_of_worker(std::uint64_t id, std::uint64_t epoch) {
  HostedThread* thread = find(id, epoch);
  if (thread != nullptr && thread->running() != nullptr) return thread;
  const auto known = highest_epoch_.find(ThreadId{id});
  if (thread == nullptr && known != highest_epoch_.end() && epoch <= known->second) return nullptr;
  return fail(Kind::invalid, "the worker spoke for thread {} in epoch {}, which it was not given", id, epoch);
}

std::vector<ThreadId> HostedThreads::that_need(const Hash256& root) const {
  std::vector<ThreadId> need;
  for (const auto& [id, thread] : threads_)
    if (thread.needs(root)) need.push_back(id);
  return need;
}

bool HostedThreads::may_add(ThreadId id, std::uint64_t epoch) const {
  const auto last = highest_epoch_.find(id);
  if (threads_.size() >= config_.threads) return false;
  return last == highest_epoch_.end() ? highest_epoch_.size() < config_.begun : epoch > last->second;
}

HostedThread& HostedThreads::add(const HostedThread::Environment& environment, const JobMessage::Assign& assign, Time now) {
  const ThreadId id{assign.thread()};
  highest_epoch_[id] = assign.epoch();
  return threads_.try_emplace(id, environment, assign, now).first->second;
}

void HostedThreads::remove(ThreadId id, Actions& out) {
  const auto found = threads_.find(id);
  HostedThread& thread = found->second;
  if (thread.running() != nullptr) --slots_used_;
  thread.close(out);
  deadlines_.remove(id);
  queued_.erase(id);
  parked_.erase(id);
  waited_.erase(id);
  std::erase_if(saving_, [&](const auto& entry) { return entry.second == id; });
  threads_.erase(found);
  if (const auto charged = charged_.extract(id); !charged.empty()) environment_.storage.remove(charged.mapped());
}

void HostedThreads::drop_from_worker(const HostedThread& thread, Actions& out) {
  if (thread.running() == nullptr) return;
  wire::pb::ToWorker frame;
  frame.mutable_drop()->set_thread(thread.id().value());
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedThreads::start(HostedThread& thread, Time now, const std::optional<wire::pb::ThreadConfig>& config, Actions& out) {
  ++slots_used_;
  thread.start(now, config, out);
  refresh(thread);
}

void HostedThreads::adopt(HostedThread& thread, Time now, Actions& out) {
  ++slots_used_;
  thread.adopt(now, out);
}

void HostedThreads::refresh(HostedThread& thread) {
  deadlines_.set(thread.id(), thread.due());
  if (thread.parked()) {
    parked_.insert(thread.id());
    waited_.insert(thread.id());
  } else {
    parked_.erase(thread.id());
  }
  if (thread.queued()) {
    queued_.insert(thread.id());
  } else {
    queued_.erase(thread.id());
  }
}

HostedThread* HostedThreads::take_due(Time now) {
  const auto id = deadlines_.take_due(now);
  return id ? &threads_.at(*id) : nullptr;
}

Status HostedThreads::charge(const HostedThread& thread) {
  StoredForOthers& charged = charged_[thread.id()];
  const StoredForOthers now = thread.stored();
  GW_TRY_VOID(environment_.storage.change(charged, now));
  charged = now;
  return ok();
}

void HostedThreads::set_saving(const Hash256& root, ThreadId id) {
  // The map stays small: it has only the images that the disk has not confirmed.
  std::erase_if(saving_, [&](const auto& entry) { return !environment_.images.holds({environment_.job, entry.first}); });
  if (!environment_.images.complete({environment_.job, root})) saving_.insert_or_assign(root, id);
}

HostedThread* HostedThreads::take_saved(const Hash256& root) {
  const auto saved = saving_.extract(root);
  return saved.empty() ? nullptr : &threads_.at(saved.mapped());
}

}  // namespace gw::job
