#pragma once
// Results of tasks for tests.

#include "job/effects/effect_gate.h"
#include "wire/messages/streams.h"
#include "wire/worker.pb.h"

namespace gw::job::test {

// The result of a task of an array that has printed `text`, if any, and exited.
inline wire::pb::TaskResult result_of(std::uint32_t task, std::uint32_t tasks, const std::string& text = "", std::uint32_t exit_code = 0) {
  EffectGate gate(thread_of_task(task, tasks));
  if (!text.empty()) {
    Effect output;
    output.mutable_output()->set_descriptor(1);
    output.mutable_output()->set_bytes(text);
    gate.emit(std::move(output));
  }
  Effect end;
  end.mutable_end()->set_exit_code(exit_code);
  gate.emit(std::move(end));
  wire::pb::TaskResult result;
  result.set_task(task);
  for (Effect& effect : gate.take_sendable(1u << 20)) *result.add_effects() = std::move(effect);
  return result;
}

}  // namespace gw::job::test
