#pragma once
// What takes the next turns of a loop after a frame was resumed inside it.
//
// The problem. A rewind body guards every statement ("has the target been reached?"). A local that is set under one guard and read under
// the next looks to the engine as if it might have come from an earlier turn, so inside a loop nearly all locals are carried from turn to
// turn. In an interpreter's loop these are hundreds, copied at each turn: a Lua script ran 20 times slower for ever once it had been moved.
//
// So only the rest of the current turn is guarded. The next turns are taken by code without guards:
// - entered: the fast body, which has a second entry at the header (loop_entries.h). Costs no copy, but the fast body tests at its start
//   whether it is entered there, and the turns of the loops around test it too. So an inner loop must be large to be entered.
// - copied: a copy of the loop in the rewind body.
// - guarded: the guarded code itself. For inner loops when the module must not grow any more.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "prep/analysis/liveness.h"
#include "prep/analysis/sites.h"
#include "prep/ir.h"

namespace gw::prep {

// How much larger a module may become by copies of inner loops, in expression nodes.
class LoopCopyBudget {
 public:
  explicit LoopCopyBudget(BinaryenModuleRef module);
  bool take(std::size_t nodes);  // false, and nothing is taken: not so much is left

 private:
  std::size_t left_;
};

enum class NextTurns : std::uint8_t { entered, copied, guarded };

struct ResumedLoop {
  Expr loop;
  std::size_t index;  // among all loops of the function, in the order of the text
  NextTurns next_turns;
  unsigned entry;           // entered: its number, from 1, so that the loops inside follow
  unsigned outer;           // entered: the number of the loop around it, 0 if there is none
  std::vector<Local> live;  // where a turn begins
  // The poll at the header, where there is one. If it is the only site of an entered loop, a frame that was left there lies on the unwind
  // stack as the fast body wants to find it, and `live` are the locals of a save set that no other site uses.
  const Site* poll;
  bool is_only_site;
};

// The loops of one function, in the order of the text.
class ResumedLoops {
 public:
  ResumedLoops(const FunctionDraft& draft, const SavePlan& plan, const SiteRules& rules, LoopCopyBudget& budget);

  std::vector<ResumedLoop> entered() const;
  // The loop to enter for a frame that was left with this save set and needs no more than that; null if there is none.
  const ResumedLoop* entered_directly(unsigned save_set) const;
  unsigned guarded() const;
  // The same loops in a copy of the body.
  std::unordered_map<Expr, const ResumedLoop*> in_copy(Expr body) const;

 private:
  std::vector<ResumedLoop> loops_;
};

}  // namespace gw::prep
