#pragma once
// The body of a small function in the place of a call. Compilers have inlined what they found worth it for machines on which a call costs
// less than it does in a wasm engine, where every function also checks the stack.

#include <cstddef>
#include <string>
#include <vector>

#include "prep/ir.h"

namespace gw::prep {

// How much larger a module may become by what these passes copy, in expression nodes: an eighth, or 4,000 if that is more, so that it is
// felt neither in size nor in what the engine takes at most for one function.
class GrowthBudget {
 public:
  explicit GrowthBudget(BinaryenModuleRef module);
  bool take(std::size_t nodes);  // false, and nothing is taken: not so much is left

 private:
  std::size_t left_;
};

// Nodes and locals, without exception checks: those of a function that may suspend cost nothing (exception_landings.h).
std::size_t size_of(const FunctionDraft& function);

// A function that is short and has no calls and no loops.
bool is_small_leaf(const FunctionDraft& function);

// The inlined form of a call of `callee` with these operands. Adds the locals of `callee` to `caller`; `label` must be unique in it.
Expr inlined(const Builder& build, const FunctionDraft& callee, std::vector<Expr> operands, const std::string& label,
             FunctionDraft& caller);

// A small function that calls itself goes two steps at a time: its own calls of itself are inlined, once. Returns how many functions.
unsigned unroll_recursion(BinaryenModuleRef module, GrowthBudget& budget);

}  // namespace gw::prep
