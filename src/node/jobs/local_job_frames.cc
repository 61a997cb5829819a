// What the worker says, and what home does about it.

#include <algorithm>

#include "base/log.h"
#include "node/jobs/local_job.h"
#include "os/sealed_memory.h"

namespace gw::node {
namespace {

using job::EffectLedger;
using job::kMainThread;
using job::ThreadId;
using wire::pb::FromWorker;
using wire::pb::ToWorker;

}  // namespace

Status LocalJob::on_frame(WorkerProcess::Received received) {
  const FromWorker& message = received.frame;
  switch (message.kind_case()) {
    case FromWorker::kHello:
      return ok();
    case FromWorker::kLoaded:
      if (message.loaded().code_refused()) config_.code.replace(module_, code_kind_);
      config_.observer.on_started();
      return ok();
    case FromWorker::kEffects:
      for (const job::Effect& effect : message.effects().effects()) GW_TRY_VOID(on_effect(effect));
      return ok();
    case FromWorker::kDeterminants:
      return on_determinants(message.determinants());
    case FromWorker::kWantChunk:
      return on_want_chunk(message.want_chunk());
    case FromWorker::kWantInput:
      return on_want_input(message.want_input());
    case FromWorker::kImage:
      return on_image(message.image(), received.memory.value());
    case FromWorker::kStopped:
      result_.cpu_time += std::chrono::nanoseconds(message.stopped().cpu_time_ns());
      return ok();
    case FromWorker::kFailed:
      return fail(message.failed().guest_fault() ? Kind::guest_fault : Kind::internal, "{}", message.failed().error());
    case FromWorker::kTaskDone:
    case FromWorker::KIND_NOT_SET:
      break;
  }
  return fail(Kind::invalid, "the worker sent a frame that nobody asked for");
}

Status LocalJob::on_effect(const job::Effect& effect) {
  auto verdict = journal_ ? journal_->add_effect(effect) : memory_.accept(effect);
  if (!verdict) return verdict.error();
  const ThreadId thread{effect.thread()};
  if (*verdict == EffectLedger::Verdict::duplicate) {
    duplicates_[thread] = effect.sequence();
    return ok();
  }
  if (effect.has_file()) GW_TRY_VOID(outputs_->take(effect.file()));
  if (effect.has_fork()) {
    const ThreadId child{effect.fork().child()};
    threads_[child];
    ++result_.threads;
    config_.observer.on_forked(thread, child);
    if (stage_ == Stage::suspending) GW_TRY_VOID(send_to_thread(child, ToWorker::kSuspend));
  }
  if (effect.has_end()) note_end(effect);
  fresh_.push_back(effect);
  return ok();
}

Status LocalJob::on_determinants(const FromWorker::Determinants& frame) {
  if (frame.determinants().empty()) return ok();
  const ThreadId thread{frame.thread()};
  if (!ledger().knows(thread)) return fail(Kind::invalid, "the worker spoke for thread {}, which does not exist", frame.thread());
  if (journal_) GW_TRY_VOID(journal_->add_determinants(thread, {frame.determinants().begin(), frame.determinants().end()}));
  determinants_to_acknowledge_[thread] = frame.determinants().rbegin()->index() + 1;
  return ok();
}

Status LocalJob::on_want_chunk(const FromWorker::WantChunk& frame) {
  Hash256 hash;
  std::ranges::copy(as_bytes(frame.hash()), hash.bytes.begin());
  ToWorker answer;
  answer.mutable_chunk()->set_hash(frame.hash());
  if (auto bytes = inputs_->read_chunk(hash)) {
    answer.mutable_chunk()->set_bytes(std::string(as_text(*bytes)));
  } else {
    answer.mutable_chunk()->set_error(bytes.error().detail);
  }
  return tell(answer);
}

Status LocalJob::on_want_input(const FromWorker::WantInput& frame) {
  const ThreadId thread{frame.thread()};
  if (thread != kMainThread) return send_input(thread, {.piece = frame.piece(), .end = true});
  if (journal_) {
    const auto& recorded = journal_->inputs();
    const auto found = std::ranges::find(recorded, frame.piece(), &Journal::Input::piece);
    if (found != recorded.end()) return send_input(thread, *found);
    if (frame.piece() != next_piece_)
      return fail(Kind::invalid, "the worker asked for input {} where {} is next", frame.piece(), next_piece_);
  }
  next_piece_ = frame.piece();
  wanted_piece_ = frame.piece();
  return ok();
}

Status LocalJob::send_input(ThreadId thread, const Journal::Input& input) {
  ToWorker answer;
  answer.mutable_input()->set_thread(thread.value());
  answer.mutable_input()->set_piece(input.piece);
  answer.mutable_input()->set_bytes(input.bytes);
  answer.mutable_input()->set_end(input.end);
  return tell(answer);
}

Status LocalJob::on_image(const FromWorker::Image& frame, const os::SealedMemory& memory) {
  const ThreadId thread{frame.thread()};
  const ByteView bytes = memory.bytes();
  GW_TRY(wire::Image image, wire::Image::decode(Bytes(bytes.begin(), bytes.end())));
  if (image.content().module_hash != module_hash_) return fail(Kind::invalid, "the worker sent an image of another program");
  if (journal_) {
    GW_TRY_VOID(journal_->add_image(thread, image));
    images_to_acknowledge_[thread] = frame.id();
  }
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return ok();  // ended meanwhile, or a child whose fork is still to come
  found->second.checkpointing = false;
  if (frame.why() == FromWorker::Image::SUSPENDED) {
    found->second.suspended = std::move(image);
    return begin_suspend();  // the others too, if it stopped by itself at a poll
  }
  if (frame.why() == FromWorker::Image::CHECKPOINT && thread == kMainThread) ++result_.checkpoints;
  return ok();
}

Error LocalJob::lost_worker() const {
  const Death& death = *worker_->death();
  const bool guest = death.cause == DeathCause::guest_fault || death.cause == DeathCause::limit || death.cause == DeathCause::broke_rules;
  return fail(guest ? Kind::guest_fault : Kind::internal, "{}", death.sentence);
}

}  // namespace gw::node
