#pragma once
// The code by which a frame is left: shared by the fast and the rewind body of a function.

#include <string>
#include <vector>

#include "prep/mobility/two_bodies.h"

namespace gw::prep {

// A site jumps out of the body to the exit of its save set, which stands behind the body, outside all loops, and pushes the frame.
class FrameExits {
 public:
  FrameExits(const FunctionDraft& draft, const SavePlan& plan, const MobilityContext& context)
      : draft_(draft), plan_(plan), context_(context) {}

  // The code of a poll: leaves the frame if a suspension is requested.
  Expr poll(const Site& site) const;
  // The code behind a call that may have suspended: leaves the frame if it has. If the call has thrown instead, goes to the landing.
  Expr check(const Site& site) const;
  // The body with the exits around it. `number` is a scratch i32 local.
  Expr wrap(Expr body, Local number) const;
  // The locals of a save set with their types.
  std::vector<std::pair<Local, Type>> saved(unsigned set) const;
  // Save sets that some site uses, in order of their first use.
  std::vector<unsigned> used_sets() const;

 private:
  Expr leave_if(Expr condition, const Site& site) const;
  Expr with_exit(Expr body, unsigned set, Local number) const;
  static bool leaves_function(const Site& site);  // if its call has thrown
  bool is_shared(unsigned set) const;             // by several sites
  static std::string label(unsigned set) { return "gw$exit" + std::to_string(set); }

  const FunctionDraft& draft_;
  const SavePlan& plan_;
  const MobilityContext& context_;
};

}  // namespace gw::prep
