// The life of a job as seen from home: wait, handle, make stable, deliver, acknowledge.

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "node/jobs/local_job.h"
#include "os/clock.h"
#include "os/io.h"

namespace gw::node {
namespace {

using job::kMainThread;
using job::ThreadId;
using wire::pb::ToWorker;

constexpr std::size_t kInputPiece = 64u << 10;
// How long a suspended job waits for a terminal or pipe that takes no more output.
constexpr std::chrono::seconds kDrainPatience{2};
constexpr std::chrono::milliseconds kLongestWait{60'000};

}  // namespace

Result<JobOutcome> LocalJob::run() {
  GW_TRY_VOID(finish_turn());
  while (!finished()) GW_TRY_VOID(wait_and_handle());
  if (worker_) worker_->kill(DeathCause::finished, "");
  return outcome();
}

bool LocalJob::finished() const {
  if (stage_ == Stage::stopping) return true;
  const bool delivered = delivery_->empty() && fresh_.empty();
  if (threads_.empty()) return delivered;
  if (stage_ != Stage::suspending) return false;
  const bool all = std::ranges::all_of(threads_, [](const auto& entry) { return entry.second.suspended.has_value(); });
  return all && (delivered || (drain_by_ && os::monotonic_now() >= *drain_by_));
}

// Not once it is to be suspended: what is read after that would come too late for the image, and be lost.
bool LocalJob::wants_input() const {
  return stage_ == Stage::running && wanted_piece_ && !input_ended_ && (!journal_ || journal_->input_bytes() < Journal::kMaxInputBytes);
}

LocalJob::Time LocalJob::next_deadline() const {
  Time next = worker_ ? worker_->next_deadline() : Time::max();
  for (const auto& deadline : {checkpoint_at_, suspend_at_, drain_by_})
    if (deadline) next = std::min(next, *deadline);
  return next;
}

Status LocalJob::wait_and_handle() {
  std::vector<pollfd> entries{{wake_.get(), POLLIN, 0}, {wants_input() ? input() : -1, POLLIN, 0}, {delivery_->blocked_on(), POLLOUT, 0}};
  if (worker_) worker_->add_watched(entries);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_deadline() - os::monotonic_now());
  const auto timeout = std::clamp<std::int64_t>(wait.count(), 0, kLongestWait.count());
  if (::poll(entries.data(), entries.size(), static_cast<int>(timeout)) < 0 && errno != EINTR)
    return fail(Kind::internal, "waiting for the worker failed: {}", os::reason(errno));
  if (entries[0].revents != 0) GW_TRY_VOID(handle_requests());
  if (entries[1].revents != 0) GW_TRY_VOID(read_input());
  GW_TRY_VOID(hear_worker());
  GW_TRY_VOID(handle_timers());
  return finish_turn();
}

Status LocalJob::hear_worker() {
  if (!worker_) return ok();
  for (WorkerProcess::Received& received : worker_->on_turn()) {
    if (Status handled = on_frame(std::move(received)); !handled) {
      worker_->kill(DeathCause::broke_rules, handled.error().detail);
      return handled;
    }
  }
  if (!worker_->death() || finished()) return ok();
  GW_TRY_VOID(finish_turn());  // what it said before it died counts
  if (threads_.empty()) return ok();
  return lost_worker();
}

Status LocalJob::read_input() {
  std::string bytes(kInputPiece, '\0');
  const ssize_t n = ::read(input(), bytes.data(), bytes.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return ok();
  // A terminal that went away, or a closed descriptor, has no more input.
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  Journal::Input input{.piece = *wanted_piece_, .bytes = std::move(bytes), .end = n <= 0};
  input_ended_ = input.end;
  next_piece_ = input.piece + 1;
  wanted_piece_.reset();
  GW_TRY_VOID(send_input(kMainThread, input));
  last_input_ = input;
  if (journal_) journal_->add_input(std::move(input));
  return ok();
}

Status LocalJob::handle_timers() {
  const Time now = os::monotonic_now();
  if (suspend_at_ && now >= *suspend_at_) {
    suspend_at_.reset();
    GW_TRY_VOID(begin_suspend());
  }
  if (checkpoint_at_ && now >= *checkpoint_at_) {
    checkpoint_at_ = now + std::chrono::nanoseconds(spec_.checkpoint_every_ns());
    if (stage_ == Stage::running) GW_TRY_VOID(send_checkpoints());
  }
  return ok();
}

// A worker that is dead says so in its own time, with the reason.
Status LocalJob::tell(const ToWorker& frame) {
  Status sent = worker_->send(frame);
  if (!sent && sent.error().kind == Kind::disconnected) return ok();
  return sent;
}

Status LocalJob::send_to_thread(ThreadId thread, ToWorker::KindCase kind) {
  ToWorker frame;
  (kind == ToWorker::kSuspend ? frame.mutable_suspend() : frame.mutable_checkpoint())->set_thread(thread.value());
  return tell(frame);
}

Status LocalJob::send_checkpoints() {
  for (auto& [id, thread] : threads_) {
    if (thread.checkpointing) continue;
    thread.checkpointing = true;
    GW_TRY_VOID(send_to_thread(id, ToWorker::kCheckpoint));
  }
  return ok();
}

Status LocalJob::begin_suspend() {
  if (stage_ != Stage::running) return ok();
  stage_ = Stage::suspending;
  for (const auto& [id, thread] : threads_)
    if (!thread.suspended) GW_TRY_VOID(send_to_thread(id, ToWorker::kSuspend));
  return ok();
}

// The end of a turn: what came in is made stable, then it shows, then the worker hears of it.
Status LocalJob::finish_turn() {
  if (journal_) {
    GW_TRY_VOID(journal_->commit());
    if (!images_to_acknowledge_.empty()) config_.observer.on_checkpoint({result_.checkpoints, journal_->file_bytes()});
  }
  if (main_end_ && !std::exchange(outputs_placed_, true)) GW_TRY_VOID(outputs_->place());
  for (job::Effect& effect : fresh_) delivery_->add(std::move(effect));
  fresh_.clear();
  GW_TRY_VOID(delivery_->advance());
  if (delivery_->broken()) result_.output_lost = true;
  const bool stopped =
      stage_ == Stage::suspending && std::ranges::all_of(threads_, [](const auto& entry) { return entry.second.suspended.has_value(); });
  if (stopped && !drain_by_) drain_by_ = os::monotonic_now() + kDrainPatience;
  return acknowledge();
}

Status LocalJob::acknowledge() {
  if (!worker_) return ok();
  auto stored = std::exchange(duplicates_, {});
  for (const auto& [thread, sequence] : delivery_->take_delivered()) {
    delivered_[thread] = sequence;
    stored[thread] = std::max(stored[thread], sequence);
  }
  for (const auto& [thread, sequence] : stored) {
    if (!threads_.contains(thread)) continue;  // it has ended and waits for nothing
    ToWorker frame;
    frame.mutable_stored()->set_thread(thread.value());
    frame.mutable_stored()->set_sequence(sequence);
    GW_TRY_VOID(tell(frame));
  }
  for (const auto& [thread, count] : std::exchange(determinants_to_acknowledge_, {})) {
    ToWorker frame;
    frame.mutable_determinants_stable()->set_thread(thread.value());
    frame.mutable_determinants_stable()->set_count(count);
    GW_TRY_VOID(tell(frame));
  }
  for (auto& [thread, id] : std::exchange(images_to_acknowledge_, {})) {
    ToWorker frame;
    frame.mutable_image_stable()->set_thread(thread.value());
    frame.mutable_image_stable()->set_image(id);
    GW_TRY_VOID(tell(frame));
  }
  return ok();
}

Result<JobOutcome> LocalJob::outcome() {
  if (stage_ == Stage::stopping) {
    result_.how = JobStopped{};
  } else if (threads_.empty()) {
    if (!main_end_) return fail(Kind::internal, "the job ended without a word from its main thread");
    result_.how = JobEnded{main_end_->end(), failed_children_};
  } else {
    GW_TRY(result_.how, write_suspended());
  }
  return result_;
}

}  // namespace gw::node
