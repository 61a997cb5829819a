#include "prep/passes/polls.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "prep/analysis/call_graph.h"
#include "prep/analysis/loops.h"

namespace gw::prep {
namespace {

// A loop body larger than this does not feel a poll; a smaller one is worth a second copy.
constexpr std::uint64_t kVersionedBodyMax = 80;
// An unpolled copy may cost this much: about half a millisecond.
constexpr std::uint64_t kUnpolledCopyCost = 1'500'000;
constexpr std::uint64_t kUnpolledCopyTripsMax = 65'536;

using FunctionNames = std::set<std::string, std::less<>>;

// Does every turn of a loop come to a poll anyway: at the header of a loop inside, or at the entry of a function that it calls?
// Sound, not complete: looks for a poll on the way that no turn which goes back to the header can have left by a jump inside the loop.
class TurnPolls {
 public:
  explicit TurnPolls(const FunctionNames& polled_entries) : polled_entries_(polled_entries) {}

  bool certain(Expr loop) { return scan(loop, 0).polls; }

 private:
  // Labels inside the loop are numbered by how many are around them; jumps to others leave the loop, and need no poll.
  static constexpr unsigned kNowhere = UINT_MAX;
  struct Path {
    bool polls = false;
    unsigned jumps_to = kNowhere;  // the outermost label that some jump goes to
  };

  // `around`: how many labels are.
  Path scan(Expr e, unsigned around) {
    const char* label = is(e, Node::block) ? BinaryenBlockGetName(e) : is(e, Node::loop) ? BinaryenLoopGetName(e) : nullptr;
    if (!label) return scan_children(e, around);
    const auto [entry, fresh] = labels_.emplace(label, around + 1);
    const unsigned hidden = std::exchange(entry->second, around + 1);
    const Path path = scan_children(e, around + 1);
    if (fresh) {
      labels_.erase(label);
    } else {
      labels_[label] = hidden;
    }
    return path;
  }

  Path scan_children(Expr e, unsigned around) {
    Path path;
    bool skipped = false;  // what comes next may not be reached
    unsigned polling_arms = 0;
    for (unsigned i = 0; i < child_count(e); ++i) {
      Expr child = child_at(e, i);
      if (!child) continue;
      const Path inner = scan(child, around);
      path.jumps_to = std::min(path.jumps_to, inner.jumps_to);
      const bool arm = is(e, Node::if_else) && i > 0;
      if (inner.polls && !skipped) (arm ? ++polling_arms : polling_arms = 2);
      if (polling_arms == 2) return {.polls = true};  // control that gets here has polled on either arm
      skipped |= !arm && inner.jumps_to <= around;
    }
    for (const char* target : branch_targets(e))
      if (const auto found = labels_.find(target); found != labels_.end()) path.jumps_to = std::min(path.jumps_to, found->second);
    path.polls = !skipped && is(e, Node::call) && is_polled(BinaryenCallGetTarget(e));
    return path;
  }

  bool is_polled(std::string_view function) const { return function == kPollMarker || polled_entries_.contains(function); }

  const FunctionNames& polled_entries_;
  std::map<std::string_view, unsigned> labels_;
};

class PollInserter {
 public:
  PollInserter(const Builder& build, const LoopCosts& costs, const FunctionNames& polled_entries, const std::string& function,
               Report& report)
      : build_(build), costs_(costs), polled_entries_(polled_entries), function_(function), report_(report) {}

  // Inner loops first, so that a copy of an outer loop would contain the finished inner ones.
  Expr operator()(Expr e) {
    if (!is(e, Node::loop)) return e;
    ++report_.loops;
    if (costs_.is_short(e)) return leave_unpolled(e, fmt::format("short: costs at most {} nodes", costs_.cost_of(e)));
    if (TurnPolls(polled_entries_).certain(e)) return leave_unpolled(e, "each turn comes to another poll");
    const std::uint64_t body_cost = costs_.body_cost_of(e);
    const auto counted = body_cost <= kVersionedBodyMax ? recognise_counted_loop(e) : std::nullopt;
    if (counted && type_of(e) == BinaryenTypeNone()) return version(e, *counted, body_cost);
    ++report_.polled;
    return with_poll(e);
  }

 private:
  Expr leave_unpolled(Expr loop, std::string reason) {
    report_.left_unpolled.push_back({readable_name(function_), std::move(reason)});
    return loop;
  }

  Expr marker() const { return build_.call(kPollMarker, {}, BinaryenTypeNone()); }

  Expr with_poll(Expr loop) {
    Expr body = BinaryenLoopGetBody(loop);
    BinaryenLoopSetBody(loop, build_.block(nullptr, {marker(), body}, type_of(body)));
    return loop;
  }

  Expr version(Expr loop, const CountedLoop& counted, std::uint64_t body_cost) {
    const std::uint64_t trips_max = std::min(kUnpolledCopyCost / body_cost, kUnpolledCopyTripsMax);
    Expr copy = build_.copy(loop);
    rename_labels(copy, fmt::format("$short{}", report_.versioned++));
    return build_.if_else(trips_at_most(counted, trips_max), copy, with_poll(loop));
  }

  // The distance to the bound, divided by the step: a distance that the step does not divide becomes huge by the rotation, and so does a
  // negative one. Zero (which may mean 2^32 iterations) becomes huge by the subtraction.
  Expr trips_at_most(const CountedLoop& counted, std::uint64_t limit) {
    Expr bound = counted.bound ? build_.copy(counted.bound) : build_.i32(0);
    Expr variable = build_.get_i32(counted.variable);
    Expr distance =
        counted.step > 0 ? build_.binary(BinaryenSubInt32(), bound, variable) : build_.binary(BinaryenSubInt32(), variable, bound);
    const int shift = std::countr_zero(static_cast<std::uint32_t>(std::abs(counted.step)));
    Expr trips = shift == 0 ? distance : build_.binary(BinaryenRotRInt32(), distance, build_.i32(shift));
    Expr less_one = build_.binary(BinaryenSubInt32(), trips, build_.i32(1));
    return build_.binary(BinaryenLtUInt32(), less_one, build_.i32(static_cast<std::int32_t>(limit)));
  }

  const Builder& build_;
  const LoopCosts& costs_;
  const FunctionNames& polled_entries_;
  const std::string& function_;
  Report& report_;
};

}  // namespace

void insert_polls(BinaryenModuleRef module, Report& report) {
  const Builder build(module);
  const CallGraph graph(module);
  const LoopCosts costs(graph);
  FunctionNames polled_entries;
  const std::vector<bool> breakers = graph.recursion_breakers();
  for (CallGraph::Index f = 0; f < graph.functions().size(); ++f)
    if (breakers[f]) polled_entries.insert(graph.functions()[f].name);
  BinaryenAddFunctionImport(module, kPollMarker, "godwit", "poll", BinaryenTypeNone(), BinaryenTypeNone());
  for (CallGraph::Index f = 0; f < graph.functions().size(); ++f) {
    const CallGraph::Function& function = graph.functions()[f];
    if (!function.body) continue;
    Expr body = rewrite(function.body, PollInserter(build, costs, polled_entries, function.name, report));
    if (breakers[f]) {
      ++report.polled_entries;
      body = build.block(nullptr, {build.call(kPollMarker, {}, BinaryenTypeNone()), body}, type_of(body));
    }
    BinaryenFunctionSetBody(BinaryenGetFunction(module, function.name.c_str()), body);
  }
  report.unpolled = static_cast<unsigned>(report.left_unpolled.size());
}

}  // namespace gw::prep
