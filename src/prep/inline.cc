#include "prep/inline.h"

#include <fmt/format.h>

namespace gw::prep {
namespace {

constexpr unsigned kSmallLeafNodes = 40;
constexpr unsigned kSmallRecursionNodes = 80;
constexpr unsigned kSelfCallsMax = 3;

struct BodySize {
  unsigned nodes = 0, calls = 0, self_calls = 0, loops = 0;
};

BodySize size_of(const FunctionDraft& function) {
  BodySize size;
  walk(function.body, [&](Expr e) {
    ++size.nodes;
    size.calls += is(e, Node::call) || is(e, Node::call_indirect) ? 1 : 0;
    size.self_calls += is(e, Node::call) && function.name == BinaryenCallGetTarget(e) ? 1 : 0;
    size.loops += is(e, Node::loop) ? 1 : 0;
  });
  return size;
}

std::vector<Expr> children_of(Expr e) {
  std::vector<Expr> children;
  for_each_child(e, [&](Expr child) { children.push_back(child); });
  return children;
}

}  // namespace

bool is_small_leaf(const FunctionDraft& function) {
  const BodySize size = size_of(function);
  return size.nodes <= kSmallLeafNodes && size.calls == 0 && size.loops == 0;
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

unsigned unroll_recursion(BinaryenModuleRef module) {
  const Builder build(module);
  std::vector<std::string> recursive;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (!BinaryenFunctionGetBody(function)) continue;
    const BodySize size = size_of(build.read(BinaryenFunctionGetName(function)));
    if (size.nodes <= kSmallRecursionNodes && size.self_calls > 0 && size.self_calls <= kSelfCallsMax)
      recursive.emplace_back(BinaryenFunctionGetName(function));
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
