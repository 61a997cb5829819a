#include "job/effects/effect_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/planted_bug.h"
#include "job/effects/stream_turns.h"

namespace gw::job {
namespace {

using wire::pb::GateState;

std::string describe(Determinant::Kind kind, std::uint32_t what) {
  if (kind == Determinant::MAIL_READY) return "whether there was a message";
  if (kind == Determinant::FORK_REFUSED) return "a fork that was refused";
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

// A hostile or damaged image must not make a thread speak for another, or with numbers or in streams that are not its own.
Status check_outbox(std::uint64_t thread, const Stream& stream, const GateState::StreamState& saved) {
  const auto count = static_cast<std::uint64_t>(saved.outbox_size());
  if (saved.next_sequence() <= count || saved.next_sequence() > wire::kMaxSequence)
    return fail(Kind::corrupt, "the state of the effect gate is damaged: counts");
  std::uint64_t next = saved.next_sequence() - count;
  for (const Effect& effect : saved.outbox()) {
    const bool numbered = effect.thread() == thread && effect.sequence() == next && effect.kind_case() != Effect::KIND_NOT_SET;
    if (!numbered || !wire::is_in_its_stream(effect) || wire::stream_of(effect) != stream)
      return fail(Kind::corrupt, "the state of the effect gate is damaged: effect {}", next);
    ++next;
  }
  return ok();
}

Status check_streams(const GateState& state) {
  if (state.thread() == 0) return fail(Kind::corrupt, "the state of the effect gate is damaged: it has no thread");
  if (state.streams_size() > wire::kMaxStreams) return fail(Kind::corrupt, "the state of the effect gate is damaged: too many streams");
  std::optional<Stream> last;
  for (const GateState::StreamState& one : state.streams()) {
    const auto stream = wire::read(one.stream());
    if (!stream || (last && *last >= *stream)) return fail(Kind::corrupt, "the state of the effect gate is damaged: streams");
    last = *stream;
    GW_TRY_VOID(check_outbox(state.thread(), *stream, one));
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
  GW_TRY_VOID(check_version(state));
  GW_TRY_VOID(check_streams(state));
  GW_TRY_VOID(check_replay(state, replay));
  if (epoch < state.epoch()) return fail(Kind::invalid, "thread {} has reached epoch {} already", state.thread(), state.epoch());

  EffectGate gate(ThreadId{state.thread()}, epoch, config);
  gate.job_ = state.job();
  gate.next_determinant_ = gate.stable_determinants_ = gate.in_stable_image_ = state.next_determinant();
  gate.input_pieces_ = state.input_pieces();
  gate.input_bytes_ = state.input_bytes();
  gate.mail_ = state.mail();
  for (GateState::StreamState& stream : *state.mutable_streams()) {
    Outbox& outbox = gate.streams_[wire::read(stream.stream()).value()];
    outbox.next_sequence = stream.next_sequence();
    for (Effect& effect : *stream.mutable_outbox()) {
      effect.set_epoch(epoch);
      gate.add(outbox, std::move(effect), 0);  // the image contains the determinants before it
    }
  }
  gate.replay_.assign(std::make_move_iterator(replay.begin()), std::make_move_iterator(replay.end()));
  return gate;
}

Result<EffectGate> EffectGate::begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay) {
  return begin(thread, epoch, std::move(replay), Config());
}

Result<EffectGate> EffectGate::begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay, Config config) {
  return restore(EffectGate(thread).save(), epoch, std::move(replay), config);
}

Bytes EffectGate::save() const {
  GateState state;
  state.set_thread(thread_.value());
  state.set_epoch(epoch_);
  state.set_version(mail_ > 0 || streams_.contains(kMailStream) ? kGateStateVersion : kGateStateWithoutMail);
  state.set_next_determinant(next_determinant_);
  state.set_input_pieces(input_pieces_);
  state.set_input_bytes(input_bytes_);
  state.set_mail(mail_);
  state.set_job(job_);
  for (const auto& [stream, outbox] : streams_) {
    GateState::StreamState& saved = *state.add_streams();
    wire::write(stream, *saved.mutable_stream());
    saved.set_next_sequence(outbox.next_sequence);
    for (const PendingEffect& waiting : outbox.effects) *saved.add_outbox() = waiting.effect;
  }
  Bytes bytes(state.ByteSizeLong());
  GW_ASSERT(state.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

EffectGate EffectGate::fork(ThreadId child) const {
  EffectGate gate(child, epoch_, config_);
  gate.job_ = job_;
  return gate;
}

Status check_version(const GateState& state) {
  if (state.version() == kGateStateVersion || state.version() == kGateStateWithoutMail) return ok();
  return fail(Kind::unsupported, "the state of its effect gate is of version {}, and this godwit knows {}: continue it with the other one",
              state.version(), kGateStateVersion);
}

// --- effects

std::size_t EffectGate::most_effects(const Stream& stream) const {
  return stream.kind == wire::StreamKind::log ? config_.outbox_spawns : config_.outbox_effects;
}

std::size_t EffectGate::spawns() const {
  const auto log = streams_.find(kLogStream);
  return log == streams_.end() ? 0 : log->second.effects.size();
}

bool EffectGate::full(const Stream& stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  return found->second.effects.size() >= most_effects(stream) || found->second.bytes >= config_.outbox_bytes;
}

bool EffectGate::roomy(const Stream& stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return true;
  return found->second.effects.size() <= most_effects(stream) / 2 && found->second.bytes <= config_.outbox_bytes / 2;
}

std::uint64_t EffectGate::next_sequence(const Stream& stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 1 : found->second.next_sequence;
}

bool EffectGate::outbox_empty() const {
  return std::ranges::all_of(streams_, [](const auto& one) { return one.second.effects.empty(); });
}

void EffectGate::add(Outbox& outbox, Effect effect, std::uint64_t determinants_before) {
  const std::size_t size = effect.ByteSizeLong();
  outbox.bytes += size;
  outbox.effects.push_back({std::move(effect), size, determinants_before, next_age_++});
}

std::uint64_t EffectGate::emit(Effect effect) {
  GW_ASSERT(effect.kind_case() != Effect::KIND_NOT_SET);
  const Stream stream = wire::stream_of(effect);
  Outbox& outbox = streams_[stream];
  effect.set_thread(thread_.value());
  effect.set_epoch(epoch_);
  wire::write(stream, *effect.mutable_stream());
  effect.set_sequence(outbox.next_sequence);
  add(outbox, std::move(effect), next_determinant_);
  return outbox.next_sequence++;
}

bool EffectGate::others_stored(const Stream& stream) const {
  return std::ranges::all_of(streams_, [&](const auto& one) { return one.first == stream || one.second.effects.empty(); });
}

// The next effect of a stream that has not been taken, if it may leave.
const EffectGate::PendingEffect* EffectGate::sendable_head(const Stream& stream, const Outbox& outbox) const {
  if (outbox.taken == outbox.effects.size()) return nullptr;
  const PendingEffect& head = outbox.effects[outbox.taken];
  if (head.determinants_before > stable_determinants_) return nullptr;
  if (head.effect.has_end() && !others_stored(stream) && !GW_BUG(45)) return nullptr;
  return &head;
}

std::vector<Effect> EffectGate::take_sendable(std::size_t max_bytes) {
  std::vector<Effect> batch;
  StreamTurns turns(max_bytes, streams_.size());
  for (std::vector<StreamTurns::Head> heads;; heads.clear()) {
    for (const auto& [stream, outbox] : streams_)
      if (const PendingEffect* head = sendable_head(stream, outbox)) heads.push_back({stream, head->age, head->bytes});
    const std::optional<Stream> next = turns.take(heads);
    if (!next) return batch;
    Outbox& outbox = streams_.at(*next);
    batch.push_back(outbox.effects[outbox.taken++].effect);
  }
}

Status EffectGate::on_stored(const Stream& stream, std::uint64_t sequence) {
  if (sequence >= next_sequence(stream))
    return fail(Kind::invalid, "effect {} of thread {} in its stream '{}' cannot be stored: the last one is {}", sequence, thread_.value(),
                wire::describe(stream), next_sequence(stream) - 1);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return ok();  // sequence 0: nothing
  Outbox& outbox = found->second;
  while (!outbox.effects.empty() && outbox.effects.front().effect.sequence() <= sequence) {
    outbox.bytes -= outbox.effects.front().bytes;
    outbox.effects.pop_front();
    if (outbox.taken > 0) --outbox.taken;
  }
  return ok();
}

// --- determinants

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
    // A replayed determinant came out of the log, so it is stable.
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

Status EffectGate::on_image_stable(std::uint64_t count) {
  GW_TRY_VOID(on_determinants_stable(count));
  in_stable_image_ = std::max(in_stable_image_, count);
  return ok();
}

std::string describe(const Effect& effect) {
  switch (effect.kind_case()) {
    case Effect::kOutput:
      return fmt::format("output of {} bytes to {}", effect.output().bytes().size(),
                         effect.output().descriptor() == 1 ? "stdout" : "stderr");
    case Effect::kReport:
      return fmt::format("a partial result of {} bytes", effect.report().size());
    case Effect::kFile:
      return fmt::format("{} bytes of the output file {} at {}", effect.file().bytes().size(), effect.file().path(),
                         effect.file().offset());
    case Effect::kSpawn:
      return fmt::format("the spawn of thread {}", effect.spawn().child());
    case Effect::kEnd:
      return effect.end().reason() == Effect::End::EXITED ? fmt::format("exit with code {}", effect.end().exit_code())
                                                          : fmt::format("its end: {}", effect.end().sentence());
    case Effect::kMessage:
      return fmt::format("a message of {} bytes to thread {}", effect.message().bytes().size(), effect.message().to());
    case Effect::kWatch:
      return fmt::format("a watch over thread {}", effect.watch().thread());
    case Effect::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace gw::job
