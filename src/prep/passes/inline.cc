#include "prep/passes/inline.h"

#include <algorithm>

#include <fmt/format.h>

#include "prep/exceptions/exceptions.h"

namespace gw::prep {
namespace {

constexpr std::size_t kSmallLeaf = 40, kSmallRecursion = 80;  // nodes and locals
constexpr unsigned kSelfCallsMax = 3;
constexpr std::size_t kGrowthMin = 4'000, kGrowthShare = 8;

std::size_t nodes_in(Expr e) {
  std::size_t nodes = 0;
  walk(e, [&](Expr) { ++nodes; });
  return nodes;
}

unsigned self_calls_in(const FunctionDraft& function) {
  unsigned calls = 0;
  walk(function.body, [&](Expr e) { calls += is(e, Node::call) && function.name == BinaryenCallGetTarget(e) ? 1 : 0; });
  return calls;
}

std::vector<Expr> children_of(Expr e) {
  std::vector<Expr> children;
  for_each_child(e, [&](Expr child) { children.push_back(child); });
  return children;
}

}  // namespace

GrowthBudget::GrowthBudget(BinaryenModuleRef module) {
  std::size_t nodes = 0;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i)
    if (Expr body = BinaryenFunctionGetBody(BinaryenGetFunctionByIndex(module, i))) nodes += nodes_in(body);
  left_ = std::max(kGrowthMin, nodes / kGrowthShare);
}

bool GrowthBudget::take(std::size_t nodes) {
  if (nodes > left_) return false;
  left_ -= nodes;
  return true;
}

std::size_t size_of(const FunctionDraft& function) {
  constexpr std::size_t kCheck = 2, kResult = 4;  // branch and condition; block, set, get and local of a result that waits
  std::size_t size = nodes_in(function.body) + function.locals.size();
  walk(function.body, [&](Expr e) {
    if (is_exception_check(e)) size -= kCheck;
    if (is(e, Node::block) && child_count(e) == 3 && is_exception_check(child_at(e, 1)) && is(child_at(e, 0), Node::local_set))
      size -= kResult;
  });
  return size;
}

bool is_small_leaf(const FunctionDraft& function) {
  bool leaf = true;
  walk(function.body, [&](Expr e) { leaf &= !is(e, Node::call) && !is(e, Node::call_indirect) && !is(e, Node::loop); });
  return leaf && size_of(function) <= kSmallLeaf;
}

Expr inlined(const Builder& build, const FunctionDraft& callee, std::vector<Expr> operands, const std::string& label,
             FunctionDraft& caller) {
  const auto first = static_cast<Local>(caller.locals.size());
  std::vector<Expr> statements;
  for (std::size_t i = 0; i < callee.locals.size(); ++i) {
    const Local local = caller.add_local(callee.locals[i]);
    statements.push_back(build.set(local, i < operands.size() ? operands[i] : build.zero(callee.locals[i])));
  }
  Expr body = build.copy(callee.body);
  rename_labels(body, label);
  statements.push_back(rewrite(body, [&](Expr e) {
    if (is(e, Node::local_get)) BinaryenLocalGetSetIndex(e, first + BinaryenLocalGetGetIndex(e));
    if (is(e, Node::local_set)) BinaryenLocalSetSetIndex(e, first + BinaryenLocalSetGetIndex(e));
    return is(e, Node::ret) ? build.br(label.c_str(), nullptr, BinaryenReturnGetValue(e)) : e;
  }));
  return build.block(label.c_str(), std::move(statements), callee.results);
}

unsigned unroll_recursion(BinaryenModuleRef module, GrowthBudget& budget) {
  const Builder build(module);
  std::vector<std::string> recursive;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef ref = BinaryenGetFunctionByIndex(module, i);
    if (!BinaryenFunctionGetBody(ref)) continue;
    const FunctionDraft function = build.read(BinaryenFunctionGetName(ref));
    const unsigned calls = self_calls_in(function);
    const std::size_t size = size_of(function);
    if (calls > 0 && calls <= kSelfCallsMax && size <= kSmallRecursion && budget.take(calls * size)) recursive.push_back(function.name);
  }
  for (const std::string& name : recursive) {
    FunctionDraft draft = build.take(name);
    FunctionDraft step = draft;
    step.body = build.copy(draft.body);
    unsigned calls = 0;
    draft.body = rewrite(draft.body, [&](Expr e) {
      if (!is(e, Node::call) || name != BinaryenCallGetTarget(e)) return e;
      return inlined(build, step, children_of(e), fmt::format("gw$step{}", calls++), draft);
    });
    build.add(draft);
  }
  return static_cast<unsigned>(recursive.size());
}

}  // namespace gw::prep
