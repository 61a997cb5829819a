#pragma once
// The body of a small function in the place of a call. Compilers have inlined what they found worth it for machines on which a call costs
// less than it does in a wasm engine, where every function also checks the stack.

#include <string>
#include <vector>

#include "prep/ir.h"

namespace gw::prep {

// Short, calls nobody and repeats nothing.
bool is_small_leaf(const FunctionDraft& function);

// What a call of `callee` with these operands does. Adds the locals of `callee` to `caller`; `label` must be unique in it.
Expr inlined(const Builder& build, const FunctionDraft& callee, std::vector<Expr> operands, const std::string& label,
             FunctionDraft& caller);

// A small function that calls itself goes two steps at a time: its own calls of itself are inlined, once. Returns how many functions.
unsigned unroll_recursion(BinaryenModuleRef module);

}  // namespace gw::prep
