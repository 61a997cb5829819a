#pragma once
// A readable view of Binaryen's C API: one node kind enum, one way to visit and replace children, short builders.
// Only this folder includes binaryen-c.h.

#include <binaryen-c.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gw::prep {

using Expr = BinaryenExpressionRef;
using Type = BinaryenType;
using Local = BinaryenIndex;

// The nodes a module may contain. Everything else (atomics, GC, changes of tables) is `unsupported`.
enum class Node : std::uint8_t {
  unsupported,
  block,
  if_else,
  loop,
  br,
  br_table,
  call,
  call_indirect,
  local_get,
  local_set,
  global_get,
  global_set,
  load,
  store,
  constant,
  unary,
  binary,
  select,
  drop,
  ret,
  memory_size,
  memory_grow,
  memory_copy,
  memory_fill,
  unreachable,
  try_catch,  // these four only until exceptions.h has replaced them
  throw_tag,
  rethrow,
  pop,    // what a clause has caught
  other,  // has children but no meaning of its own for us
};

Node node_of(Expr e);
inline bool is(Expr e, Node node) { return node_of(e) == node; }
inline Type type_of(Expr e) { return BinaryenExpressionGetType(e); }
bool is_concrete(Type type);  // neither none nor unreachable

// Children in the order in which they are evaluated (the arms of an `if` last).
unsigned child_count(Expr e);
Expr child_at(Expr e, unsigned index);  // may be null: an absent optional child
void set_child(Expr e, unsigned index, Expr child);

template <class F>
void for_each_child(Expr e, F&& f) {
  const unsigned count = child_count(e);
  for (unsigned i = 0; i < count; ++i)
    if (Expr child = child_at(e, i)) f(child);
}

// Pre-order.
template <class F>
void walk(Expr e, F&& f) {
  f(e);
  for_each_child(e, [&](Expr child) { walk(child, f); });
}

// Rebuilds bottom-up: each node is replaced by what `f` returns for it (itself, mostly), after its children were.
template <class F>
Expr rewrite(Expr e, F&& f) {
  const unsigned count = child_count(e);
  for (unsigned i = 0; i < count; ++i) {
    Expr child = child_at(e, i);
    if (!child) continue;
    if (Expr replacement = rewrite(child, f); replacement != child) set_child(e, i, replacement);
  }
  return f(e);
}

std::optional<std::int32_t> const_i32(Expr e);  // the value, if e is an i32 constant

bool writes(Expr root, Local local);

// The labels a br or br_table may jump to.
std::vector<const char*> branch_targets(Expr e);
// Gives every label defined inside `root` a new name, so that a copy can stand beside the original.
void rename_labels(Expr root, const std::string& suffix);

std::vector<Type> expand(Type type);  // a parameter list as single types

// A function that is being rewritten. Binaryen's C API cannot add locals to a function, so it is taken apart, changed, and added anew.
struct FunctionDraft {
  std::string name;
  Type params;
  Type results;
  std::vector<Type> locals;  // parameters first
  Expr body;

  Local add_local(Type type);
  BinaryenIndex param_count() const { return BinaryenTypeArity(params); }
};

// Builders bound to one module; does not own it.
class Builder {
 public:
  explicit Builder(BinaryenModuleRef module) : module_(module) {}
  BinaryenModuleRef module() const { return module_; }

  Expr i32(std::int32_t value) const;
  Expr zero(Type type) const;  // the value a function returns while it unwinds
  Expr nop() const { return BinaryenNop(module_); }
  Expr unreachable() const { return BinaryenUnreachable(module_); }
  Expr get(Local local, Type type) const { return BinaryenLocalGet(module_, local, type); }
  Expr get_i32(Local local) const { return get(local, BinaryenTypeInt32()); }
  Expr set(Local local, Expr value) const { return BinaryenLocalSet(module_, local, value); }
  Expr global(const char* name) const { return BinaryenGlobalGet(module_, name, BinaryenTypeInt32()); }
  Expr set_global(const char* name, Expr value) const { return BinaryenGlobalSet(module_, name, value); }
  Expr binary(BinaryenOp op, Expr left, Expr right) const { return BinaryenBinary(module_, op, left, right); }
  Expr eqz(Expr value) const { return BinaryenUnary(module_, BinaryenEqZInt32(), value); }
  Expr if_else(Expr condition, Expr then, Expr otherwise = nullptr) const { return BinaryenIf(module_, condition, then, otherwise); }
  Expr br(const char* label, Expr condition = nullptr, Expr value = nullptr) const {
    return BinaryenBreak(module_, label, condition, value);
  }
  Expr ret(Expr value = nullptr) const { return BinaryenReturn(module_, value); }
  Expr drop(Expr value) const { return BinaryenDrop(module_, value); }
  Expr call(const std::string& target, std::vector<Expr> operands, Type result) const;
  // A list of statements; a single one stays as it is.
  Expr sequence(std::vector<Expr> statements) const;
  Expr block(const char* label, std::vector<Expr> statements, Type type) const;
  Expr loop(const char* label, Expr body) const { return BinaryenLoop(module_, label, body); }
  Expr copy(Expr e) const { return BinaryenExpressionCopy(e, module_); }
  Expr load(Type type, Expr address) const;
  Expr store(Type type, std::uint32_t offset, Expr address, Expr value) const;

  FunctionDraft read(const std::string& name) const;
  FunctionDraft take(const std::string& name) const;  // removes the function from the module
  void add(const FunctionDraft& draft) const;

 private:
  BinaryenModuleRef module_;
};

std::uint32_t byte_size(Type type);                         // of one concrete value
std::string readable_name(std::string_view binaryen_name);  // undoes Binaryen's escapes

}  // namespace gw::prep
