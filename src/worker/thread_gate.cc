#include "worker/thread_gate.h"

#include <algorithm>

namespace gw::worker {
namespace {

using isolate::Outlet;

constexpr std::size_t kOutputPiece = 64u << 10;
constexpr std::size_t kEffectBytesPerFrame = 512u << 10;  // one effect may have 1 MiB more
constexpr std::size_t kDeterminantsPerFrame = 16384;
constexpr std::size_t kMaxUnstableImages = 64;  // older ones are forgotten: a later one covers them

job::Determinant::Kind wire_kind(isolate::DeterminantKind kind) { return static_cast<job::Determinant::Kind>(kind); }

// REQUIRES: it is one of effects.
const job::Stream& stream_of(Outlet outlet) {
  if (outlet == Outlet::mail) return job::kMailStream;
  return outlet == Outlet::log ? job::kLogStream : job::kHomeStream;
}

}  // namespace

bool ThreadGate::has_room_locked(Outlet outlet) const {
  if (abandoned_) return true;
  if (outlet == Outlet::mail && state_ == State::closed) return false;  // only a thread sends messages: the task becomes one
  return outlet == Outlet::determinants ? !gate_.determinants_full() : !gate_.full(stream_of(outlet));
}

bool ThreadGate::has_room(Outlet outlet) const {
  std::lock_guard lock(mutex_);
  return has_room_locked(outlet);
}

bool ThreadGate::is_roomy(Outlet outlet) const {
  std::lock_guard lock(mutex_);
  if (outlet == Outlet::mail && state_ == State::closed) return abandoned_;
  return abandoned_ || (outlet == Outlet::determinants ? gate_.determinants_roomy() : gate_.roomy(stream_of(outlet)));
}

void ThreadGate::wait_for_room(Outlet outlet, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return has_room_locked(outlet); });
}

void ThreadGate::emit(job::Effect effect) {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_) return;
    gate_.emit(std::move(effect));
    if (state_ == State::closed) return;
  }
  outgoing_.wake();
}

std::uint64_t ThreadGate::next_spawn() const {
  std::lock_guard lock(mutex_);
  return gate_.next_sequence(job::kLogStream);
}

job::ThreadId ThreadGate::next_child() const {
  std::lock_guard lock(mutex_);
  return job::child_of(gate_.thread(), gate_.next_sequence(job::kLogStream));
}

job::EffectGate ThreadGate::fork(job::ThreadId child) const {
  std::lock_guard lock(mutex_);
  return gate_.fork(child);
}

std::uint64_t ThreadGate::spawns() const {
  std::lock_guard lock(mutex_);
  return gate_.spawns();
}

bool ThreadGate::fork_was_refused() const {
  std::lock_guard lock(mutex_);
  return gate_.fork_was_refused();
}

void ThreadGate::emit_output(std::uint32_t descriptor, ByteView bytes) {
  while (!bytes.empty()) {
    const ByteView piece = bytes.first(std::min(bytes.size(), kOutputPiece));
    job::Effect effect;
    effect.mutable_output()->set_descriptor(descriptor);
    effect.mutable_output()->set_bytes(piece.data(), piece.size());
    emit(std::move(effect));
    bytes = bytes.subspan(piece.size());
  }
}

void ThreadGate::send(std::uint64_t to, std::uint64_t tag, ByteView bytes) {
  job::Effect effect;
  job::Effect::Message& message = *effect.mutable_message();
  message.set_to(to);
  message.set_tag(tag);
  message.set_bytes(bytes.data(), bytes.size());
  message.set_spawns(next_spawn() - 1);
  emit(std::move(effect));
}

void ThreadGate::watch(std::uint64_t thread) {
  job::Effect effect;
  effect.mutable_watch()->set_thread(thread);
  effect.mutable_watch()->set_spawns(next_spawn() - 1);
  emit(std::move(effect));
}

Result<std::optional<std::uint64_t>> ThreadGate::recorded(isolate::DeterminantKind kind, std::uint32_t what) {
  std::lock_guard lock(mutex_);
  return gate_.recorded(wire_kind(kind), what);
}

Status ThreadGate::given(isolate::DeterminantKind kind, std::uint32_t what, std::uint64_t value) {
  if (recording_ == Recording::off) return ok();
  Status status = ok();
  {
    std::lock_guard lock(mutex_);
    status = gate_.given(wire_kind(kind), what, value);
    if (state_ == State::closed) return status;
  }
  outgoing_.wake();
  return status;
}

std::uint64_t ThreadGate::mail() const {
  std::lock_guard lock(mutex_);
  return gate_.mail();
}

void ThreadGate::on_mail_taken() {
  std::lock_guard lock(mutex_);
  gate_.on_mail_taken();
}

std::uint64_t ThreadGate::input_pieces() const {
  std::lock_guard lock(mutex_);
  return gate_.input_pieces();
}

void ThreadGate::on_input_taken(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  gate_.on_input_taken(bytes);
}

Bytes ThreadGate::save() const {
  std::lock_guard lock(mutex_);
  return gate_.save();
}

void ThreadGate::on_saved(const Hash256& image) {
  std::lock_guard lock(mutex_);
  if (images_.size() >= kMaxUnstableImages)
    images_.erase(std::ranges::min_element(images_, {}, [](const auto& entry) { return entry.second; }));
  images_[image] = gate_.next_determinant();
}

void ThreadGate::restart(job::EffectGate gate) {
  std::lock_guard lock(mutex_);
  GW_ASSERT(state_ == State::closed && gate.epoch() == epoch_);
  gate_ = std::move(gate);
  images_.clear();
  abandoned_ = false;
}

std::vector<job::Effect> ThreadGate::take_all() {
  std::lock_guard lock(mutex_);
  GW_ASSERT(state_ == State::closed);
  // A task that has ended is never replayed, so no effect waits for a determinant.
  GW_ASSERT(gate_.on_determinants_stable(gate_.next_determinant()).has_value());
  return gate_.take_sendable(SIZE_MAX);
}

job::ThreadId ThreadGate::thread() const {
  std::lock_guard lock(mutex_);
  return gate_.thread();
}

bool ThreadGate::closed() const {
  std::lock_guard lock(mutex_);
  return state_ == State::closed;
}

void ThreadGate::open() {
  {
    std::lock_guard lock(mutex_);
    state_ = State::open;
  }
  outgoing_.wake();
}

void ThreadGate::abandon() {
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_all();
}

std::vector<wire::pb::FromWorker> ThreadGate::take_frames() {
  std::lock_guard lock(mutex_);
  return take_frames_locked();
}

ThreadGate::InOrder ThreadGate::take_in_order() {
  // Nothing is emitted meanwhile, so whatever was put into the queue before an effect that is taken here is taken, too.
  std::lock_guard lock(mutex_);
  return {outgoing_.take_queued(), take_frames_locked()};
}

std::vector<wire::pb::FromWorker> ThreadGate::take_frames_locked() {
  std::vector<wire::pb::FromWorker> frames;
  if (state_ == State::closed) return frames;
  const std::vector<job::Determinant> determinants = gate_.take_new_determinants();
  for (std::size_t i = 0; i < determinants.size(); i++) {
    if (i % kDeterminantsPerFrame == 0) {
      frames.emplace_back().mutable_determinants()->set_thread(gate_.thread().value());
      frames.back().mutable_determinants()->set_epoch(epoch_);
    }
    *frames.back().mutable_determinants()->add_determinants() = determinants[i];
  }
  for (;;) {
    std::vector<job::Effect> effects = gate_.take_sendable(kEffectBytesPerFrame);
    if (effects.empty()) return frames;
    auto& list = *frames.emplace_back().mutable_effects();
    for (job::Effect& effect : effects) *list.add_effects() = std::move(effect);
  }
}

Status ThreadGate::on_stored(const job::StreamMarks& marks) {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  for (const auto& [stream, sequence] : marks) GW_TRY_VOID(gate_.on_stored(stream, sequence));
  return ok();
}

Status ThreadGate::on_determinants_stable(std::uint64_t count) {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  return gate_.on_determinants_stable(count);
}

Status ThreadGate::on_image_stable(const Hash256& image) {
  std::lock_guard lock(mutex_);
  const auto found = images_.find(image);
  if (found == images_.end()) return ok();  // so old that it was forgotten
  const std::uint64_t count = found->second;
  std::erase_if(images_, [&](const auto& entry) { return entry.second <= count; });
  changed_.notify_all();
  return gate_.on_image_stable(count);
}

bool ThreadGate::all_stored() const {
  std::lock_guard lock(mutex_);
  return gate_.outbox_empty();
}

}  // namespace gw::worker
