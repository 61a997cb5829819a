#include "prep/mobility/two_bodies.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "prep/exceptions/exception_landings.h"
#include "prep/mobility/frame_exits.h"

namespace gw::prep {
namespace {

// Both bodies meet the sites in the order of the text: the numbering of the plan.
class SiteCursor {
 public:
  explicit SiteCursor(const SavePlan& plan) : plan_(plan) {}
  const Site& next() { return plan_.sites.at(next_++); }

 private:
  const SavePlan& plan_;
  std::size_t next_ = 0;
};

Expr call_of(Expr statement) { return is(statement, Node::local_set) || is(statement, Node::drop) ? child_at(statement, 0) : statement; }

// The statements of a list, or the single one that stands in for a list.
std::vector<Expr> statements_of(Expr e) {
  if (!is(e, Node::block) || BinaryenBlockGetName(e)) return {e};
  std::vector<Expr> list;
  for_each_child(e, [&](Expr child) { list.push_back(child); });
  return list;
}

// The fast body: the lifted one, with each site followed by its way out.
class FastBody {
 public:
  FastBody(const MobilityContext& context, const SavePlan& plan, const FrameExits& exits, Expr body)
      : context_(context), exits_(exits), cursor_(plan), sites_(context.rules, body) {}

  Expr emit(Expr e) {
    if (!sites_.contains(e)) return e;
    switch (context_.rules.kind_of(call_of(e))) {
      case SiteKind::none:
        break;
      case SiteKind::poll:
        return exits_.poll(cursor_.next());
      default:
        return context_.build.sequence({e, exits_.check(cursor_.next())});
    }
    for (unsigned i = 0; i < child_count(e); ++i)
      if (Expr child = child_at(e, i)) set_child(e, i, emit(child));
    return e;
  }

 private:
  const MobilityContext& context_;
  const FrameExits& exits_;
  SiteCursor cursor_;
  SiteMap sites_;
};

// The rewind body. The local `target_` holds the number of the site to get to, and 0 once it has been reached: from there on the code does
// what the fast body does. Statements without sites run only when it is 0; an `if` goes to the arm that contains the target.
//
// A stop point is resumed by going on from it. So a loop whose only site is the poll at its header needs no guards inside: to resume it is
// to enter it.
class RewindBody {
 public:
  RewindBody(const MobilityContext& context, const SavePlan& plan, const FrameExits& exits, Expr body, Local target)
      : context_(context), build_(context.build), exits_(exits), cursor_(plan), sites_(context.rules, body), target_(target) {
    unsigned number = 0;
    find_ranges(body, number);
  }

  Expr emit(Expr body) { return build_.sequence(list(statements_of(body), Elsewhere::impossible, {})); }

 private:
  using Statements = std::vector<Expr>;
  // May the target lie outside the piece of code that is being emitted, when control gets there?
  enum class Elsewhere { impossible, possible };
  struct Range {
    unsigned first, last;
  };

  void find_ranges(Expr e, unsigned& number) {
    if (!sites_.contains(e)) return;
    const unsigned first = number + 1;
    if (context_.rules.kind_of(call_of(e)) != SiteKind::none) {
      ++number;
    } else {
      for_each_child(e, [&](Expr child) { find_ranges(child, number); });
    }
    ranges_[e] = {first, number};
  }

  // Emits a list; `pending` are statements that come before it and run only when nothing is left to rewind.
  Statements list(const Statements& statements, Elsewhere elsewhere, Statements pending) {
    Statements out;
    std::size_t last = statements.size();
    for (std::size_t i = statements.size(); i-- > 0 && last == statements.size();)
      if (sites_.contains(statements[i])) last = i;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (!sites_.contains(statements[i])) {
        note_line(statements[i]);
        pending.push_back(statements[i]);
      } else {
        emit_with_site(statements[i], i < last ? Elsewhere::possible : elsewhere, pending, out);
      }
    }
    if (last == statements.size() || elsewhere == Elsewhere::possible) {
      flush(pending, out);
    } else {
      out.insert(out.end(), pending.begin(), pending.end());  // behind the last site the target has been reached
    }
    if (out.empty()) out.push_back(build_.nop());
    return out;
  }

  void emit_with_site(Expr e, Elsewhere elsewhere, Statements& pending, Statements& out) {
    const SiteKind kind = context_.rules.kind_of(call_of(e));
    if (kind == SiteKind::call) return call_site(e, elsewhere, pending, out);
    flush(pending, out);
    if (kind == SiteKind::poll) {
      const Site& site = cursor_.next();
      out.push_back(arrive_at(site));
      pending.push_back(exits_.poll(site));
    } else if (kind == SiteKind::blocking_call) {
      const Site& site = cursor_.next();
      out.push_back(arrive_at(site));
      pending.push_back(e);
      pending.push_back(exits_.check(site));
    } else if (is(e, Node::block)) {
      const std::string label = BinaryenBlockGetName(e) ? BinaryenBlockGetName(e) : "";
      Statements children;
      for_each_child(e, [&](Expr child) { children.push_back(child); });
      out.push_back(build_.block(label.empty() ? nullptr : label.c_str(), list(children, elsewhere, {}), BinaryenTypeNone()));
    } else if (is(e, Node::if_else)) {
      out.push_back(unless_elsewhere(e, elsewhere, if_with_site(e)));
    } else {
      GW_ASSERT(is(e, Node::loop));
      loop_with_site(e, elsewhere, pending, out);
    }
  }

  void flush(Statements& pending, Statements& out) {
    if (pending.empty()) return;
    out.push_back(build_.if_else(build_.eqz(build_.get_i32(target_)), build_.sequence(std::move(pending))));
    pending.clear();
  }

  // The innermost frame is back: the rewind is over.
  Expr arrive_at(const Site& site) {
    return build_.if_else(is_target(site.number),
                          build_.sequence({build_.set(target_, build_.i32(0)), build_.set_global(kRewinding, build_.i32(0))}));
  }

  // Either rebuild the frames above this one, or (nothing left to rewind) make the call.
  void call_site(Expr e, Elsewhere elsewhere, Statements& pending, Statements& out) {
    const Site& site = cursor_.next();
    note_line(e);
    Statements resumed{with_call(e, resume_callee(call_of(e))), build_.set(target_, build_.i32(0))};
    if (line_) resumed.insert(resumed.begin(), build_.set_global(context_.line_marker.c_str(), build_.i32(*line_)));
    Expr resume = build_.sequence(std::move(resumed));
    if (elsewhere == Elsewhere::possible) resume = build_.if_else(is_target(site.number), resume);
    pending.push_back(e);
    out.push_back(build_.if_else(build_.get_i32(target_), resume, build_.sequence(std::move(pending))));
    pending.clear();
    out.push_back(exits_.check(site));
  }

  // The marker before a call is jumped over where the call is resumed, which needs one of its own then.
  void note_line(Expr e) {
    if (context_.line_marker.empty()) return;
    walk(e, [&](Expr inner) {
      if (is(inner, Node::global_set) && BinaryenGlobalSetGetName(inner) == context_.line_marker)
        line_ = const_i32(BinaryenGlobalSetGetValue(inner));
    });
  }

  Expr resume_callee(Expr call) {
    if (is(call, Node::call)) return build_.call(rewind_name(BinaryenCallGetTarget(call)), {}, type_of(call));
    Expr entry = build_.binary(BinaryenAddInt32(), build_.copy(BinaryenCallIndirectGetTarget(call)),
                               build_.i32(static_cast<std::int32_t>(context_.table_half)));
    return BinaryenCallIndirect(build_.module(), BinaryenCallIndirectGetTable(call), entry, nullptr, 0, BinaryenTypeNone(), type_of(call));
  }

  // The site's statement with another call in it.
  Expr with_call(Expr statement, Expr call) {
    if (is(statement, Node::local_set)) return build_.set(BinaryenLocalSetGetIndex(statement), call);
    return is(statement, Node::drop) ? build_.drop(call) : call;
  }

  Expr if_with_site(Expr e) {
    Expr then = BinaryenIfGetIfTrue(e);
    Expr otherwise = BinaryenIfGetIfFalse(e);
    note_line(BinaryenIfGetCondition(e));
    const bool in_then = sites_.contains(then);
    const bool in_both = in_then && otherwise && sites_.contains(otherwise);
    Expr target_in_then = in_both ? is_target_in(ranges_.at(then)) : build_.i32(in_then ? 1 : 0);
    Expr condition = build_.if_else(build_.get_i32(target_), target_in_then, BinaryenIfGetCondition(e));
    auto arm = [&](Expr body) -> Expr {
      if (!body || !sites_.contains(body)) return body;
      return build_.sequence(list(statements_of(body), Elsewhere::impossible, {}));
    };
    Expr new_then = arm(then);
    return build_.if_else(condition, new_then, arm(otherwise));
  }

  void loop_with_site(Expr loop, Elsewhere elsewhere, Statements& pending, Statements& out) {
    const Range range = ranges_.at(loop);
    Statements body = statements_of(BinaryenLoopGetBody(loop));
    Statements first;
    if (context_.rules.kind_of(body.front()) == SiteKind::poll) {  // resumed by entering the loop
      const Site& site = cursor_.next();
      out.push_back(arrive_at(site));
      first.push_back(exits_.poll(site));
      body.erase(body.begin());
      if (range.first == range.last) {
        body.insert(body.begin(), first.front());
        pending.push_back(build_.loop(BinaryenLoopGetName(loop), build_.sequence(std::move(body))));
        return;
      }
    }
    Expr emitted = build_.loop(BinaryenLoopGetName(loop), build_.sequence(list(body, Elsewhere::impossible, std::move(first))));
    out.push_back(unless_elsewhere(loop, elsewhere, emitted));
  }

  Expr unless_elsewhere(Expr original, Elsewhere elsewhere, Expr emitted) {
    if (elsewhere == Elsewhere::impossible) return emitted;
    Expr here = build_.binary(BinaryenOrInt32(), build_.eqz(build_.get_i32(target_)), is_target_in(ranges_.at(original)));
    return build_.if_else(here, emitted);
  }

  Expr is_target(unsigned number) {
    return build_.binary(BinaryenEqInt32(), build_.get_i32(target_), build_.i32(static_cast<std::int32_t>(number)));
  }
  Expr is_target_in(Range range) {
    if (range.first == range.last) return is_target(range.first);
    Expr offset = build_.binary(BinaryenSubInt32(), build_.get_i32(target_), build_.i32(static_cast<std::int32_t>(range.first)));
    return build_.binary(BinaryenLeUInt32(), offset, build_.i32(static_cast<std::int32_t>(range.last - range.first)));
  }

  const MobilityContext& context_;
  const Builder& build_;
  const FrameExits& exits_;
  SiteCursor cursor_;
  SiteMap sites_;
  Local target_;
  std::optional<std::int32_t> line_;  // of the last marker, in the order of the text
  std::unordered_map<Expr, Range> ranges_;
};

// Pops the frame: the number of the site first, then the locals its save set holds.
std::vector<Expr> restore_frame(const MobilityContext& context, const SavePlan& plan, const FrameExits& exits, Local target) {
  const Builder& build = context.build;
  std::vector<Expr> out{build.set(target, context.stack.pop_number())};
  const std::vector<unsigned> sets = exits.used_sets();
  if (sets.size() == 1) {
    std::ranges::copy(context.stack.pop(exits.saved(sets.front())), std::back_inserter(out));
    return out;
  }
  auto label = [](std::size_t i) { return "gw$restore" + std::to_string(i); };
  std::vector<std::string> labels{label(0)};  // number 0 never occurs
  for (const Site& site : plan.sites)
    labels.push_back(label(static_cast<std::size_t>(std::ranges::find(sets, site.save_set) - sets.begin())));
  std::vector<const char*> names;
  for (const std::string& name : labels) names.push_back(name.c_str());
  Expr code =
      BinaryenSwitch(build.module(), names.data(), static_cast<BinaryenIndex>(names.size()), names.front(), build.get_i32(target), nullptr);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::vector<Expr> statements{build.block(label(i).c_str(), {code}, BinaryenTypeNone())};
    std::ranges::copy(context.stack.pop(exits.saved(sets[i])), std::back_inserter(statements));
    if (i + 1 < sets.size()) statements.push_back(build.br("gw$restored"));
    code = build.block(nullptr, std::move(statements), BinaryenTypeAuto());
  }
  out.push_back(build.block("gw$restored", {code}, BinaryenTypeNone()));
  return out;
}

}  // namespace

TwoBodies make_two_bodies(FunctionDraft draft, const MobilityContext& context) {
  const Builder& build = context.build;
  SavePlan plan = plan_saves(draft, context.rules);
  merge_exception_checks(build, context.rules, draft.body, plan);
  FunctionDraft rewind = draft;
  rewind.name = rewind_name(draft.name);
  rewind.params = BinaryenTypeNone();
  rewind.body = build.copy(draft.body);

  FrameExits fast_exits(draft, plan, context);
  const Local number = draft.add_local(BinaryenTypeInt32());
  draft.body = fast_exits.wrap(FastBody(context, plan, fast_exits, draft.body).emit(draft.body), number);

  FrameExits rewind_exits(rewind, plan, context);
  const Local target = rewind.add_local(BinaryenTypeInt32());
  std::vector<Expr> body = restore_frame(context, plan, rewind_exits, target);
  body.push_back(rewind_exits.wrap(RewindBody(context, plan, rewind_exits, rewind.body, target).emit(rewind.body), target));
  body.push_back(build.unreachable());
  rewind.body = build.block(nullptr, std::move(body), BinaryenTypeAuto());
  return {std::move(draft), std::move(rewind), static_cast<unsigned>(plan.sites.size())};
}

}  // namespace gw::prep
