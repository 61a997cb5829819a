#pragma once
// The call graph: which function may call which, and which may be on the stack during a suspension.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prep/ir.h"

namespace gw::prep {

// A poll point, until the two-bodies pass turns it into code: a call of this function, which no module can contain by itself.
inline constexpr const char* kPollMarker = "gw$poll";

// The call graph of a module. An indirect call may reach every function of its signature that is in a table (typed analysis), nothing else.
//
// A snapshot: taken once, valid while no function is added or removed and no call changed. Functions are numbered in module order, so every
// result is the same for the same module.
class CallGraph {
 public:
  using Index = std::uint32_t;
  using Signature = std::pair<Type, Type>;

  struct Function {
    std::string name;
    bool imported = false;
    bool is_poll_marker = false;   // see polls.h
    bool blocking_import = false;  // the host may park the isolate inside it
    bool may_throw = false;        // after exceptions.h: has the label by which exceptions leave
    Expr body = nullptr;
    std::vector<Index> callees;  // direct and indirect, ascending, no duplicates
    std::set<Signature> indirect;
  };

  explicit CallGraph(BinaryenModuleRef module);

  const std::vector<Function>& functions() const { return functions_; }
  Index index_of(const std::string& name) const { return by_name_.at(name); }
  const std::vector<Index>& in_table(const Signature& signature) const;

  // A set of functions that every cycle of calls passes through: polling at their entries bounds the time a recursion runs without a poll.
  std::vector<bool> recursion_breakers() const;

  // All functions from which a member of `seeds` may be reached by calls, seeds included.
  std::vector<bool> callers_of(std::vector<bool> seeds) const;

  // Functions ordered so that callees come before callers wherever there is no recursion.
  std::vector<Index> callees_first() const;

 private:
  void collect_calls(Function& function);

  std::vector<Function> functions_;
  std::map<std::string, Index, std::less<>> by_name_;
  std::map<Signature, std::vector<Index>> table_;
};

CallGraph::Signature signature_of(Expr call_indirect);

}  // namespace gw::prep
