#pragma once
// Threads inside a guest: the three functions of the module `godwit` that the pre-processor replaces by code (docs/guest-abi.md), so that
// a program can leave one stack of frames and continue another. No host knows of them.
//
// A guest thread that has to wait calls thread_switch. That begins to unwind as a suspension does: each frame pushes itself on the unwind
// stack and returns. thread_run, which stands below the first frame of the thread, ends the unwinding and returns to its caller, the
// scheduler of the guest (sdk/guest/runtime/threads.c). The frames are then the content of the unwind stack. The scheduler moves them into
// memory of its own with thread_frames, and gives them to thread_run when the thread is to go on.
//
// Invariants.
// 1. A suspension by the host goes through thread_run like through any other frame: only a switch ends there.
// 2. gw$switching is 0 wherever the host can suspend, so it is not part of the state of a program.
// 3. The unwind stack is empty while a program runs, except between a switch and thread_frames. The scheduler may be suspended there, and
//    its memory may grow: frames pushed then lie on top of those of the thread, and hide_area() moves the content of the stack.

#include <string>

#include "base/result.h"
#include "prep/mobility/unwind_stack.h"
#include "wire/wasm/module_info.h"

namespace gw::prep {

inline constexpr const char* kSwitching = "gw$switching";

// Refuses a module that declares one of the functions with another type, or uses them at a level that saves no frames.
Status check_thread_imports(BinaryenModuleRef module, wire::Level level);

class GuestThreads {
 public:
  // Makes thread_run a function of the module, whose calls the call graph can see. REQUIRES: check_thread_imports().
  explicit GuestThreads(const Builder& build);

  bool used() const { return !run_.empty() || !switch_.empty() || !frames_.empty(); }
  // True for thread_run, which gets its two bodies here instead of by make_two_bodies().
  bool is_run(const std::string& function) const { return !run_.empty() && function == run_; }

  // Replaces all three by their code. `table_half`: see MobilityContext.
  void add_code(UnwindStack& stack, std::uint32_t table_half) const;

 private:
  void add_run(UnwindStack& stack, std::uint32_t table_half) const;
  void add_switch() const;
  void add_frames(const UnwindStack& stack) const;

  const Builder& build_;
  std::string run_, switch_, frames_;  // their names in the module, empty if it does not import them
  std::string table_;
};

}  // namespace gw::prep
