#include "prep/analysis/sites.h"

#include <algorithm>

namespace gw::prep {

SiteKind SiteRules::kind_of(Expr e) const {
  if (is(e, Node::call)) {
    const CallGraph::Index target = graph_.index_of(BinaryenCallGetTarget(e));
    const CallGraph::Function& function = graph_.functions()[target];
    if (function.is_poll_marker) return SiteKind::poll;
    if (function.blocking_import) return SiteKind::blocking_call;
    return may_suspend_[target] ? SiteKind::call : SiteKind::none;
  }
  if (is(e, Node::call_indirect)) {
    const auto& targets = graph_.in_table(signature_of(e));
    return std::ranges::any_of(targets, [&](CallGraph::Index f) { return may_suspend_[f]; }) ? SiteKind::call : SiteKind::none;
  }
  return SiteKind::none;
}

bool SiteRules::may_throw(Expr call) const {
  if (is(call, Node::call)) return graph_.functions()[graph_.index_of(BinaryenCallGetTarget(call))].may_throw;
  return std::ranges::any_of(graph_.in_table(signature_of(call)), [&](CallGraph::Index f) { return graph_.functions()[f].may_throw; });
}

bool SiteMap::collect(const SiteRules& rules, Expr e) {
  bool found = rules.kind_of(e) != SiteKind::none;
  for_each_child(e, [&](Expr child) { found |= collect(rules, child); });
  if (found) above_.insert(e);
  return found;
}

}  // namespace gw::prep
