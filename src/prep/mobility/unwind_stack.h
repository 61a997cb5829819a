#pragma once
// The guest's side of the unwind stack: globals, and small functions that push and pop groups of values.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prep/ir.h"
#include "prep/prep.h"

namespace gw::prep {

// 1 while frames are pushed to be suspended; from kFirstTag on, the tag of an exception on its way (exceptions.h); 0 while code runs.
inline constexpr const char* kUnwinding = "gw$unwinding";
inline constexpr const char* kRewinding = "gw$rewinding";
inline constexpr const char* kBeginUnwind = "gw$begin_unwind";
inline constexpr std::uint32_t kWasmPageBytes = 65536;

// Where the unwound frames go: behind the guest's memory. The module knows nothing of it; when the guest's memory grows the area, which is
// empty then, moves up.
struct UnwindArea {
  std::uint32_t base = 0;  // at the start
  std::uint32_t bytes = 0;
};

// Adds what a module needs to save frames. Values lie packed, in the order in which they were pushed. Popping a value clears its place, so
// an empty stack is all zero. A push that does not fit traps: nothing is lost, since the state before the suspension can be replayed.
class UnwindStack {
 public:
  UnwindStack(const Builder& build, UnwindArea area, Verify verify);

  // Statements that push the locals, grouped by type, then `number`.
  std::vector<Expr> push(const std::vector<std::pair<Local, Type>>& locals, Expr number);
  Expr pop_number() { return pop(BinaryenTypeInt32()); }
  // Statements that undo push(), number excepted.
  std::vector<Expr> pop(const std::vector<std::pair<Local, Type>>& locals);

  // For the frames of a thread of the guest (guest_threads.h): how many bytes the stack holds; statements that put saved frames on the
  // empty stack; a statement that moves its content to an address, or drops it if that is 0.
  Expr used_bytes() const;
  std::vector<Expr> fill(Expr from, Expr bytes) const;
  Expr empty_into(Expr to) const;

  // Makes memory.size and memory.grow speak of the guest's memory only. `content`: may the stack hold something when the memory grows?
  enum class Content : std::uint8_t { none, frames };
  void hide_area(Content content);

 private:
  std::string push_function(Type type, unsigned count);
  Expr pop(Type type);
  Expr stack_limit() const;
  std::vector<Expr> move_content(Local by) const;
  void add_globals();
  void add_begin_unwind();

  const Builder& build_;
  UnwindArea area_;
  Verify verify_;  // yes: NaNs in frames are made canonical, since images are compared
  std::set<std::string> made_;
};

}  // namespace gw::prep
