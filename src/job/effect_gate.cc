#include "job/effect_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace gw::job {
namespace {

using wire::pb::GateState;

std::string describe(Determinant::Kind kind, std::uint32_t what) {
  return kind == Determinant::CLOCK ? fmt::format("the time of clock {}", what) : fmt::format("whether descriptor {} had input", what);
}

Status check_replay(const GateState& state, const std::vector<Determinant>& replay) {
  if (replay.size() > EffectGate::kMaxReplay) return fail(Kind::corrupt, "too many determinants to replay: {}", replay.size());
  std::uint64_t next = state.next_determinant();
  for (const Determinant& determinant : replay) {
    if (determinant.index() != next) return fail(Kind::corrupt, "determinant {} follows where {} should", determinant.index(), next);
    ++next;
  }
  return ok();
}

// A hostile or damaged image must not make a thread speak for another, or with numbers that are not its own.
Status check_outbox(const GateState& state) {
  const auto count = static_cast<std::uint64_t>(state.outbox_size());
  if (state.thread() == 0 || state.next_sequence() <= count) return fail(Kind::corrupt, "the state of the effect gate is damaged: counts");
  std::uint64_t next = state.next_sequence() - count;
  for (const Effect& effect : state.outbox()) {
    if (effect.thread() != state.thread() || effect.sequence() != next || effect.kind_case() == Effect::KIND_NOT_SET)
      return fail(Kind::corrupt, "the state of the effect gate is damaged: effect {}", next);
    ++next;
  }
  return ok();
}

}  // namespace

Result<EffectGate> EffectGate::restore(ByteView state, std::uint64_t epoch, std::vector<Determinant> replay) {
  return restore(state, epoch, std::move(replay), Config());
}

Result<EffectGate> EffectGate::restore(ByteView bytes, std::uint64_t epoch, std::vector<Determinant> replay, Config config) {
  GateState state;
  if (!state.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Kind::corrupt, "the state of the effect gate cannot be read");
  GW_TRY_VOID(check_outbox(state));
  GW_TRY_VOID(check_replay(state, replay));
  if (epoch < state.epoch()) return fail(Kind::invalid, "thread {} has reached epoch {} already", state.thread(), state.epoch());

  EffectGate gate(ThreadId{state.thread()}, epoch, config);
  gate.job_ = state.job();
  gate.next_sequence_ = state.next_sequence();
  gate.next_determinant_ = gate.stable_determinants_ = state.next_determinant();
  gate.input_pieces_ = state.input_pieces();
  gate.input_bytes_ = state.input_bytes();
  for (Effect& effect : *state.mutable_outbox()) {
    effect.set_epoch(epoch);
    const std::size_t size = effect.ByteSizeLong();
    gate.outbox_bytes_ += size;
    // The image contains the determinants before it.
    gate.outbox_.push_back({std::move(effect), size, 0});
  }
  gate.replay_.assign(std::make_move_iterator(replay.begin()), std::make_move_iterator(replay.end()));
  return gate;
}

Result<EffectGate> EffectGate::begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay) {
  return restore(EffectGate(thread).save(), epoch, std::move(replay));
}

Bytes EffectGate::save() const {
  GateState state;
  state.set_thread(thread_.value());
  state.set_epoch(epoch_);
  state.set_next_sequence(next_sequence_);
  state.set_next_determinant(next_determinant_);
  state.set_input_pieces(input_pieces_);
  state.set_input_bytes(input_bytes_);
  state.set_job(job_);
  for (const PendingEffect& waiting : outbox_) *state.add_outbox() = waiting.effect;
  Bytes bytes(state.ByteSizeLong());
  GW_ASSERT(state.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

EffectGate EffectGate::fork(ThreadId child) const {
  EffectGate gate(child, epoch_, config_);
  gate.job_ = job_;
  return gate;
}

std::uint64_t EffectGate::emit(Effect effect) {
  GW_ASSERT(effect.kind_case() != Effect::KIND_NOT_SET);
  effect.set_thread(thread_.value());
  effect.set_epoch(epoch_);
  effect.set_sequence(next_sequence_);
  const std::size_t size = effect.ByteSizeLong();
  outbox_bytes_ += size;
  outbox_.push_back({std::move(effect), size, next_determinant_});
  return next_sequence_++;
}

std::vector<Effect> EffectGate::take_sendable(std::size_t max_bytes) {
  std::vector<Effect> out;
  std::size_t bytes = 0;
  for (; taken_ < outbox_.size(); ++taken_) {
    const PendingEffect& next = outbox_[taken_];
    if (next.determinants_before > stable_determinants_) break;
    if (!out.empty() && bytes + next.bytes > max_bytes) break;
    bytes += next.bytes;
    out.push_back(next.effect);
  }
  return out;
}

Status EffectGate::on_stored(std::uint64_t sequence) {
  if (sequence >= next_sequence_)
    return fail(Kind::invalid, "effect {} of thread {} cannot be stored: the last one is {}", sequence, thread_.value(),
                next_sequence_ - 1);
  while (!outbox_.empty() && outbox_.front().effect.sequence() <= sequence) {
    outbox_bytes_ -= outbox_.front().bytes;
    outbox_.pop_front();
    if (taken_ > 0) --taken_;
  }
  return ok();
}

Result<std::optional<std::uint64_t>> EffectGate::recorded(Determinant::Kind kind, std::uint32_t what) const {
  if (replay_.empty()) return std::optional<std::uint64_t>();
  const Determinant& was = replay_.front();
  if (was.kind() != kind || was.what() != what)
    return fail(Kind::guest_fault, "the replay of thread {} diverged: it asked for {}, and before for {}", thread_.value(),
                describe(kind, what), describe(was.kind(), was.what()));
  return std::optional<std::uint64_t>(was.value());
}

Status EffectGate::given(Determinant::Kind kind, std::uint32_t what, std::uint64_t value) {
  GW_TRY(std::optional<std::uint64_t> before, recorded(kind, what));
  if (before) {
    if (*before != value)
      return fail(Kind::guest_fault, "the replay of thread {} diverged: {} was {} and is {}", thread_.value(), describe(kind, what),
                  *before, value);
    // It came out of the log, so it is stable.
    next_determinant_ = stable_determinants_ = replay_.front().index() + 1;
    replay_.pop_front();
    return ok();
  }
  Determinant determinant;
  determinant.set_index(next_determinant_++);
  determinant.set_kind(kind);
  determinant.set_what(what);
  determinant.set_value(value);
  recorded_.push_back(std::move(determinant));
  return ok();
}

std::vector<Determinant> EffectGate::take_new_determinants() { return std::exchange(recorded_, {}); }

Status EffectGate::on_determinants_stable(std::uint64_t count) {
  if (count > next_determinant_)
    return fail(Kind::invalid, "{} determinants of thread {} cannot be stable: it has {}", count, thread_.value(), next_determinant_);
  stable_determinants_ = std::max(stable_determinants_, count);
  return ok();
}

std::string describe(const Effect& effect) {
  switch (effect.kind_case()) {
    case Effect::kOutput:
      return fmt::format("output of {} bytes to {}", effect.output().bytes().size(), effect.output().stream() == 1 ? "stdout" : "stderr");
    case Effect::kReport:
      return fmt::format("a partial result of {} bytes", effect.report().size());
    case Effect::kFile:
      return fmt::format("{} bytes of the output file {} at {}", effect.file().bytes().size(), effect.file().path(),
                         effect.file().offset());
    case Effect::kFork:
      return fmt::format("a fork of thread {}", effect.fork().child());
    case Effect::kEnd:
      return effect.end().reason() == Effect::End::EXITED ? fmt::format("exit with code {}", effect.end().exit_code())
                                                          : fmt::format("its end: {}", effect.end().sentence());
    case Effect::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace gw::job
