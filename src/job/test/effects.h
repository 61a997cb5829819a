#pragma once
// Effects for tests.

#include <string>

#include "job/effect_ledger.h"

namespace gw::job::test {

// As a program makes it, before the gate has numbered it.
inline Effect output(std::string bytes) {
  Effect effect;
  effect.mutable_output()->set_stream(1);
  effect.mutable_output()->set_bytes(std::move(bytes));
  return effect;
}

// As home gets it, from the main thread.
inline Effect output(std::uint64_t sequence, std::string bytes, std::uint64_t epoch = 1) {
  Effect effect = output(std::move(bytes));
  effect.set_thread(kMainThread.value());
  effect.set_epoch(epoch);
  effect.set_sequence(sequence);
  return effect;
}

}  // namespace gw::job::test
