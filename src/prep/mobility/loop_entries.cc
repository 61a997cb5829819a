#include "prep/mobility/loop_entries.h"

#include <algorithm>

#include "base/check.h"

namespace gw::prep {

LoopEntries::LoopEntries(const MobilityContext& context, const ResumedLoops& loops, const FrameExits& exits, Local number)
    : context_(context), build_(context.build), exits_(exits), number_(number), entered_(loops.entered()) {}

Expr LoopEntries::add_to(Expr body) {
  if (entered_.empty()) return body;
  mark(body);
  return after({enter_if_asked()}, body);
}

bool LoopEntries::mark(Expr e) {
  bool found = std::ranges::any_of(entered_, [&](const ResumedLoop& loop) { return loop.loop == e; });
  for_each_child(e, [&](Expr child) { found |= mark(child); });
  if (found) above_.insert(e);
  return found;
}

std::vector<const ResumedLoop*> LoopEntries::directly_inside(unsigned entry) const {
  std::vector<const ResumedLoop*> found;
  for (const ResumedLoop& loop : entered_)
    if (loop.outer == entry) found.push_back(&loop);
  return found;
}

Expr LoopEntries::is_number(unsigned entry) const {
  return build_.binary(BinaryenEqInt32(), build_.get_i32(number_), build_.i32(static_cast<std::int32_t>(entry)));
}

Expr LoopEntries::enter_if_asked() const {
  Statements out{build_.set_global(kRewinding, build_.i32(0)), build_.set(number_, context_.stack.pop_number())};
  for (const ResumedLoop& loop : entered_) {
    Statements enter = context_.stack.pop(exits_.typed(loop.live));
    const ResumedLoop* outermost = &loop;
    while (outermost->outer != 0) outermost = &entered_.at(outermost->outer - 1);
    enter.push_back(build_.br(label(outermost->entry).c_str()));
    Expr code = build_.sequence(std::move(enter));
    out.push_back(&loop == &entered_.back() ? code : build_.if_else(is_number(loop.entry), code));
  }
  return build_.if_else(build_.global(kRewinding), build_.sequence(std::move(out)));
}

Expr LoopEntries::go_on_inside(const ResumedLoop& loop) const {
  const auto inside = directly_inside(loop.entry);
  Statements out;
  for (std::size_t i = 0; i + 1 < inside.size(); ++i) {
    const auto next = static_cast<std::int32_t>(inside[i + 1]->entry);
    out.push_back(build_.br(label(inside[i]->entry).c_str(), build_.binary(BinaryenLtUInt32(), build_.get_i32(number_), build_.i32(next))));
  }
  out.push_back(build_.br(label(inside.back()->entry).c_str()));
  return build_.if_else(build_.get_i32(number_), build_.sequence(std::move(out)));
}

// Here is the header of the loop: is it the one to be entered?
Expr LoopEntries::arrive_at(const ResumedLoop& loop) const {
  const bool has_inner = !directly_inside(loop.entry).empty();
  if (!has_inner && loop.outer == 0) return build_.nop();
  Expr done = build_.set(number_, build_.i32(0));
  return has_inner ? build_.if_else(is_number(loop.entry), done) : done;
}

Expr LoopEntries::after(Statements before, Expr e) {
  if (is(e, Node::loop)) {
    const ResumedLoop& loop = entered_.at(next_++);
    GW_ASSERT(loop.loop == e);
    if (!directly_inside(loop.entry).empty()) BinaryenLoopSetBody(e, after({go_on_inside(loop)}, BinaryenLoopGetBody(e)));
    return build_.sequence({build_.block(label(loop.entry).c_str(), std::move(before), BinaryenTypeNone()), arrive_at(loop), e});
  }
  if (is(e, Node::if_else)) return if_after(std::move(before), e);
  GW_ASSERT(is(e, Node::block));
  const std::string name = BinaryenBlockGetName(e) ? BinaryenBlockGetName(e) : "";
  if (name.empty()) return build_.sequence(list_after(std::move(before), e));
  return build_.block(name.c_str(), list_after(std::move(before), e), BinaryenTypeNone());
}

LoopEntries::Statements LoopEntries::list_after(Statements before, Expr list) {
  for_each_child(list, [&](Expr child) {
    if (above_.contains(child)) {
      Expr whole = after(std::move(before), child);
      before = {whole};
    } else {
      before.push_back(child);
    }
  });
  return before;
}

// Control must be able to get into an arm from outside: the arms become the contents and the rest of a block that the condition leaves.
Expr LoopEntries::if_after(Statements before, Expr e) {
  const std::string suffix = std::to_string(++ifs_);
  const std::string otherwise = "gw$else" + suffix;
  const std::string end = "gw$end" + suffix;
  Expr then = BinaryenIfGetIfTrue(e);
  Expr other = BinaryenIfGetIfFalse(e);
  before.push_back(build_.br(otherwise.c_str(), build_.eqz(BinaryenIfGetCondition(e))));
  auto append = [&](Statements list, Expr arm) {
    if (above_.contains(arm)) {
      Expr whole = after(std::move(list), arm);
      return Statements{whole};
    }
    list.push_back(arm);
    return list;
  };
  Statements first = append(std::move(before), then);
  first.push_back(build_.br(end.c_str()));
  Statements whole{build_.block(otherwise.c_str(), std::move(first), BinaryenTypeNone())};
  if (other) whole = append(std::move(whole), other);
  return build_.block(end.c_str(), std::move(whole), BinaryenTypeNone());
}

}  // namespace gw::prep
