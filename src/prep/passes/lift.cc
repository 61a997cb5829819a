#include "prep/passes/lift.h"

#include <map>
#include <set>
#include <string>

#include "base/check.h"

namespace gw::prep {
namespace {

// Branches that carry a value hand it over in a local instead, so that blocks have no results that control can bring from elsewhere.
void move_branch_values_to_locals(FunctionDraft& draft, const Builder& build) {
  std::map<std::string, Local, std::less<>> carrier;
  walk(draft.body, [&](Expr e) {
    if (!is(e, Node::block) || !BinaryenBlockGetName(e) || !is_concrete(type_of(e))) return;
    carrier.emplace(BinaryenBlockGetName(e), draft.add_local(type_of(e)));
  });
  if (carrier.empty()) return;

  // The value is evaluated before the condition, which may contain branches to the same label: it waits in a local of its own.
  auto strip = [&](Expr e, Expr value, Expr condition) {
    if (!is_concrete(type_of(value))) return value;  // never gets as far as the branch
    const Type type = type_of(value);
    const Local waiting = draft.add_local(type);
    std::vector<Expr> statements{build.set(waiting, value)};
    std::vector<const char*> targets = branch_targets(e);
    std::vector<Expr> branch;
    Expr selector = condition;
    if (is(e, Node::br_table)) {
      const Local selected = draft.add_local(BinaryenTypeInt32());
      statements.push_back(build.set(selected, condition));
      selector = build.get_i32(selected);
    }
    std::set<Local> carriers;
    for (const char* target : targets) carriers.insert(carrier.at(target));
    for (Local local : carriers) branch.push_back(build.set(local, build.get(waiting, type)));
    if (is(e, Node::br_table)) {
      branch.push_back(BinaryenSwitch(build.module(), targets.data(), static_cast<BinaryenIndex>(targets.size() - 1), targets.back(),
                                      selector, nullptr));
    } else {
      branch.push_back(build.br(targets.front()));
      if (condition)
        branch = {build.if_else(condition, build.sequence(std::move(branch))), build.get(waiting, type)};  // br_if passes its value on
    }
    statements.insert(statements.end(), branch.begin(), branch.end());
    return build.sequence(std::move(statements));
  };
  draft.body = rewrite(draft.body, [&](Expr e) {
    if (is(e, Node::br) && BinaryenBreakGetValue(e)) return strip(e, BinaryenBreakGetValue(e), BinaryenBreakGetCondition(e));
    if (is(e, Node::br_table) && BinaryenSwitchGetValue(e)) return strip(e, BinaryenSwitchGetValue(e), BinaryenSwitchGetCondition(e));
    if (is(e, Node::block) && BinaryenBlockGetName(e) && carrier.contains(BinaryenBlockGetName(e))) {
      const Local local = carrier.at(BinaryenBlockGetName(e));
      const Type type = draft.locals[local];
      std::vector<Expr> statements;
      for_each_child(e, [&](Expr child) { statements.push_back(child); });
      if (is_concrete(type_of(statements.back()))) statements.back() = build.set(local, statements.back());
      Expr block = build.block(BinaryenBlockGetName(e), std::move(statements), BinaryenTypeNone());
      return build.block(nullptr, {block, build.get(local, type)}, type);
    }
    return e;
  });
}

class Lifter {
 public:
  using Statements = std::vector<Expr>;

  Lifter(FunctionDraft& draft, const SiteRules& rules, const Builder& build)
      : draft_(draft), rules_(rules), build_(build), sites_(rules, draft.body) {}

  void run() {
    Statements out;
    Expr body = draft_.body;
    if (is_concrete(type_of(body))) {
      Expr result = value(body, out);
      if (is_concrete(type_of(result))) result = build_.ret(result);
      out.push_back(result);
    } else {
      statement(body, out);
      if (draft_.results == BinaryenTypeNone()) out.push_back(build_.ret());
    }
    out.push_back(build_.unreachable());
    draft_.body = build_.block(nullptr, std::move(out), BinaryenTypeAuto());
  }

 private:
  // Appends what `e` does, dropping its value if it has one.
  void statement(Expr e, Statements& out) {
    if (!sites_.contains(e)) {
      out.push_back(is_concrete(type_of(e)) ? build_.drop(e) : e);
      return;
    }
    switch (node_of(e)) {
      case Node::block:
        return block_statement(e, out);
      case Node::if_else:
        return if_statement(e, std::nullopt, out);
      case Node::loop: {
        const std::string label = BinaryenLoopGetName(e) ? BinaryenLoopGetName(e) : "";
        Statements body;
        statement(BinaryenLoopGetBody(e), body);
        out.push_back(build_.loop(label.empty() ? nullptr : label.c_str(), list(std::move(body))));
        return;
      }
      case Node::local_set:
      case Node::drop:
        if (rules_.kind_of(child_at(e, 0)) != SiteKind::none) {
          if (lift_operands(child_at(e, 0), out)) out.push_back(e);
          return;
        }
        break;
      default:
        break;
    }
    if (!lift_operands(e, out)) return;
    out.push_back(is_concrete(type_of(e)) ? build_.drop(e) : e);
  }

  void block_statement(Expr e, Statements& out) {
    Statements inner;
    for_each_child(e, [&](Expr child) { statement(child, inner); });
    if (const char* label = BinaryenBlockGetName(e)) {
      out.push_back(build_.block(label, std::move(inner), BinaryenTypeNone()));
    } else {
      out.insert(out.end(), inner.begin(), inner.end());
    }
  }

  // An `if` whose arms leave their value in `result`, where there is one.
  void if_statement(Expr e, std::optional<Local> result, Statements& out) {
    Expr condition = value(BinaryenIfGetCondition(e), out);
    if (type_of(condition) == BinaryenTypeUnreachable()) return out.push_back(condition);
    auto arm = [&](Expr body) -> Expr {
      if (!body) return nullptr;
      Statements statements;
      if (result && is_concrete(type_of(body))) {
        Expr v = value(body, statements);
        statements.push_back(is_concrete(type_of(v)) ? build_.set(*result, v) : v);
      } else {
        statement(body, statements);
      }
      return list(std::move(statements));
    };
    Expr then = arm(BinaryenIfGetIfTrue(e));
    out.push_back(build_.if_else(condition, then, arm(BinaryenIfGetIfFalse(e))));
  }

  // Appends everything that must happen first and returns an expression for the value of `e`, to be evaluated next.
  Expr value(Expr e, Statements& out) {
    if (!sites_.contains(e)) return e;
    if (!is_concrete(type_of(e))) {
      statement(e, out);
      return build_.unreachable();
    }
    switch (node_of(e)) {
      case Node::block: {  // branch values were moved to locals before: only the last statement gives the value, and there is no label
        GW_ASSERT(!BinaryenBlockGetName(e));
        const unsigned last = child_count(e) - 1;
        for (unsigned i = 0; i < last; ++i) statement(child_at(e, i), out);
        return value(child_at(e, last), out);
      }
      case Node::if_else: {
        const Local result = draft_.add_local(type_of(e));
        if_statement(e, result, out);
        return build_.get(result, draft_.locals[result]);
      }
      case Node::loop: {
        const Local result = draft_.add_local(type_of(e));
        Statements body;
        Expr v = value(BinaryenLoopGetBody(e), body);
        body.push_back(is_concrete(type_of(v)) ? build_.set(result, v) : v);
        out.push_back(build_.loop(BinaryenLoopGetName(e), list(std::move(body))));
        return build_.get(result, draft_.locals[result]);
      }
      case Node::local_set: {  // a tee
        const Type type = type_of(e);
        const Local local = BinaryenLocalSetGetIndex(e);
        Expr v = value(BinaryenLocalSetGetValue(e), out);
        out.push_back(is_concrete(type_of(v)) ? build_.set(local, v) : v);
        return build_.get(local, type);
      }
      default:
        break;
    }
    const Type type = type_of(e);
    if (!lift_operands(e, out)) return build_.unreachable();
    if (rules_.kind_of(e) == SiteKind::none) return e;
    const Local result = draft_.add_local(type);
    out.push_back(build_.set(result, e));
    return build_.get(result, type);
  }

  // Lifts the sites out of the operands of `e`, keeping the order of evaluation. False: control never gets to `e`.
  bool lift_operands(Expr e, Statements& out) {
    unsigned fixed = 0;  // operands [0, fixed) must be evaluated before the last site among them, or be simple enough to be read again
    const unsigned count = child_count(e);
    for (unsigned i = 0; i < count; ++i)
      if (Expr child = child_at(e, i); child && sites_.contains(child)) fixed = i + 1;
    const SiteKind kind = rules_.kind_of(e);
    const bool target_is_needed_again = kind == SiteKind::call && is(e, Node::call_indirect);
    if (kind == SiteKind::blocking_call || target_is_needed_again) fixed = count;
    for (unsigned i = 0; i < fixed; ++i) {
      Expr child = child_at(e, i);
      if (!child) continue;
      Expr v = value(child, out);
      if (!is_concrete(type_of(v))) {
        out.push_back(v);
        return false;
      }
      const bool last = i + 1 == fixed;
      const bool needed_again = kind == SiteKind::blocking_call || (last && target_is_needed_again);
      if (last && !needed_again) {
        set_child(e, i, v);
      } else {
        set_child(e, i, in_local(v, e, i, fixed, needed_again ? Fresh::yes : Fresh::no, out));
      }
    }
    return true;
  }

  enum class Fresh { no, yes };

  // A value that stays the same while operands (index, fixed) of `e` are evaluated. What is needed again after a rewind gets a fresh local:
  // the result of the call may go where the operand came from.
  Expr in_local(Expr v, Expr e, unsigned index, unsigned fixed, Fresh fresh, Statements& out) {
    if (is(v, Node::constant)) return v;
    if (is(v, Node::local_get) && fresh == Fresh::no) {
      bool changes = false;
      for (unsigned i = index + 1; i < fixed; ++i)
        if (Expr later = child_at(e, i)) changes |= writes(later, BinaryenLocalGetGetIndex(v));
      if (!changes) return v;
    }
    const Type type = type_of(v);
    const Local local = draft_.add_local(type);
    out.push_back(build_.set(local, v));
    return build_.get(local, type);
  }

  Expr list(Statements statements) {
    if (statements.empty()) return build_.nop();
    return build_.sequence(std::move(statements));
  }

  FunctionDraft& draft_;
  const SiteRules& rules_;
  const Builder& build_;
  SiteMap sites_;
};

}  // namespace

void lift_sites(FunctionDraft& draft, const SiteRules& rules, const Builder& build) {
  move_branch_values_to_locals(draft, build);
  Lifter(draft, rules, build).run();
}

}  // namespace gw::prep
