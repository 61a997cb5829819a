#pragma once
// The entries of a fast body at the headers of its loops, for frames that were resumed inside them (resumed_loops.h).
//
// The fast body tests once, at its start, whether it is entered at a loop: then it pops what is live at the header and jumps there. For
// that everything before a loop is put into a block that ends where the loop begins; the blocks and ifs around the loop, whose labels the
// loop needs, are begun before:
//
//   first; block A { second; loop L; third }   ->   block A { block E { if (entered) { pop; br E } first; second } loop L; third }
//
// An inner loop is entered by way of the loop around it, of which each turn begins with the test of a local: must it go on to an inner
// loop? So control flow stays reducible: no loop has a second way in but its header.

#include <string>
#include <unordered_set>
#include <vector>

#include "prep/mobility/frame_exits.h"
#include "prep/mobility/resumed_loops.h"

namespace gw::prep {

class LoopEntries {
 public:
  // `number` is a scratch i32 local.
  LoopEntries(const MobilityContext& context, const ResumedLoops& loops, const FrameExits& exits, Local number);

  // `body` is a lifted body: only blocks and ifs without a value stand around its loops.
  Expr add_to(Expr body);

 private:
  using Statements = std::vector<Expr>;

  bool mark(Expr e);
  Expr enter_if_asked() const;
  // At the start of a turn of a loop: goes on to the inner loop that is to be entered.
  Expr go_on_inside(const ResumedLoop& loop) const;
  Expr arrive_at(const ResumedLoop& loop) const;
  std::vector<const ResumedLoop*> directly_inside(unsigned entry) const;
  Expr is_number(unsigned entry) const;
  // What does `before` and then `e`.
  Expr after(Statements before, Expr e);
  Statements list_after(Statements before, Expr list);
  Expr if_after(Statements before, Expr e);
  static std::string label(unsigned entry) { return "gw$enter" + std::to_string(entry); }

  const MobilityContext& context_;
  const Builder& build_;
  const FrameExits& exits_;
  Local number_;
  std::vector<ResumedLoop> entered_;
  std::unordered_set<Expr> above_;  // the expressions that contain one of these loops, or are one
  unsigned next_ = 0;
  unsigned ifs_ = 0;
};

}  // namespace gw::prep
