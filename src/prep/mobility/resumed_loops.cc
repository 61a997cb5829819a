#include "prep/mobility/resumed_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gw::prep {
namespace {

// In expression nodes; by the bytes that are written for each.
constexpr std::size_t kSiteCost = 6;                         // the check behind a site
constexpr std::size_t kEntryCost = 16, kEntryLocalCost = 3;  // both sides of an entry; for each local that is handed over
// A loop with a poll as its only site gets an entry only to save a copy, and the test at the start of its function must be worth it.
constexpr std::size_t kWorthAnEntry = 20;
constexpr std::size_t kLargeInnerLoop = 300;  // does not feel a test at each turn of the loop around it
constexpr std::size_t kCopiesShare = 8, kCopiesMin = 4'000;

struct Size {
  std::size_t nodes = 0;
  std::size_t sites = 0;
};

Size size_of(Expr e, const SiteRules& rules) {
  Size size;
  walk(e, [&](Expr inner) {
    ++size.nodes;
    size.sites += rules.kind_of(inner) != SiteKind::none ? 1 : 0;
  });
  size.nodes += size.sites * kSiteCost;
  return size;
}

std::vector<Expr> loops_in(Expr body) {
  std::vector<Expr> loops;
  walk(body, [&](Expr e) {
    if (is(e, Node::loop)) loops.push_back(e);
  });
  return loops;
}

// For each loop the next one around it, null if there is none.
void find_outer_loops(Expr e, Expr outer, std::unordered_map<Expr, Expr>& found) {
  if (is(e, Node::loop)) found[e] = std::exchange(outer, e);
  for_each_child(e, [&](Expr child) { find_outer_loops(child, outer, found); });
}

const Site* poll_at_header(Expr loop, const SavePlan& plan) {
  Expr body = BinaryenLoopGetBody(loop);
  if (is(body, Node::block) && !BinaryenBlockGetName(body)) body = child_at(body, 0);
  const auto found = std::ranges::find_if(plan.sites, [&](const Site& site) { return site.statement == body; });
  return found != plan.sites.end() && found->kind == SiteKind::poll ? &*found : nullptr;
}

}  // namespace

LoopCopyBudget::LoopCopyBudget(BinaryenModuleRef module) : left_(0) {
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i)
    if (Expr body = BinaryenFunctionGetBody(BinaryenGetFunctionByIndex(module, i))) walk(body, [&](Expr) { ++left_; });
  left_ = std::max(left_ / kCopiesShare, kCopiesMin);
}

bool LoopCopyBudget::take(std::size_t nodes) {
  if (nodes > left_) return false;
  left_ -= nodes;
  return true;
}

ResumedLoops::ResumedLoops(const FunctionDraft& draft, const SavePlan& plan, const SiteRules& rules, LoopCopyBudget& budget) {
  std::unordered_map<Expr, Expr> outer_loop;
  find_outer_loops(draft.body, nullptr, outer_loop);
  std::unordered_map<Expr, unsigned> entry_of{{nullptr, 0}};
  const std::vector<Expr> all = loops_in(draft.body);
  std::size_t index = 0;
  for (const LoopHeader& header : plan.loops) {
    const Size size = size_of(header.loop, rules);
    const Site* poll = poll_at_header(header.loop, plan);
    const bool only_a_poll = size.sites == 1 && poll;
    Expr outer = outer_loop.at(header.loop);
    const std::size_t entry_cost = only_a_poll ? kWorthAnEntry : kEntryCost + kEntryLocalCost * header.live.size();
    while (all.at(index) != header.loop) ++index;
    ResumedLoop loop{header.loop, index, NextTurns::copied, 0, 0, header.live, poll, only_a_poll};
    if (size.nodes > entry_cost && entry_of.contains(outer) && (!outer || size.nodes > kLargeInnerLoop)) {
      loop.next_turns = NextTurns::entered;
      loop.outer = entry_of.at(outer);
      loop.entry = static_cast<unsigned>(entry_of.size());
      entry_of[header.loop] = loop.entry;
    } else if (outer && !only_a_poll && !budget.take(size.nodes)) {
      loop.next_turns = NextTurns::guarded;
    }
    loops_.push_back(std::move(loop));
  }
}

std::vector<ResumedLoop> ResumedLoops::entered() const {
  std::vector<ResumedLoop> found;
  std::ranges::copy_if(loops_, std::back_inserter(found), [](const ResumedLoop& loop) { return loop.next_turns == NextTurns::entered; });
  return found;
}

const ResumedLoop* ResumedLoops::entered_directly(unsigned save_set) const {
  const auto found = std::ranges::find_if(loops_, [&](const ResumedLoop& loop) {
    return loop.next_turns == NextTurns::entered && loop.is_only_site && loop.poll->save_set == save_set;
  });
  return found == loops_.end() ? nullptr : &*found;
}

unsigned ResumedLoops::guarded() const {
  return static_cast<unsigned>(
      std::ranges::count_if(loops_, [](const ResumedLoop& loop) { return loop.next_turns == NextTurns::guarded; }));
}

std::unordered_map<Expr, const ResumedLoop*> ResumedLoops::in_copy(Expr body) const {
  const std::vector<Expr> all = loops_in(body);
  std::unordered_map<Expr, const ResumedLoop*> found;
  for (const ResumedLoop& loop : loops_) found[all.at(loop.index)] = &loop;
  return found;
}

}  // namespace gw::prep
