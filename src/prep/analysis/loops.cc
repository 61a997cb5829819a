// Which loops need no poll.
//
// Problem: a poll in every loop costs a load and a branch per iteration, which is a large part of a short loop body. A loop without a poll
// delays a suspension by its whole run time.
//
// Solution: a loop gets no poll if an upper bound of its work is proven small, including the functions it calls. The bound of a counted
// loop is its trip count times the bound of its body. Where the trip count is known only at run time, but before the loop is entered, the
// loop is *versioned*: an unpolled copy runs when the count is small, a polled one otherwise (polls.cc).
//
// The proof is deliberately narrow (one back edge, one induction variable written once per iteration, an invariant bound): a pattern that
// is not recognised costs a poll, a wrong one would cost an unbounded delay. Costs are counted in visited expression nodes, not in time, so
// that the same module gives the same polls everywhere.

#include "prep/analysis/loops.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace gw::prep {
namespace {

constexpr std::uint64_t kImportCost = 200;  // a host call that cannot block
constexpr std::uint64_t kMemoryGrowCost = 5000;

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > LoopCosts::kUnbounded - b ? LoopCosts::kUnbounded : a + b; }
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) { return b != 0 && a > LoopCosts::kUnbounded / b ? LoopCosts::kUnbounded : a * b; }

std::uint64_t bulk_cost(Expr size) {
  constexpr std::uint64_t kBytesPerNode = 16;
  const auto bytes = const_i32(size);
  return bytes && *bytes >= 0 ? 1 + static_cast<std::uint64_t>(*bytes) / kBytesPerNode : LoopCosts::kUnbounded;
}

bool jumps_to(Expr e, const char* label) {
  for (const char* target : branch_targets(e))
    if (std::strcmp(target, label) == 0) return true;
  return false;
}

struct LoopBody {
  unsigned back_edges = 0;
  Expr back_edge = nullptr;
  std::unordered_map<Local, unsigned> writes;
  std::unordered_map<Local, Expr> last_write;
};

LoopBody inspect(Expr loop, const char* label) {
  LoopBody body;
  walk(BinaryenLoopGetBody(loop), [&](Expr e) {
    if (jumps_to(e, label)) {
      ++body.back_edges;
      body.back_edge = e;
    }
    if (is(e, Node::local_set)) {
      const Local local = BinaryenLocalSetGetIndex(e);
      ++body.writes[local];
      body.last_write[local] = e;
    }
  });
  return body;
}

bool contains(Expr root, Expr wanted) {
  bool found = false;
  walk(root, [&](Expr e) { found |= e == wanted; });
  return found;
}

// Is `write` certain to run in each iteration before `test`? True for a tee inside the test's condition and for a statement of the loop's
// body list that stands before the statement with the test.
bool always_before(Expr loop, Expr write, Expr compared, Expr test) {
  if (write == compared) return true;
  Expr body = BinaryenLoopGetBody(loop);
  if (!is(body, Node::block) || BinaryenBlockGetName(body)) return false;
  for (unsigned i = 0; i < child_count(body); ++i) {
    if (child_at(body, i) == write) return true;
    if (contains(child_at(body, i), test)) return false;
  }
  return false;
}

struct Test {
  Expr variable;  // local.get or local.tee
  Expr bound;     // null: zero
  enum class Relation { not_equal, less } relation;
};

// Reads "go on while" from the condition of a back edge.
std::optional<Test> read_condition(Expr condition) {
  if (is(condition, Node::local_get) || is(condition, Node::local_set)) return Test{condition, nullptr, Test::Relation::not_equal};
  if (!is(condition, Node::binary)) return std::nullopt;
  const BinaryenOp op = BinaryenBinaryGetOp(condition);
  Expr left = BinaryenBinaryGetLeft(condition);
  Expr right = BinaryenBinaryGetRight(condition);
  if (op == BinaryenNeInt32()) return Test{left, right, Test::Relation::not_equal};
  if (op == BinaryenLtUInt32() || op == BinaryenLtSInt32()) return Test{left, right, Test::Relation::less};
  if (op == BinaryenGtUInt32() || op == BinaryenGtSInt32()) return Test{right, left, Test::Relation::less};
  return std::nullopt;
}

std::optional<Local> local_of(Expr e) {
  if (is(e, Node::local_get)) return BinaryenLocalGetGetIndex(e);
  if (is(e, Node::local_set) && BinaryenLocalSetIsTee(e)) return BinaryenLocalSetGetIndex(e);
  return std::nullopt;
}

std::optional<std::int32_t> step_of(Expr write, Local variable) {
  Expr value = BinaryenLocalSetGetValue(write);
  if (!is(value, Node::binary)) return std::nullopt;
  Expr base = BinaryenBinaryGetLeft(value);
  const auto amount = const_i32(BinaryenBinaryGetRight(value));
  if (!is(base, Node::local_get) || BinaryenLocalGetGetIndex(base) != variable || !amount || *amount == INT32_MIN) return std::nullopt;
  if (BinaryenBinaryGetOp(value) == BinaryenAddInt32()) return *amount;
  if (BinaryenBinaryGetOp(value) == BinaryenSubInt32()) return -*amount;
  return std::nullopt;
}

bool is_invariant(Expr bound, const LoopBody& body) {
  if (!bound || const_i32(bound)) return true;
  return is(bound, Node::local_get) && !body.writes.contains(BinaryenLocalGetGetIndex(bound));
}

}  // namespace

std::optional<CountedLoop> recognise_counted_loop(Expr loop) {
  const char* label = BinaryenLoopGetName(loop);
  if (!label) return std::nullopt;
  LoopBody body = inspect(loop, label);
  if (body.back_edges != 1 || !is(body.back_edge, Node::br)) return std::nullopt;
  Expr condition = BinaryenBreakGetCondition(body.back_edge);
  if (!condition) return std::nullopt;
  std::optional<Test> test = read_condition(condition);
  if (!test) return std::nullopt;
  // "a != b" may name the moving variable on either side.
  auto moves = [&](Expr e) { return local_of(e) && body.writes.contains(*local_of(e)); };
  if (test->relation == Test::Relation::not_equal && test->bound && !moves(test->variable)) std::swap(test->variable, test->bound);
  if (!moves(test->variable) || !is_invariant(test->bound, body)) return std::nullopt;

  const Local variable = *local_of(test->variable);
  if (body.writes[variable] != 1) return std::nullopt;
  Expr write = body.last_write[variable];
  if (!always_before(loop, write, test->variable, body.back_edge)) return std::nullopt;
  const auto step = step_of(write, variable);
  if (!step || !std::has_single_bit(static_cast<std::uint32_t>(std::abs(*step)))) return std::nullopt;
  // With a larger step "less" could jump over the bound at the end of the number range.
  if (test->relation == Test::Relation::less && *step != 1) return std::nullopt;
  return CountedLoop{variable, *step, test->bound};
}

LoopCosts::LoopCosts(const CallGraph& graph) : graph_(graph), function_costs_(graph.functions().size(), kUnbounded) {
  for (CallGraph::Index f : graph.callees_first()) {
    const CallGraph::Function& function = graph.functions()[f];
    if (function.body) {
      function_costs_[f] = measure(function.body);
    } else if (!function.blocking_import) {
      function_costs_[f] = kImportCost;
    }
  }
}

std::uint64_t LoopCosts::measure(Expr e) {
  std::uint64_t cost = 1;
  if (is(e, Node::loop)) return measure_loop(e);
  if (is(e, Node::call) || is(e, Node::call_indirect)) cost = measure_call(e);
  if (is(e, Node::memory_grow)) cost = kMemoryGrowCost;
  if (is(e, Node::memory_fill) || is(e, Node::memory_copy)) cost = bulk_cost(child_at(e, 2));
  path_.push_back({e, 0});
  for (unsigned i = 0; i < child_count(e); ++i) {
    path_.back().child = i;
    if (Expr child = child_at(e, i)) cost = add(cost, measure(child));
  }
  path_.pop_back();
  return cost;
}

std::uint64_t LoopCosts::measure_loop(Expr loop) {
  path_.push_back({loop, 0});
  const std::uint64_t body = add(1, measure(BinaryenLoopGetBody(loop)));
  path_.pop_back();
  const auto trips = constant_trips(loop);
  const std::uint64_t total = trips ? multiply(*trips, body) : kUnbounded;
  loops_[loop] = {total, body};
  return total;
}

std::uint64_t LoopCosts::measure_call(Expr call) const {
  if (is(call, Node::call)) return add(1, function_costs_[graph_.index_of(BinaryenCallGetTarget(call))]);
  std::uint64_t worst = 0;
  for (CallGraph::Index f : graph_.in_table(signature_of(call))) worst = std::max(worst, function_costs_[f]);
  return add(1, worst);
}

std::optional<std::uint64_t> LoopCosts::constant_trips(Expr loop) const {
  const char* label = BinaryenLoopGetName(loop);
  bool repeats = false;
  if (label) walk(BinaryenLoopGetBody(loop), [&](Expr e) { repeats |= jumps_to(e, label); });
  if (!repeats) return 1;
  const auto counted = recognise_counted_loop(loop);
  if (!counted) return std::nullopt;
  const auto bound = counted->bound ? const_i32(counted->bound) : 0;
  const auto first = value_before(counted->variable);
  if (!bound || !first) return std::nullopt;
  const std::int64_t distance = std::int64_t{*bound} - *first;
  if (distance % counted->step != 0 || distance / counted->step <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(distance / counted->step);
}

// The constant that `local` holds when control reaches the current loop: looks back over everything evaluated before it, up to the start of
// the function or of the loop around it, for the last write.
std::optional<std::int32_t> LoopCosts::value_before(Local local) const {
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    if (is(step->node, Node::loop)) return std::nullopt;
    for (unsigned i = step->child; i-- > 0;) {
      const bool other_arm = is(step->node, Node::if_else) && i == 1;  // not executed
      Expr before = child_at(step->node, i);
      if (!before || other_arm) continue;
      if (is(before, Node::local_set) && BinaryenLocalSetGetIndex(before) == local) return const_i32(BinaryenLocalSetGetValue(before));
      if (writes(before, local)) return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace gw::prep
