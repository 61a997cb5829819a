#include "prep/analysis/call_graph.h"

#include <algorithm>
#include <deque>

#include "prep/exceptions/exceptions.h"
#include "wire/wasm/wasi_imports.h"

namespace gw::prep {
namespace {

using Index = CallGraph::Index;

// Iterative depth-first search: call chains of generated code can be deeper than our own stack.
// Calls leave(f) when all callees of f are done and back_edge(target) for an edge to a function that is still open.
template <class Leave, class BackEdge>
void depth_first(const std::vector<CallGraph::Function>& functions, Leave leave, BackEdge back_edge) {
  enum class Mark : std::uint8_t { fresh, open, closed };
  std::vector<Mark> mark(functions.size(), Mark::fresh);
  std::vector<std::pair<Index, std::size_t>> stack;
  for (Index root = 0; root < functions.size(); ++root) {
    if (mark[root] != Mark::fresh) continue;
    stack.emplace_back(root, 0);
    mark[root] = Mark::open;
    while (!stack.empty()) {
      auto& [f, next] = stack.back();
      if (next == functions[f].callees.size()) {
        mark[f] = Mark::closed;
        leave(f);
        stack.pop_back();
        continue;
      }
      const Index callee = functions[f].callees[next++];
      if (mark[callee] == Mark::open) back_edge(callee);
      if (mark[callee] != Mark::fresh) continue;
      mark[callee] = Mark::open;
      stack.emplace_back(callee, 0);
    }
  }
}

}  // namespace

CallGraph::Signature signature_of(Expr call_indirect) {
  return {BinaryenCallIndirectGetParams(call_indirect), BinaryenCallIndirectGetResults(call_indirect)};
}

CallGraph::CallGraph(BinaryenModuleRef module) {
  const BinaryenIndex count = BinaryenGetNumFunctions(module);
  for (BinaryenIndex i = 0; i < count; ++i) {
    BinaryenFunctionRef ref = BinaryenGetFunctionByIndex(module, i);
    Function function{.name = BinaryenFunctionGetName(ref), .body = BinaryenFunctionGetBody(ref)};
    const std::string_view import_module = BinaryenFunctionImportGetModule(ref);
    function.imported = !import_module.empty();
    function.is_poll_marker = function.name == kPollMarker;
    const wire::HostFunction* host = function.imported ? wire::find_importable(import_module, BinaryenFunctionImportGetBase(ref)) : nullptr;
    function.blocking_import = host && host->blocking == wire::Blocking::maybe;
    by_name_[function.name] = static_cast<Index>(functions_.size());
    functions_.push_back(std::move(function));
  }
  std::set<Index> addressed;
  for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module); ++i) {
    BinaryenElementSegmentRef segment = BinaryenGetElementSegmentByIndex(module, i);
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(segment); ++k)
      addressed.insert(by_name_.at(BinaryenElementSegmentGetData(segment, k)));
  }
  for (Index f : addressed) {
    BinaryenFunctionRef ref = BinaryenGetFunction(module, functions_[f].name.c_str());
    table_[{BinaryenFunctionGetParams(ref), BinaryenFunctionGetResults(ref)}].push_back(f);
  }
  for (Function& function : functions_)
    if (function.body) collect_calls(function);
}

void CallGraph::collect_calls(Function& function) {
  std::set<Index> callees;
  walk(function.body, [&](Expr e) {
    if (is(e, Node::call)) callees.insert(by_name_.at(BinaryenCallGetTarget(e)));
    if (is(e, Node::block) && BinaryenBlockGetName(e) && std::string_view(BinaryenBlockGetName(e)) == kThrowLabel)
      function.may_throw = true;
    if (is(e, Node::call_indirect)) function.indirect.insert(signature_of(e));
  });
  for (const Signature& signature : function.indirect) callees.insert(in_table(signature).begin(), in_table(signature).end());
  function.callees.assign(callees.begin(), callees.end());
}

const std::vector<CallGraph::Index>& CallGraph::in_table(const Signature& signature) const {
  static const std::vector<Index> none;
  auto it = table_.find(signature);
  return it == table_.end() ? none : it->second;
}

std::vector<bool> CallGraph::recursion_breakers() const {
  std::vector<bool> breaker(functions_.size(), false);
  depth_first(functions_, [](Index) {}, [&](Index target) { breaker[target] = true; });
  return breaker;
}

std::vector<bool> CallGraph::callers_of(std::vector<bool> seeds) const {
  std::vector<std::vector<Index>> callers(functions_.size());
  std::deque<Index> todo;
  for (Index f = 0; f < functions_.size(); ++f) {
    for (Index callee : functions_[f].callees) callers[callee].push_back(f);
    if (seeds[f]) todo.push_back(f);
  }
  while (!todo.empty()) {
    const Index f = todo.front();
    todo.pop_front();
    for (Index caller : callers[f]) {
      if (seeds[caller]) continue;
      seeds[caller] = true;
      todo.push_back(caller);
    }
  }
  return seeds;
}

std::vector<CallGraph::Index> CallGraph::callees_first() const {
  std::vector<Index> order;
  depth_first(functions_, [&](Index f) { order.push_back(f); }, [](Index) {});
  return order;
}

}  // namespace gw::prep
