#pragma once
// Which loops are provably short, and which can be told to be short when they are entered.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "prep/analysis/call_graph.h"
#include "prep/ir.h"

namespace gw::prep {

// A loop driven by one variable that moves by a constant step until it meets (or passes) a bound that does not change inside the loop.
struct CountedLoop {
  Local variable;
  std::int32_t step;     // not 0; a power of two in magnitude
  Expr bound = nullptr;  // i32 constant or local.get; null: zero
};

// The pattern, or nothing. Sound, not complete: one back edge, taken only while `variable` has not met `bound`, one write of `variable`,
// executed in every iteration before the test.
std::optional<CountedLoop> recognise_counted_loop(Expr loop);

// Upper bounds of the work done by loops and functions, in visited expression nodes (about a third of a nanosecond each).
class LoopCosts {
 public:
  static constexpr std::uint64_t kUnbounded = UINT64_MAX;
  // A loop of at most this cost runs without a poll: about 50 microseconds.
  static constexpr std::uint64_t kShort = 150'000;

  explicit LoopCosts(const CallGraph& graph);

  bool is_short(Expr loop) const { return cost_of(loop) <= kShort; }
  std::uint64_t cost_of(Expr loop) const { return loops_.at(loop).total; }
  std::uint64_t body_cost_of(Expr loop) const { return loops_.at(loop).body; }  // one iteration

 private:
  struct Cost {
    std::uint64_t total;
    std::uint64_t body;
  };
  struct PathStep {  // a node on the path from the function's body to the current expression, and which child the path goes through
    Expr node;
    unsigned child;
  };

  std::uint64_t measure(Expr e);
  std::uint64_t measure_loop(Expr loop);
  std::uint64_t measure_call(Expr call) const;
  std::optional<std::uint64_t> constant_trips(Expr loop) const;
  std::optional<std::int32_t> value_before(Local local) const;

  const CallGraph& graph_;
  std::vector<std::uint64_t> function_costs_;  // kUnbounded until measured, so recursion is unbounded
  std::unordered_map<Expr, Cost> loops_;
  std::vector<PathStep> path_;
};

}  // namespace gw::prep
