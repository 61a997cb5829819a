#pragma once
// Sites: the places where a frame can be left during a suspension.

#include <string>
#include <unordered_set>

#include "prep/analysis/call_graph.h"
#include "prep/ir.h"

namespace gw::prep {

enum class SiteKind {
  none,
  poll,           // stop point: the marker
  blocking_call,  // stop point: an import that may park the isolate; called again after the rewind
  call,           // a function that may suspend
};

// Knows which calls of a module are sites.
class SiteRules {
 public:
  // may_suspend: by function index of the graph, imports included.
  SiteRules(const CallGraph& graph, std::vector<bool> may_suspend) : graph_(graph), may_suspend_(std::move(may_suspend)) {}

  SiteKind kind_of(Expr e) const;
  bool may_throw(Expr call) const;
  bool may_suspend(CallGraph::Index f) const { return may_suspend_[f]; }

 private:
  const CallGraph& graph_;
  std::vector<bool> may_suspend_;
};

// The expressions that contain a site or are one. Built once per body.
class SiteMap {
 public:
  SiteMap(const SiteRules& rules, Expr body) { collect(rules, body); }
  bool contains(Expr e) const { return above_.contains(e); }

 private:
  bool collect(const SiteRules& rules, Expr e);
  std::unordered_set<Expr> above_;
};

}  // namespace gw::prep
