#pragma once
// A warm isolate that carries out task after task.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/bytes.h"
#include "isolate/isolate.h"

namespace gw::isolate {

// Calls functions of a module, each from the state the module has after its constructors: what a call changes is put back afterwards, so a
// result depends on function and argument alone, not on which calls came before. The program includes <godwit/task.h> (docs/guest-abi.md);
// its `main` is never called.
//
// After a call that cannot be put back (Isolate::put_back()) the next one begins in a new instance.
//
// Inside a call everything that would park the guest waits in place, and fork() fails: a call is short, and moves by being repeated
// elsewhere.
class TaskHost final : private ThreadHost {
 public:
  // Runs the constructors. `config` and `host` are as for an isolate; its limits are those of each call. Kind::invalid: the module has no
  // tasks. Kind::guest_fault: its constructors failed.
  static Result<std::unique_ptr<TaskHost>> make(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                                IsolateConfig config, IsolateHost host);
  ~TaskHost() override;

  // `function` is the function's index in the module's table: its address, in C. Kind::guest_fault if the call trapped, exited, reached a
  // limit or was ended. Carried out on the pool thread, like all of an isolate.
  Result<Bytes> call(std::uint32_t function, ByteView argument);

  // Any thread: ends the call in progress, if there is one.
  void end_call();

 private:
  TaskHost(Engine& engine, PoolThread& thread, IsolateHost host);
  Result<Bytes> call_here(std::uint32_t function, ByteView argument);
  Status renew();

  std::uint64_t id() const override { return outer_.thread.id(); }
  bool has_room(Outlet outlet) const override { return outer_.thread.has_room(outlet); }
  void wait_for_room(Outlet outlet, std::chrono::milliseconds timeout) override { outer_.thread.wait_for_room(outlet, timeout); }
  Status report(ByteView bytes) override { return outer_.thread.report(bytes); }
  const Task* task() const override { return task_ ? &*task_ : nullptr; }
  Status task_result(ByteView bytes) override;

  Engine& engine_;
  PoolThread& thread_;
  const IsolateHost outer_;           // as the caller gave it
  std::optional<ForkPoint> image_;    // after the constructors
  std::mutex mutex_;                  // of isolate_, against end_call()
  std::unique_ptr<Isolate> isolate_;  // null: the last call has spoilt it
  std::optional<Task> task_;          // in progress
  Bytes result_;
};

}  // namespace gw::isolate
