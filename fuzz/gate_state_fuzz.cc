// The state of an effect gate, as an image of a stranger has it: it is refused with a sentence, or it is a gate that saves the same again.

#include <cstdint>
#include <cstdlib>

#include "job/effects/effect_gate.h"

namespace {

using gw::ByteView;
using gw::job::EffectGate;

constexpr std::uint64_t kEpoch = std::uint64_t{1} << 41;

// Sent effects are of this thread, in its stream, numbered without gaps, and the end is last.
void check_sent(const EffectGate& gate, const std::vector<gw::job::Effect>& sent) {
  gw::job::StreamMarks last;
  for (const gw::job::Effect& effect : sent) {
    const auto [before, first] = last.try_emplace(gw::wire::stream_of(effect), effect.sequence());
    const bool follows = first || effect.sequence() == before->second + 1;
    if (!follows || effect.thread() != gate.thread().value() || effect.epoch() != kEpoch) std::abort();
    before->second = effect.sequence();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto gate = EffectGate::restore(ByteView(data, size), kEpoch, {});
  if (!gate) {
    if (gate.error().detail.empty()) std::abort();
    return 0;
  }
  const gw::Bytes saved = gate->save();
  auto again = EffectGate::restore(saved, kEpoch, {});
  if (!again || again->save() != saved) std::abort();
  const bool empty = gate->outbox_empty();
  const auto sent = gate->take_sendable(1u << 30);
  check_sent(*gate, sent);
  for (const gw::job::Effect& effect : sent)
    if (!gate->on_stored(gw::wire::stream_of(effect), effect.sequence())) std::abort();
  if (sent.empty() && !empty) std::abort();  // something always may leave
  return 0;
}
