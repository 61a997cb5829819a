#pragma once
// Which exceptions may leave which function, and which may come to which try: code that cannot throw needs no check.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "prep/analysis/call_graph.h"
#include "prep/exceptions/exception_tags.h"
#include "prep/ir.h"

namespace gw::prep {

// A fixpoint over the call graph. An indirect call may throw what any function of its signature in the table may; an import throws nothing.
// Catches subtract, rethrow and delegate are followed. Valid while the module does not change.
class ThrowAnalysis {
 public:
  ThrowAnalysis(BinaryenModuleRef module, const TagTable& tags);

  const CallGraph& graph() const { return graph_; }
  TagSet leaving(CallGraph::Index f) const { return leaving_[f]; }
  TagSet coming_to(Expr try_catch) const { return coming_.at(try_catch); }
  TagSet thrown_by(Expr call) const;

 private:
  // The meaning of the names of tries at one place of a function.
  struct Scope {
    std::map<std::string, TagSet*, std::less<>> delegated;  // collects the tags delegated to the try
    std::map<std::string, TagSet, std::less<>> caught;      // the tags that the clause around this place has caught
  };

  TagSet leaving_now(CallGraph::Index f);
  // Adds what is thrown inside `e` to `here`, and what is delegated to the caller to `function`.
  void visit(Expr e, TagSet& here, TagSet& function, Scope& scope);
  void visit_try(Expr e, TagSet& here, TagSet& function, Scope& scope);

  const TagTable& tags_;
  CallGraph graph_;
  std::vector<TagSet> leaving_;
  std::unordered_map<Expr, TagSet> coming_;
};

}  // namespace gw::prep
