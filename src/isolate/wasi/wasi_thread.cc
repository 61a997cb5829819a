// Godwit's own calls (docs/guest-abi.md): what a guest can ask about the virtual thread it is.

#include <algorithm>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {

CallResult Wasi::thread_id(GuestMemory memory, std::uint32_t out) {
  return memory.store(out, world_.thread.id()) ? Errno::success : Errno::fault;
}

CallResult Wasi::mark_throw(GuestMemory, std::uint32_t mark) {
  throw_mark_ = mark == 0 ? ThrowMark::thrown : ThrowMark::uncaught;
  return Errno::success;
}

CallResult Wasi::report(GuestMemory memory, std::uint32_t address, std::uint32_t length) {
  auto bytes = memory.span(address, length);
  if (!bytes) return Errno::fault;
  if (length > kMaxReportBytes) return Errno::inval;
  if (!world_.thread.has_room(Outlet::output)) return park_for_room(Outlet::output);
  return world_.thread.report(*bytes) ? Errno::success : Errno::io;
}

CallResult Wasi::task_next(GuestMemory memory, std::uint32_t function, std::uint32_t length) {
  const Task* task = world_.thread.task();
  if (task == nullptr) return Errno::notsup;
  bool stored = memory.store(function, task->function) && memory.store(length, static_cast<std::uint32_t>(task->argument.size()));
  return stored ? Errno::success : Errno::fault;
}

CallResult Wasi::task_argument(GuestMemory memory, std::uint32_t address, std::uint32_t length) {
  const Task* task = world_.thread.task();
  if (task == nullptr) return Errno::notsup;
  if (length != task->argument.size()) return Errno::inval;
  auto bytes = memory.span(address, length);
  if (!bytes) return Errno::fault;
  std::ranges::copy(task->argument, bytes->begin());
  return Errno::success;
}

CallResult Wasi::task_result(GuestMemory memory, std::uint32_t address, std::uint32_t length) {
  if (world_.thread.task() == nullptr) return Errno::notsup;
  auto bytes = memory.span(address, length);
  if (!bytes) return Errno::fault;
  if (length > kMaxTaskBytes) return Errno::inval;
  return world_.thread.task_result(*bytes) ? Errno::success : Errno::io;
}

// Parks until the owner has carried it out, or refused. The call is then repeated, in the parent and in the child.
CallResult Wasi::fork(GuestMemory memory, std::uint32_t child) {
  if (!memory.span(child, sizeof(std::uint64_t))) return Errno::fault;
  switch (state_.parked) {
    case ParkedCall::forked_parent:
    case ParkedCall::forked_child:
      GW_ASSERT(memory.store(child, state_.deadline));
      unpark();
      return Errno::success;
    case ParkedCall::fork_refused:
      unpark();
      return Errno::again;
    default:
      if (!world_.thread.has_room(Outlet::log)) return park_for_room(Outlet::log);
      if (!world_.thread.has_room(Outlet::determinants)) return park_for_room(Outlet::determinants);  // for a refusal
      return park(ParkedCall::fork);
  }
}

void Wasi::answer_fork(std::uint64_t child) {
  GW_ASSERT(wants_fork());
  state_.parked = ParkedCall::forked_parent;
  state_.deadline = child;
}

void Wasi::refuse_fork() {
  GW_ASSERT(wants_fork());
  state_.parked = ParkedCall::fork_refused;
}

}  // namespace gw::isolate
