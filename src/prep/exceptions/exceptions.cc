// Wasm's exception instructions, replaced by plain code.
//
// Problem: an image is taken while frames are anywhere, also inside try, inside a handler and in destructors that run because of an
// exception. An engine keeps what it knows about exceptions in its own stack, where no program can save it.
//
// Rejected: to keep the instructions and only lift code out of handlers. A throw in V8 costs 9 microseconds, a hundred with ten
// destructors, the form clang makes is on its way out of the engines, and `catch_all` would also catch the exceptions by which hosts end
// programs.
//
// Solution: a function that throws returns, with the number of the exception's tag in a global, and its callers test that global. The same
// global says that the program unwinds to be suspended, which callers test anyway: where a frame can be left, one check serves both
// (exception_landings.h).
//
// Invariants:
// 1. kUnwinding is >= kFirstTag only between a throw and the landing that takes it; a landing sets it to 0 before it does anything else.
// 2. What a handler has caught is in locals of its own, so that a rethrow works after any number of other exceptions and suspensions.
// 3. The code of a try whose landing nothing can reach has no landing.

#include "prep/exceptions/exceptions.h"

#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "prep/analysis/throw_analysis.h"
#include "prep/exceptions/exception_tags.h"
#include "prep/mobility/unwind_stack.h"

namespace gw::prep {
namespace {

std::string_view try_label(const char* name) { return name ? name : ""; }

std::string payload_global(Type type) {
  const std::string prefix = kPayloadPrefix;
  if (type == BinaryenTypeInt32()) return prefix + "_i32";
  if (type == BinaryenTypeInt64()) return prefix + "_i64";
  if (type == BinaryenTypeFloat32()) return prefix + "_f32";
  GW_ASSERT(type == BinaryenTypeFloat64());
  return prefix + "_f64";
}

class ExceptionLowering {
 public:
  ExceptionLowering(FunctionDraft& draft, const Builder& build, const TagTable& tags, const ThrowAnalysis& analysis,
                    ExceptionReport& report)
      : draft_(draft), build_(build), tags_(tags), analysis_(analysis), report_(report) {}

  void run() {
    Expr body = lower(draft_.body, leave_);
    if (leave_.used) {
      Expr inner = is_concrete(type_of(body)) ? build_.ret(body) : body;
      body = build_.block(kThrowLabel, {inner}, BinaryenTypeNone());
      if (draft_.results != BinaryenTypeNone()) body = build_.block(nullptr, {body, build_.zero(draft_.results)}, draft_.results);
    }
    draft_.body = body;
  }

 private:
  // Where an exception goes from a piece of code: a label outside of it.
  struct Landing {
    std::string label;
    bool used = false;
  };
  // The exception that a clause has caught, for rethrow and pop.
  struct Caught {
    TagSet tags = 0;
    std::optional<Local> number;    // of the tag, if there may be several
    std::map<Type, Local> payload;  // by type
  };

  Expr branch(Landing& to, Expr condition = nullptr) {
    to.used = true;
    return build_.br(to.label.c_str(), condition);
  }

  Expr set_exception(unsigned number) { return build_.set_global(kUnwinding, build_.i32(static_cast<std::int32_t>(number))); }

  Expr lower(Expr e, Landing& here) {
    switch (node_of(e)) {
      case Node::try_catch:
        return BinaryenTryIsDelegate(e) ? lower_delegate(e) : lower_try(e, here);
      case Node::throw_tag:
        return lower_throw(e, here);
      case Node::rethrow:
        return lower_rethrow(caught_.find(try_label(BinaryenRethrowGetTarget(e)))->second, here);
      case Node::pop:
        return build_.get(popped_, type_of(e));
      case Node::call:
      case Node::call_indirect:
        lower_children(e, here);
        return checked(e, here);
      default:
        lower_children(e, here);
        return e;
    }
  }

  void lower_children(Expr e, Landing& here) {
    const unsigned count = child_count(e);
    for (unsigned i = 0; i < count; ++i) {
      Expr child = child_at(e, i);
      if (!child) continue;
      if (Expr lowered = lower(child, here); lowered != child) set_child(e, i, lowered);
    }
  }

  // A result waits in a local of its own, so that the operands below it on the stack can stay there.
  Expr checked(Expr call, Landing& here) {
    ++report_.calls;
    const Type type = type_of(call);
    if (type == BinaryenTypeUnreachable() || analysis_.thrown_by(call) == 0) return call;
    ++report_.checks;
    Expr check = branch(here, build_.global(kUnwinding));
    if (type == BinaryenTypeNone()) return build_.sequence({call, check});
    const Local result = draft_.add_local(type);
    return build_.block(nullptr, {build_.set(result, call), check, build_.get(result, type)}, type);
  }

  Expr lower_throw(Expr e, Landing& here) {
    lower_children(e, here);
    const Tag& tag = tags_.at(BinaryenThrowGetTag(e));
    std::vector<Expr> statements;
    if (tag.param != BinaryenTypeNone())
      statements.push_back(build_.set_global(payload_global(tag.param).c_str(), BinaryenThrowGetOperandAt(e, 0)));
    statements.push_back(set_exception(tag.number));
    statements.push_back(branch(here));
    return build_.sequence(std::move(statements));
  }

  Expr lower_rethrow(const Caught& caught, Landing& here) {
    std::vector<Expr> statements;
    for (const auto& [type, local] : caught.payload)
      statements.push_back(build_.set_global(payload_global(type).c_str(), build_.get(local, type)));
    statements.push_back(caught.number ? build_.set_global(kUnwinding, build_.get_i32(*caught.number))
                                       : set_exception(tags_.single(caught.tags).number));
    statements.push_back(branch(here));
    return build_.sequence(std::move(statements));
  }

  Expr lower_delegate(Expr e) {
    auto target = landings_.find(try_label(BinaryenTryGetDelegateTarget(e)));  // no such try: the caller
    return lower(BinaryenTryGetBody(e), target == landings_.end() ? leave_ : *target->second);
  }

  Expr lower_try(Expr e, Landing& here) {
    const TagSet coming = analysis_.coming_to(e);
    const Type type = type_of(e);
    const std::string name(try_label(BinaryenTryGetName(e)));
    ++report_.tries;
    if (coming == 0) {
      ++report_.idle_tries;
      landings_[name] = &here;
      Expr body = lower(BinaryenTryGetBody(e), here);
      return type_of(body) == type ? body : build_.block(nullptr, {body}, type);
    }
    const std::string after = fmt::format("gw$caught{}", next_label_);
    Landing own{fmt::format("gw$land{}", next_label_++)};
    landings_[name] = &own;
    Expr body = lower(BinaryenTryGetBody(e), own);
    landings_[name] = &here;  // in its clauses the try has been left
    std::vector<Expr> inner;
    if (is_concrete(type_of(body))) {
      inner.push_back(build_.br(after.c_str(), nullptr, body));
    } else {
      inner.push_back(body);
      if (type_of(body) == BinaryenTypeNone()) inner.push_back(build_.br(after.c_str()));
    }
    Expr landing = build_.block(own.label.c_str(), std::move(inner), BinaryenTypeNone());
    return build_.block(after.c_str(), {landing, clauses(e, coming, here)}, type);
  }

  // Behind the landing of a try: the clause that takes what has come, or on to the outer landing.
  Expr clauses(Expr e, TagSet coming, Landing& here) {
    struct Clause {
      TagSet tags;
      BinaryenIndex index;
    };
    std::vector<Clause> reachable;
    TagSet left = coming;
    for (BinaryenIndex i = 0; i < BinaryenTryGetNumCatchBodies(e); ++i) {
      const TagSet taken = tags_.taken_by(e, i, left);
      left &= ~taken;
      if (taken != 0) reachable.push_back({taken, i});
    }
    const std::string name(try_label(BinaryenTryGetName(e)));
    Expr chosen = left != 0 ? branch(here) : nullptr;
    for (auto clause = reachable.rbegin(); clause != reachable.rend(); ++clause) {
      Expr handler = lower_clause(BinaryenTryGetCatchBodyAt(e, clause->index), name, clause->tags, here);
      if (!chosen) {
        chosen = handler;
      } else {
        const auto number = static_cast<std::int32_t>(tags_.single(clause->tags).number);
        chosen = build_.if_else(build_.binary(BinaryenEqInt32(), build_.global(kUnwinding), build_.i32(number)), handler, chosen);
      }
    }
    return chosen;
  }

  Expr lower_clause(Expr body, const std::string& name, TagSet tags, Landing& here) {
    const Caught caught = new_caught(tags);
    std::vector<Expr> statements;
    if (caught.number) statements.push_back(build_.set(*caught.number, build_.global(kUnwinding)));
    for (const auto& [type, local] : caught.payload)
      statements.push_back(build_.set(local, BinaryenGlobalGet(build_.module(), payload_global(type).c_str(), type)));
    statements.push_back(set_exception(0));
    const Local outer = popped_;
    if (std::has_single_bit(tags) && !caught.payload.empty()) popped_ = caught.payload.begin()->second;
    caught_[name] = caught;
    statements.push_back(lower(body, here));
    popped_ = outer;
    const Type type = type_of(statements.back());
    return build_.block(nullptr, std::move(statements), type);
  }

  Caught new_caught(TagSet tags) {
    Caught caught{.tags = tags};
    for (const auto& [name, tag] : tags_.all()) {
      if ((tags & tag.bit()) == 0 || tag.param == BinaryenTypeNone() || caught.payload.contains(tag.param)) continue;
      caught.payload[tag.param] = draft_.add_local(tag.param);
    }
    if (!std::has_single_bit(tags)) caught.number = draft_.add_local(BinaryenTypeInt32());
    return caught;
  }

  FunctionDraft& draft_;
  const Builder& build_;
  const TagTable& tags_;
  const ThrowAnalysis& analysis_;
  ExceptionReport& report_;
  Landing leave_{kThrowLabel};
  std::map<std::string, Landing*, std::less<>> landings_;  // by name of try
  std::map<std::string, Caught, std::less<>> caught_;      // by name of try
  Local popped_ = 0;
  unsigned next_label_ = 0;
};

// An exception that leaves an export would be lost, and the next call would begin with kUnwinding set: it traps.
void trap_at_exports(const Builder& build, const ThrowAnalysis& analysis) {
  BinaryenModuleRef module = build.module();
  std::vector<std::pair<std::string, std::string>> exported;
  for (BinaryenIndex i = 0; i < BinaryenGetNumExports(module); ++i) {
    BinaryenExportRef symbol = BinaryenGetExportByIndex(module, i);
    if (BinaryenExportGetKind(symbol) != BinaryenExternalFunction()) continue;
    if (analysis.leaving(analysis.graph().index_of(BinaryenExportGetValue(symbol))) != 0)
      exported.emplace_back(BinaryenExportGetName(symbol), BinaryenExportGetValue(symbol));
  }
  for (const auto& [name, function] : exported) {
    BinaryenFunctionRef ref = BinaryenGetFunction(module, function.c_str());
    FunctionDraft entry{"gw$uncaught$" + name, BinaryenFunctionGetParams(ref), BinaryenFunctionGetResults(ref), {}, nullptr};
    entry.locals = expand(entry.params);
    std::vector<Expr> arguments;
    for (Local l = 0; l < entry.locals.size(); ++l) arguments.push_back(build.get(l, entry.locals[l]));
    Expr call = build.call(function, std::move(arguments), entry.results);
    Expr trap = build.if_else(build.global(kUnwinding), build.sequence({build.set_global(kUnwinding, build.i32(0)), build.unreachable()}));
    if (entry.results == BinaryenTypeNone()) {
      entry.body = build.sequence({call, trap});
    } else {
      const Local result = entry.add_local(entry.results);
      entry.body = build.block(nullptr, {build.set(result, call), trap, build.get(result, entry.results)}, entry.results);
    }
    build.add(entry);
    BinaryenRemoveExport(module, name.c_str());
    BinaryenAddFunctionExport(module, entry.name.c_str(), name.c_str());
  }
}

void add_exception_globals(const Builder& build, const TagTable& tags) {
  BinaryenAddGlobal(build.module(), kUnwinding, BinaryenTypeInt32(), true, build.i32(0));
  std::set<Type> types;
  for (const auto& [name, tag] : tags.all())
    if (tag.param != BinaryenTypeNone()) types.insert(tag.param);
  for (Type type : types) BinaryenAddGlobal(build.module(), payload_global(type).c_str(), type, true, build.zero(type));
}

// Tags that no code mentions are not in the table, and Binaryen's C API cannot list them: its own pass removes them.
void remove_tags(BinaryenModuleRef module) {
  std::vector<std::string> exported;
  for (BinaryenIndex i = 0; i < BinaryenGetNumExports(module); ++i) {
    BinaryenExportRef symbol = BinaryenGetExportByIndex(module, i);
    if (BinaryenExportGetKind(symbol) == BinaryenExternalTag()) exported.emplace_back(BinaryenExportGetName(symbol));
  }
  for (const std::string& name : exported) BinaryenRemoveExport(module, name.c_str());
  const char* pass = "remove-unused-module-elements";
  BinaryenModuleRunPasses(module, &pass, 1);
}

}  // namespace

bool is_exception_check(Expr e) {
  if (!is(e, Node::br) || BinaryenBreakGetValue(e)) return false;
  Expr condition = BinaryenBreakGetCondition(e);
  return condition && is(condition, Node::global_get) && std::string_view(BinaryenGlobalGetGetName(condition)) == kUnwinding;
}

Result<ExceptionReport> lower_exceptions(BinaryenModuleRef module) {
  ExceptionReport report;
  GW_TRY(const TagTable tags, TagTable::read(module));
  const Builder build(module);
  if (!tags.empty()) {
    const ThrowAnalysis analysis(module, tags);
    add_exception_globals(build, tags);
    for (CallGraph::Index f = 0; f < analysis.graph().functions().size(); ++f) {
      report.throwing += analysis.leaving(f) != 0 ? 1 : 0;
      if (analysis.graph().functions()[f].imported) continue;
      FunctionDraft draft = build.take(analysis.graph().functions()[f].name);
      ExceptionLowering(draft, build, tags, analysis, report).run();
      build.add(draft);
    }
    trap_at_exports(build, analysis);
  }
  remove_tags(module);
  return report;
}

}  // namespace gw::prep
