#include "job/effects/effect_ledger.h"

#include <algorithm>

namespace gw::job {
Status EffectLedger::add(ThreadId thread) {
  if (!threads_.try_emplace(thread).second) return fail(Kind::invalid, "there is a thread {} already", thread.value());
  ++running_;
  return ok();
}

Result<std::uint64_t> EffectLedger::next_epoch(ThreadId thread) {
  auto found = threads_.find(thread);
  if (found == threads_.end()) return fail(Kind::not_found, "there is no thread {}", thread.value());
  return ++found->second.epoch;
}

Status EffectLedger::adopt(ThreadId thread, std::uint64_t epoch) {
  if (!knows(thread)) GW_TRY_VOID(add(thread));
  Thread& known = threads_.at(thread);
  known.epoch = std::max(known.epoch, epoch);
  return ok();
}

Status EffectLedger::add_child(ThreadId child, std::uint64_t epoch) {
  if (children_ >= config_.children) return fail(Kind::overloaded, "the job has reached its limit of {} forked threads", config_.children);
  ++children_;
  return adopt(child, epoch);
}

void EffectLedger::begin_again(ThreadId thread) {
  Thread& known = threads_.at(thread);
  forget_all(thread, known);
  known.streams.clear();
  if (std::exchange(known.ended, false)) ++running_;
}

std::uint64_t EffectLedger::stored(ThreadId thread, const Stream& stream) const {
  const auto& streams = threads_.at(thread).streams;
  const auto found = streams.find(stream);
  return found == streams.end() ? 0 : found->second.stored;
}

StreamMarks EffectLedger::stored(ThreadId thread) const {
  StreamMarks marks;
  for (const auto& [stream, state] : threads_.at(thread).streams) marks.emplace(stream, state.stored);
  return marks;
}

Result<EffectLedger::Verdict> EffectLedger::compare(const StreamState& state, const Effect& effect) const {
  const std::uint64_t back = state.stored - effect.sequence();
  if (back >= state.traces.size()) return Verdict::duplicate;
  const Trace& was = state.traces[state.traces.size() - 1 - back];
  if (was.digest == kNoDigest || was.digest == digest_of(effect)) return Verdict::duplicate;
  const StoredEffect stored{
      .thread = ThreadId{effect.thread()}, .sequence = effect.sequence(), .kind = was.kind, .bytes = was.bytes, .digest = was.digest};
  return fail(Kind::guest_fault, "the replay of thread {} diverged at effect {}: it is {}, and was {}", effect.thread(), effect.sequence(),
              describe(effect), describe(stored));
}

Result<EffectLedger::Verdict> EffectLedger::accept(const Effect& effect) {
  const ThreadId id{effect.thread()};
  const auto found = threads_.find(id);
  if (found == threads_.end()) return fail(Kind::not_found, "an effect of thread {}, which does not exist", effect.thread());
  Thread& thread = found->second;
  if (effect.epoch() != thread.epoch)
    return fail(Kind::disconnected, "an effect of thread {} in epoch {}: it is at {}", effect.thread(), effect.epoch(), thread.epoch);
  if (effect.kind_case() == Effect::KIND_NOT_SET) return fail(Kind::invalid, "an effect of thread {} that is nothing", effect.thread());
  if (!wire::is_in_its_stream(effect))
    return fail(Kind::invalid, "{} of thread {} in a stream where it does not belong", describe(effect), effect.thread());
  const Stream stream = wire::stream_of(effect);
  const std::uint64_t before = stored(id, stream);
  if (effect.sequence() == 0 || effect.sequence() > before + 1)
    return fail(Kind::invalid, "effect {} of thread {} came after {}", effect.sequence(), effect.thread(), before);
  if (effect.sequence() <= before) return compare(thread.streams.at(stream), effect);
  if (thread.ended) return fail(Kind::invalid, "effect {} of thread {}, which has ended", effect.sequence(), effect.thread());
  if (!thread.streams.contains(stream) && thread.streams.size() >= config_.streams)
    return fail(Kind::overloaded, "thread {} has reached its limit of {} streams", effect.thread(), config_.streams);

  if (effect.has_spawn()) {
    const ThreadId child{effect.spawn().child()};
    if (child != child_of(id, effect.sequence()))
      return fail(Kind::invalid, "thread {} spawned a child with a name that is not its own to give", effect.thread());
    if (knows(child)) return fail(Kind::invalid, "thread {} spawned thread {}, which exists", effect.thread(), child.value());
    GW_TRY_VOID(add_child(child, effect.epoch()));
  }
  take(id, thread, header_of(effect));
  return Verdict::fresh;
}

Status EffectLedger::restore(const StoredEffect& effect) {
  const auto found = threads_.find(effect.thread);
  const bool fits = found != threads_.end() && !found->second.ended && effect.stream == stream_of(effect.kind) &&
                    effect.sequence == stored(effect.thread, effect.stream) + 1;
  if (!fits)
    return fail(Kind::corrupt, "effect {} of thread {} is stored where it does not belong", effect.sequence, effect.thread.value());
  Thread& thread = found->second;
  thread.epoch = std::max(thread.epoch, effect.epoch);
  if (effect.kind == EffectKind::spawn) {
    const ThreadId child = child_of(effect.thread, effect.sequence);
    if (knows(child)) return fail(Kind::corrupt, "thread {} is stored as spawned twice", child.value());
    GW_TRY_VOID(add_child(child, effect.epoch));
  }
  take(effect.thread, thread, effect);
  return ok();
}

Status EffectLedger::restore_mail(ThreadId thread, std::uint64_t epoch, std::uint64_t sequence) {
  const auto found = threads_.find(thread);
  if (found == threads_.end() || sequence > wire::kMaxSequence)
    return fail(Kind::corrupt, "messages of thread {} are recorded, and there is no such thread", thread.value());
  found->second.epoch = std::max(found->second.epoch, epoch);
  found->second.streams[kMailStream].stored = sequence;
  return ok();
}

// An ended thread is never replayed: its effects need no comparison.
void EffectLedger::take(ThreadId id, Thread& thread, const StoredEffect& effect) {
  StreamState& state = thread.streams[effect.stream];
  state.stored = effect.sequence;
  if (effect.kind != EffectKind::end) return remember(id, state, {effect.digest, effect.bytes, effect.kind});
  thread.ended = true;
  --running_;
  forget_all(id, thread);
}

void EffectLedger::remember(ThreadId id, StreamState& state, const Trace& trace) {
  if (state.traces.size() >= kRemembered) {
    state.traces.pop_front();
    --remembered_;
  }
  while (remembered_ > 0 && remembered_ >= config_.remembered) forget_one();
  state.traces.push_back(trace);
  ++remembered_;
  with_traces_.insert(id);
}

// Threads take turns in losing their oldest trace, in each stream: all of them stay comparable for as long as there is room.
void EffectLedger::forget_one() {
  auto next = with_traces_.upper_bound(forgot_last_);
  if (next == with_traces_.end()) next = with_traces_.begin();
  forgot_last_ = *next;
  bool left = false;
  for (auto& [stream, state] : threads_.at(*next).streams) {
    if (state.traces.empty()) continue;
    state.traces.pop_front();
    --remembered_;
    left = left || !state.traces.empty();
  }
  if (!left) with_traces_.erase(next);
}

void EffectLedger::forget_all(ThreadId id, Thread& thread) {
  for (auto& [stream, state] : thread.streams) {
    remembered_ -= state.traces.size();
    std::deque<Trace>().swap(state.traces);
  }
  with_traces_.erase(id);
}

}  // namespace gw::job
