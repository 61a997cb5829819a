#include "job/effect_ledger.h"

#include <algorithm>

namespace gw::job {
Status EffectLedger::add(ThreadId thread) {
  if (threads_.size() >= config_.threads) return fail(Kind::overloaded, "the job has reached its limit of {} threads", config_.threads);
  if (!threads_.try_emplace(thread).second) return fail(Kind::invalid, "there is a thread {} already", thread.value());
  ++running_;
  return ok();
}

Result<std::uint64_t> EffectLedger::next_epoch(ThreadId thread) {
  auto found = threads_.find(thread);
  if (found == threads_.end()) return fail(Kind::not_found, "there is no thread {}", thread.value());
  return ++found->second.epoch;
}

Status EffectLedger::adopt(ThreadId thread, std::uint64_t epoch, std::uint64_t stored) {
  if (!knows(thread)) GW_TRY_VOID(add(thread));
  Thread& known = threads_.at(thread);
  known.epoch = std::max(known.epoch, epoch);
  if (stored > known.stored) {
    known.stored = stored;
    known.traces.clear();
  }
  return ok();
}

Result<EffectLedger::Verdict> EffectLedger::compare(const Thread& thread, const Effect& effect) const {
  const std::uint64_t back = thread.stored - effect.sequence();
  if (back >= thread.traces.size()) return Verdict::duplicate;
  const Trace& was = thread.traces[thread.traces.size() - 1 - back];
  if (was.digest == digest_of(effect)) return Verdict::duplicate;
  return fail(Kind::guest_fault, "the replay of thread {} diverged at effect {}: it is {}, and was {}", effect.thread(), effect.sequence(),
              describe(effect), was.description);
}

Result<EffectLedger::Verdict> EffectLedger::accept(const Effect& effect) {
  auto found = threads_.find(ThreadId{effect.thread()});
  if (found == threads_.end()) return fail(Kind::not_found, "an effect of thread {}, which does not exist", effect.thread());
  Thread& thread = found->second;
  if (effect.epoch() != thread.epoch)
    return fail(Kind::disconnected, "an effect of thread {} in epoch {}: it is at {}", effect.thread(), effect.epoch(), thread.epoch);
  if (effect.kind_case() == Effect::KIND_NOT_SET) return fail(Kind::invalid, "an effect of thread {} that is nothing", effect.thread());
  if (effect.sequence() == 0 || effect.sequence() > thread.stored + 1)
    return fail(Kind::invalid, "effect {} of thread {} came after {}", effect.sequence(), effect.thread(), thread.stored);
  if (effect.sequence() <= thread.stored) return compare(thread, effect);
  if (thread.ended) return fail(Kind::invalid, "effect {} of thread {}, which has ended", effect.sequence(), effect.thread());

  if (effect.has_fork()) {
    if (ThreadId{effect.fork().child()} != child_of(found->first, effect.sequence()))
      return fail(Kind::invalid, "thread {} forked a child with a name that is not its own to give", effect.thread());
    if (knows(ThreadId{effect.fork().child()}))
      return fail(Kind::invalid, "thread {} forked thread {}, which exists", effect.thread(), effect.fork().child());
    GW_TRY_VOID(adopt(ThreadId{effect.fork().child()}, effect.epoch(), 0));
  }
  if (effect.has_end()) {
    thread.ended = true;
    --running_;
  }
  thread.stored = effect.sequence();
  remember(thread, digest_of(effect), describe(effect));
  return Verdict::fresh;
}

void EffectLedger::remember(Thread& thread, std::uint64_t digest, std::string description) {
  thread.traces.push_back({digest, std::move(description)});
  if (thread.traces.size() > kRemembered) thread.traces.pop_front();
}

Status EffectLedger::restore(const StoredEffect& effect) {
  const auto found = threads_.find(effect.thread);
  if (found == threads_.end() || effect.sequence != found->second.stored + 1 || found->second.ended)
    return fail(Kind::corrupt, "effect {} of thread {} is stored where it does not belong", effect.sequence, effect.thread.value());
  Thread& thread = found->second;
  thread.epoch = std::max(thread.epoch, effect.epoch);
  if (effect.kind == EffectKind::fork) {
    const ThreadId child = child_of(effect.thread, effect.sequence);
    if (knows(child)) return fail(Kind::corrupt, "thread {} is stored as forked twice", child.value());
    GW_TRY_VOID(adopt(child, effect.epoch, 0));
  }
  if (effect.kind == EffectKind::end) {
    thread.ended = true;
    --running_;
  }
  thread.stored = effect.sequence;
  remember(thread, effect.digest, describe(effect));
  return ok();
}

}  // namespace gw::job
