#include "prep/analysis/throw_analysis.h"

namespace gw::prep {
namespace {

std::string_view label_or_empty(const char* name) { return name ? name : ""; }

}  // namespace

ThrowAnalysis::ThrowAnalysis(BinaryenModuleRef module, const TagTable& tags)
    : tags_(tags), graph_(module), leaving_(graph_.functions().size(), 0) {
  std::vector<std::vector<CallGraph::Index>> callers(leaving_.size());
  std::vector<CallGraph::Index> todo;
  for (CallGraph::Index f = 0; f < leaving_.size(); ++f) {
    for (CallGraph::Index callee : graph_.functions()[f].callees) callers[callee].push_back(f);
    todo.push_back(f);
  }
  std::vector<bool> waiting(leaving_.size(), true);
  while (!todo.empty()) {
    const CallGraph::Index f = todo.back();
    todo.pop_back();
    waiting[f] = false;
    const TagSet now = leaving_now(f);
    if (now == leaving_[f]) continue;
    leaving_[f] = now;
    for (CallGraph::Index caller : callers[f]) {
      if (!waiting[caller]) todo.push_back(caller);
      waiting[caller] = true;
    }
  }
}

TagSet ThrowAnalysis::thrown_by(Expr call) const {
  if (is(call, Node::call)) return leaving_[graph_.index_of(BinaryenCallGetTarget(call))];
  TagSet all = 0;
  for (CallGraph::Index f : graph_.in_table(signature_of(call))) all |= leaving_[f];
  return all;
}

TagSet ThrowAnalysis::leaving_now(CallGraph::Index f) {
  TagSet leaving = 0;
  Scope scope;
  if (Expr body = graph_.functions()[f].body) visit(body, leaving, leaving, scope);
  return leaving;
}

void ThrowAnalysis::visit(Expr e, TagSet& here, TagSet& function, Scope& scope) {
  if (is(e, Node::try_catch)) return visit_try(e, here, function, scope);
  if (is(e, Node::throw_tag)) here |= tags_.at(BinaryenThrowGetTag(e)).bit();
  if (is(e, Node::rethrow)) here |= scope.caught.find(label_or_empty(BinaryenRethrowGetTarget(e)))->second;
  if (is(e, Node::call) || is(e, Node::call_indirect)) here |= thrown_by(e);
  for_each_child(e, [&](Expr child) { visit(child, here, function, scope); });
}

void ThrowAnalysis::visit_try(Expr e, TagSet& here, TagSet& function, Scope& scope) {
  if (BinaryenTryIsDelegate(e)) {
    auto target = scope.delegated.find(label_or_empty(BinaryenTryGetDelegateTarget(e)));  // no such try: the caller
    return visit(BinaryenTryGetBody(e), target == scope.delegated.end() ? function : *target->second, function, scope);
  }
  const std::string name(label_or_empty(BinaryenTryGetName(e)));
  TagSet coming = 0;
  scope.delegated[name] = &coming;
  visit(BinaryenTryGetBody(e), coming, function, scope);
  scope.delegated[name] = &here;  // in its clauses the try has been left
  coming_[e] = coming;
  TagSet left = coming;
  for (BinaryenIndex i = 0; i < BinaryenTryGetNumCatchBodies(e) && left != 0; ++i) {
    const TagSet taken = tags_.taken_by(e, i, left);
    left &= ~taken;
    scope.caught[name] = taken;
    if (taken != 0) visit(BinaryenTryGetCatchBodyAt(e, i), here, function, scope);
  }
  here |= left;
}

}  // namespace gw::prep
