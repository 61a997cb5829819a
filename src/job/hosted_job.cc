// A hosted job and its home.

#include "job/hosted_job.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr std::size_t kEffectsPerMessage = 1u << 20;  // bytes, unless one is larger

}  // namespace

void HostedJob::begin(Time now, Actions& out) {
  tick_at_ = now;
  staged_.push_back(claim_.manifest);
  if (!environment_.blobs.want(now, claim_.manifest, claim_.job, claim_.home, out)) staged_.pop_back();
  on_blob_here(now, out);
}

void HostedJob::close(Actions& out) {
  if (worker_) out.add(KillWorker{*worker_});
  while (!threads_.empty()) remove(threads_.begin(), out);
  for (const Hash256& hash : staged_) environment_.blobs.release(hash, out);
}

HostedJob::Thread* HostedJob::find(std::uint64_t thread, std::uint64_t epoch) {
  const auto found = threads_.find(ThreadId{thread});
  return found == threads_.end() || found->second.epoch != epoch ? nullptr : &found->second;
}

// The thread that the worker speaks for; nullptr if it has left meanwhile. Kind::invalid if it never was the worker's.
Result<HostedJob::Thread*> HostedJob::speaker(std::uint64_t id, std::uint64_t epoch) {
  Thread* thread = find(id, epoch);
  if (thread != nullptr && thread->stage == Stage::running) return thread;
  const auto left = departed_epoch_.find(ThreadId{id});
  if (left != departed_epoch_.end() && left->second >= epoch) return nullptr;
  return fail(Kind::invalid, "the worker spoke for thread {} in epoch {}, which it was not given", id, epoch);
}

void HostedJob::remove(std::map<ThreadId, Thread>::iterator thread, Actions& out) {
  Thread& gone = thread->second;
  if (gone.stage == Stage::running) {
    if (departed_epoch_.size() >= config_.remembered) departed_epoch_.erase(departed_epoch_.begin());
    departed_epoch_[thread->first] = gone.epoch;
  }
  for (std::optional<ImageRef>* image : {&gone.initial, &gone.stable, &gone.replicating, &gone.queued}) release(*image, out);
  threads_.erase(thread);
}

JobMessage::StartState HostedJob::start_state_of(const Thread& thread) {
  if (thread.stage == Stage::queued) return JobMessage::QUEUED;
  if (thread.stage != Stage::running) return JobMessage::NOT_YET;
  return thread.restored ? JobMessage::IMAGE : JobMessage::BEGINNING;
}

void HostedJob::drop_from_worker(ThreadId id, const Thread& thread, Actions& out) {
  if (thread.stage != Stage::running) return;
  wire::pb::ToWorker frame;
  frame.mutable_drop()->set_thread(id.value());
  tell(std::move(frame), {}, out);
}

void HostedJob::tell(wire::pb::ToWorker frame, std::vector<Attachment> beside, Actions& out) {
  if (worker_) out.add(FrameToWorker{*worker_, std::move(frame), std::move(beside)});
}

void HostedJob::send_status(Time now, Actions& out, const JobMessage::Status::Held* gone) {
  status_at_ = now + config_.status_every;
  JobMessage message;
  JobMessage::Status& status = *message.mutable_status();
  status.set_claim(claim_.claim);
  status.set_number(++status_);
  status.set_failure(failure_);
  status.set_slots(claim_.slots);
  for (const auto& [id, thread] : threads_) {
    JobMessage::Status::Held& held = *status.add_held();
    held.set_thread(id.value());
    held.set_epoch(thread.epoch);
    held.set_start_state(start_state_of(thread));
    held.set_keeper_stalled(is_stalled(now, thread));
  }
  if (gone != nullptr) *status.add_held() = *gone;
  status.set_progress(progress_);
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostedJob::on_assign(Time now, const JobMessage::Assign& assign, Actions& out) {
  const ThreadId id{assign.thread()};
  if (const auto found = threads_.find(id); found != threads_.end()) {
    if (found->second.epoch >= assign.epoch()) return send_status(now, out);
    GW_REACHED("host: a thread was assigned again in a new epoch");
    drop_from_worker(id, found->second, out);
    remove(found, out);
  }
  // An epoch is lived once: what comes late or twice after its worker died does not begin it again.
  if (const auto last = highest_epoch_.find(id); last != highest_epoch_.end() && assign.epoch() <= last->second)
    return refuse_assignment(now, assign, out);
  if (threads_.size() >= config_.threads || (highest_epoch_.size() >= config_.begun && !highest_epoch_.contains(id)))
    return refuse_assignment(now, assign, out);
  highest_epoch_[id] = assign.epoch();
  Thread& thread = threads_[id];
  thread.epoch = assign.epoch();
  thread.task = assign.task();
  thread.stored_before = assign.stored();
  thread.stored = assign.stored();
  thread.forked = assign.forked();
  thread.sent = assign.stored();
  thread.keeper = {.peer = PeerId::from(assign.keeper()), .keeper_generation = assign.keeper_generation(), .grant = assign.grant()};
  thread.stage = assign.restore() ? Stage::asking : Stage::queued;
  thread.resend_at = now;
  failure_.clear();
  send_status(now, out);
  if (thread.stage == Stage::asking) ask_image(now, id, thread, out);
  advance_code(now, out);
  start_queued(now, out);
}

void HostedJob::refuse_assignment(Time now, const JobMessage::Assign& assign, Actions& out) {
  JobMessage::Status::Held gone;
  gone.set_thread(assign.thread());
  gone.set_epoch(assign.epoch());
  gone.set_start_state(JobMessage::GONE);
  send_status(now, out, &gone);
}

bool HostedJob::is_stalled(Time now, const Thread& thread) const {
  return thread.stage == Stage::running && thread.keeper.waits_since != kNever && now - thread.keeper.waits_since > config_.keeper_patience;
}

void HostedJob::on_drop(Time now, const JobMessage::ThreadName& name, Actions& out) {
  const auto found = threads_.find(ThreadId{name.thread()});
  if (found == threads_.end() || found->second.epoch > name.epoch()) return;
  GW_REACHED("host: a thread was dropped");
  drop_from_worker(found->first, found->second, out);
  remove(found, out);
  start_queued(now, out);
}

void HostedJob::on_stored(Time now, const JobMessage::Stored& stored, Actions& out) {
  Thread* thread = find(stored.thread(), stored.epoch());
  if (thread == nullptr || thread->unstored.empty() || thread->unstored.front().sequence() > stored.sequence()) return;
  bool ended = false;
  std::uint64_t last = 0;
  while (!thread->unstored.empty() && thread->unstored.front().sequence() <= stored.sequence()) {
    ended = thread->unstored.front().has_end();
    last = thread->unstored.front().sequence();
    thread->unstored.pop_front();
  }
  thread->sent = std::max(thread->sent, last);
  thread->stored = std::max(thread->stored, stored.sequence());
  wire::pb::ToWorker frame;
  frame.mutable_stored()->set_thread(stored.thread());
  frame.mutable_stored()->set_sequence(last);
  tell(std::move(frame), {}, out);
  if (!ended) return send_effects(now, ThreadId{stored.thread()}, *thread, out);
  remove(threads_.find(ThreadId{stored.thread()}), out);
  start_queued(now, out);
}

// What has not been sent yet, as much as one message takes.
void HostedJob::send_effects(Time now, ThreadId id, Thread& thread, Actions& out) {
  JobMessage message;
  JobMessage::Effects& effects = *message.mutable_effects();
  std::size_t bytes = 0;
  for (const Effect& effect : thread.unstored) {
    if (effect.sequence() <= thread.sent) continue;
    const auto born = effect.has_fork() ? threads_.find(ThreadId{effect.fork().child()}) : threads_.end();
    // Home may hear of a child only when it can be found again.
    if (born != threads_.end() && !born->second.stable) break;
    bytes += effect.ByteSizeLong();
    if (effects.effects_size() > 0 && bytes > kEffectsPerMessage) break;
    *effects.add_effects() = effect;
    thread.sent = effect.sequence();
    if (born == threads_.end()) continue;  // no fork, or home knows the child
    JobMessage::Effects::Child& child = *effects.add_children();
    child.set_thread(effect.fork().child());
    child.set_keeper(born->second.keeper.peer.bytes());
    child.set_keeper_generation(born->second.keeper.keeper_generation);
  }
  thread.resend_at = now + config_.retry;
  if (effects.effects().empty()) return;
  effects.set_thread(id.value());
  effects.set_epoch(thread.epoch);
  effects.set_status(status_);
  effects.set_start_state(start_state_of(thread));
  effects.set_determinants(thread.recorded());
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostedJob::on_tick(Time now, Actions& out) {
  if (now < tick_at_) return;
  tick_at_ = now + config_.retry / 2;
  if (now >= status_at_) send_status(now, out);
  for (auto& [id, thread] : threads_) {
    if (thread.stage == Stage::asking && now >= thread.resend_at) ask_image(now, id, thread, out);
    if (thread.stage != Stage::running) continue;
    if (!thread.unstored.empty() && now >= thread.resend_at && !GW_BUG(6)) {
      GW_REACHED("host: effects were repeated");
      thread.sent = thread.unstored.front().sequence() - 1;
      send_effects(now, id, thread, out);
    }
    if (thread.wanted_input && now >= thread.ask_input_at) ask_input(now, id, thread, out);
    sync(now, id, thread, out);
    maybe_checkpoint(now, id, thread, out);
    if (thread.checkpoint_at > now) wake_by(thread.checkpoint_at);
  }
}

std::vector<HostedJob::Running> HostedJob::running() const {
  std::vector<Running> list;
  for (const auto& [id, thread] : threads_)
    if (thread.stage == Stage::running) list.push_back({id, thread.epoch});
  return list;
}

std::size_t HostedJob::roots_running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(threads_, [](const auto& entry) { return entry.second.stage == Stage::running && !entry.second.child; }));
}

}  // namespace gw::job
