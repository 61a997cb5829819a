#pragma once
// Effects for tests.

#include <string>

#include "job/effects/effect_ledger.h"

namespace gw::job::test {

// Effects as a program makes them, before the gate has numbered them.
inline Effect output(std::string bytes) {
  Effect effect;
  effect.mutable_output()->set_descriptor(1);
  effect.mutable_output()->set_bytes(std::move(bytes));
  return effect;
}
inline Effect spawn(ThreadId child) {
  Effect effect;
  effect.mutable_spawn()->set_child(child.value());
  return effect;
}
inline Effect end(std::uint32_t exit_code = 0) {
  Effect effect;
  effect.mutable_end()->set_exit_code(exit_code);
  return effect;
}

// An effect of the main thread as home receives it, in its stream.
inline Effect numbered(Effect effect, std::uint64_t sequence, std::uint64_t epoch = 1) {
  effect.set_thread(kMainThread.value());
  effect.set_epoch(epoch);
  wire::set_stream(effect);
  effect.set_sequence(sequence);
  return effect;
}
inline Effect output(std::uint64_t sequence, std::string bytes, std::uint64_t epoch = 1) {
  return numbered(output(std::move(bytes)), sequence, epoch);
}
inline Effect spawn(std::uint64_t sequence, std::uint64_t epoch = 1) {
  return numbered(spawn(child_of(kMainThread, sequence)), sequence, epoch);
}
inline Effect end(std::uint64_t sequence, std::uint32_t exit_code, std::uint64_t epoch) {
  return numbered(end(exit_code), sequence, epoch);
}

}  // namespace gw::job::test
