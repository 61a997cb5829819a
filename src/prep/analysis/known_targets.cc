#include "prep/analysis/known_targets.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "prep/analysis/call_graph.h"
#include "prep/analysis/function_table.h"

namespace gw::prep {
namespace {

// More targets than this gain little over the engine's own look-up, and each is code.
constexpr std::size_t kMaxTargets = 8;
// The cost of an indirect call matters only if the called function is short.
constexpr std::size_t kShortTarget = 80;
// Up to here one comparison after the other; then a jump table.
constexpr std::size_t kMaxCompared = 3;
constexpr std::uint32_t kMaxJumpTable = 64;
// A module whose table has every shorter signature goes without.
constexpr std::size_t kMaxNobodysParams = 16;

struct Target {
  std::uint32_t index;  // in the table
  std::string function;
};

using Targets = std::vector<Target>;  // ascending

// The content of the table after all segments are written, by signature.
std::map<CallGraph::Signature, Targets> read_table(BinaryenModuleRef module) {
  std::map<std::uint32_t, std::string> entries;
  for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module); ++i) {
    BinaryenElementSegmentRef segment = BinaryenGetElementSegmentByIndex(module, i);
    const auto offset = static_cast<std::uint32_t>(*const_i32(BinaryenElementSegmentGetOffset(segment)));
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(segment); ++k)
      entries.insert_or_assign(offset + k, BinaryenElementSegmentGetData(segment, k));
  }
  std::map<CallGraph::Signature, Targets> table;
  for (auto& [index, function] : entries) {
    BinaryenFunctionRef ref = BinaryenGetFunction(module, function.c_str());
    table[{BinaryenFunctionGetParams(ref), BinaryenFunctionGetResults(ref)}].push_back({index, std::move(function)});
  }
  return table;
}

class DirectCalls {
 public:
  DirectCalls(BinaryenModuleRef module, GrowthBudget& budget) : build_(module), table_(read_table(module)), budget_(budget) {
    // No function in the table has so many parameters.
    do {
      nobodys_params_.push_back(BinaryenTypeInt64());
    } while (table_.contains({nobodys_type(), BinaryenTypeNone()}));
    for (const auto& [signature, targets] : table_)
      for (const Target& target : targets) measure(target.function);
  }

  // Could be replaced; replace() does if there is room.
  bool has_few_targets(Expr e) const {
    if (!is(e, Node::call_indirect) || nobodys_params_.size() > kMaxNobodysParams) return false;
    for (unsigned i = 0; i < child_count(e); ++i)
      if (!is_concrete(type_of(child_at(e, i)))) return false;
    const auto found = table_.find(signature_of(e));
    if (found == table_.end() || found->second.size() > kMaxTargets) return false;
    const Targets& targets = found->second;
    if (targets.size() > kMaxCompared && targets.back().index - targets.front().index >= kMaxJumpTable) return false;
    return std::ranges::all_of(targets, [&](const Target& target) { return short_.contains(target.function); });
  }

  Expr replace(Expr e, FunctionDraft& draft) {
    if (!has_few_targets(e) || !budget_.take(growth_of(e))) return e;
    std::vector<Expr> statements;
    const unsigned count = child_count(e);
    std::vector<Expr> operands;
    for (unsigned i = 0; i < count; ++i) operands.push_back(in_local(e, i, draft, statements));
    Expr pointer = operands.back();
    operands.pop_back();
    const Call call{table_.at(signature_of(e)), operands, pointer, BinaryenCallIndirectGetResults(e), draft};
    ++replaced_;
    statements.push_back(call.targets.size() <= kMaxCompared ? by_comparison(call) : by_jump_table(call));
    return build_.block(nullptr, std::move(statements), call.result);
  }

  unsigned replaced() const { return replaced_; }

 private:
  struct Call {
    const Targets& targets;
    const std::vector<Expr>& operands;
    Expr pointer;
    Type result;
    FunctionDraft& caller;
  };

  void measure(const std::string& name) {
    if (!BinaryenFunctionGetBody(BinaryenGetFunction(build_.module(), name.c_str()))) return;
    const FunctionDraft function = build_.read(name);
    if (size_of(function) <= kShortTarget) short_.insert(name);
    if (is_small_leaf(function)) small_leaves_.emplace(name, size_of(function));
  }

  std::size_t growth_of(Expr e) const {
    constexpr std::size_t kChoice = 4;  // comparison or label, jump
    std::size_t nodes = nobodys_params_.size();
    for (const Target& target : table_.at(signature_of(e))) {
      const auto leaf = small_leaves_.find(target.function);
      nodes += kChoice + child_count(e) + (leaf == small_leaves_.end() ? 0 : leaf->second);
    }
    return nodes;
  }

  Type nobodys_type() { return BinaryenTypeCreate(nobodys_params_.data(), static_cast<BinaryenIndex>(nobodys_params_.size())); }

  // Operand `i` of `e` as an expression that can be evaluated several times, after all operands.
  Expr in_local(Expr e, unsigned i, FunctionDraft& draft, std::vector<Expr>& statements) const {
    Expr operand = child_at(e, i);
    if (is(operand, Node::constant)) return operand;
    if (is(operand, Node::local_get)) {
      bool changes = false;
      for (unsigned later = i + 1; later < child_count(e); ++later)
        changes |= writes(child_at(e, later), BinaryenLocalGetGetIndex(operand));
      if (!changes) return operand;
    }
    const Type type = type_of(operand);
    const Local local = draft.add_local(type);
    statements.push_back(build_.set(local, operand));
    return build_.get(local, type);
  }

  Expr direct(const Call& call, const Target& target) const {
    std::vector<Expr> operands;
    for (Expr operand : call.operands) operands.push_back(build_.copy(operand));
    if (small_leaves_.contains(target.function)) {
      const std::string label = fmt::format("gw$inline{}${}", replaced_, target.index);
      return inlined(build_, build_.read(target.function), std::move(operands), label, call.caller);
    }
    return build_.call(target.function, std::move(operands), call.result);
  }

  // A call of a signature that no function has: the engine says what is wrong with the pointer. The table will grow (function_table.h):
  // what lies outside of it now must do so then.
  Expr wrong_pointer(const Call& call) {
    std::vector<Expr> zeros;
    for (Type type : nobodys_params_) zeros.push_back(build_.zero(type));
    const auto size = static_cast<std::int32_t>(table_size(build_.module()));
    Expr within = build_.binary(BinaryenLtUInt32(), build_.copy(call.pointer), build_.i32(size));
    Expr pointer = BinaryenSelect(build_.module(), within, build_.copy(call.pointer), build_.i32(-1), BinaryenTypeInt32());
    Expr trap = BinaryenCallIndirect(build_.module(), BinaryenTableGetName(BinaryenGetTableByIndex(build_.module(), 0)), pointer,
                                     zeros.data(), static_cast<BinaryenIndex>(zeros.size()), nobodys_type(), BinaryenTypeNone());
    return build_.sequence({trap, build_.unreachable()});
  }

  Expr by_comparison(const Call& call) {
    Expr chosen = wrong_pointer(call);
    for (auto target = call.targets.rbegin(); target != call.targets.rend(); ++target) {
      Expr hit = build_.binary(BinaryenEqInt32(), build_.copy(call.pointer), build_.i32(static_cast<std::int32_t>(target->index)));
      chosen = build_.if_else(hit, direct(call, *target), chosen);
    }
    return chosen;
  }

  // block $done { block $wrong { block $t1 { block $t0 { br_table } f0; br $done } f1; br $done } trap }
  Expr by_jump_table(const Call& call) {
    const std::string prefix = fmt::format("gw$call{}$", replaced_);
    const std::string done = prefix + "done", wrong = prefix + "wrong";
    auto label = [&](const Target& target) { return prefix + std::to_string(target.index); };
    const std::uint32_t first = call.targets.front().index;
    std::vector<std::string> labels(call.targets.back().index - first + 1, wrong);
    for (const Target& target : call.targets) labels[target.index - first] = label(target);
    std::vector<const char*> names;
    for (const std::string& name : labels) names.push_back(name.c_str());
    Expr offset = build_.binary(BinaryenSubInt32(), build_.copy(call.pointer), build_.i32(static_cast<std::int32_t>(first)));
    Expr code = BinaryenSwitch(build_.module(), names.data(), static_cast<BinaryenIndex>(names.size()), wrong.c_str(), offset, nullptr);
    const bool has_result = call.result != BinaryenTypeNone();
    for (const Target& target : call.targets) {
      Expr there = build_.block(label(target).c_str(), {code}, BinaryenTypeNone());
      Expr result = direct(call, target);
      code = has_result ? build_.block(nullptr, {there, build_.br(done.c_str(), nullptr, result)}, BinaryenTypeUnreachable())
                        : build_.block(nullptr, {there, result, build_.br(done.c_str())}, BinaryenTypeUnreachable());
    }
    Expr nowhere = build_.block(wrong.c_str(), {code}, BinaryenTypeNone());
    return build_.block(done.c_str(), {nowhere, wrong_pointer(call)}, call.result);
  }

  Builder build_;
  std::map<CallGraph::Signature, Targets> table_;
  std::set<std::string> short_;
  std::map<std::string, std::size_t> small_leaves_;  // and their sizes
  GrowthBudget& budget_;
  std::vector<Type> nobodys_params_;
  unsigned replaced_ = 0;
};

}  // namespace

unsigned make_few_targets_direct(BinaryenModuleRef module, GrowthBudget& budget) {
  if (table_size(module) == 0) return 0;
  const Builder build(module);
  DirectCalls calls(module, budget);
  std::vector<std::string> affected;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    bool found = false;
    if (Expr body = BinaryenFunctionGetBody(function)) walk(body, [&](Expr e) { found |= calls.has_few_targets(e); });
    if (found) affected.emplace_back(BinaryenFunctionGetName(function));
  }
  for (const std::string& name : affected) {
    FunctionDraft draft = build.take(name);
    draft.body = rewrite(draft.body, [&](Expr e) { return calls.replace(e, draft); });
    build.add(draft);
  }
  return calls.replaced();
}

}  // namespace gw::prep
