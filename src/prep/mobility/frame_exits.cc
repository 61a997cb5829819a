#include "prep/mobility/frame_exits.h"

#include <algorithm>
#include <string_view>

#include "prep/exceptions/exceptions.h"

namespace gw::prep {

Expr FrameExits::leave_if(Expr condition, const Site& site) const {
  const Builder& build = context_.build;
  const std::string target = label(site.save_set);
  if (!is_shared(site.save_set)) return build.br(target.c_str(), condition);
  // Several sites share one exit: each tells it its number.
  return build.drop(build.br(target.c_str(), condition, build.i32(static_cast<std::int32_t>(site.number))));
}

Expr FrameExits::poll(const Site& site) const { return leave_if(context_.poll_condition(), site); }

Expr FrameExits::check(const Site& site) const {
  const Builder& build = context_.build;
  if (!site.may_throw || leaves_function(site)) return leave_if(build.global(kUnwinding), site);
  Expr suspending = build.binary(BinaryenEqInt32(), build.global(kUnwinding), build.i32(1));
  if (!site.landing) return leave_if(suspending, site);  // the exception check stands further down
  return build.if_else(build.global(kUnwinding), build.sequence({leave_if(suspending, site), build.br(site.landing)}));
}

bool FrameExits::leaves_function(const Site& site) { return site.landing && std::string_view(site.landing) == kThrowLabel; }

bool FrameExits::is_shared(unsigned set) const {
  return std::ranges::count_if(plan_.sites, [&](const Site& site) { return site.save_set == set; }) > 1;
}

std::vector<unsigned> FrameExits::used_sets() const {
  std::vector<unsigned> used;
  for (const Site& site : plan_.sites)
    if (std::ranges::find(used, site.save_set) == used.end()) used.push_back(site.save_set);
  return used;
}

std::vector<std::pair<Local, Type>> FrameExits::saved(unsigned set) const {
  std::vector<std::pair<Local, Type>> locals;
  for (Local l : plan_.sets[set]) locals.emplace_back(l, draft_.locals[l]);
  return locals;
}

Expr FrameExits::wrap(Expr body, Local number) const {
  for (unsigned set : used_sets()) body = with_exit(body, set, number);
  return body;
}

Expr FrameExits::with_exit(Expr body, unsigned set, Local number) const {
  const Builder& build = context_.build;
  const std::string exit = label(set);
  auto in_set = [&](const Site& site) { return site.save_set == set; };
  std::vector<Expr> statements;
  Expr left_at = nullptr;
  if (is_shared(set)) {
    statements.push_back(build.set(number, build.block(exit.c_str(), {body, build.unreachable()}, BinaryenTypeInt32())));
    left_at = build.get_i32(number);
  } else {
    statements.push_back(build.block(exit.c_str(), {body}, BinaryenTypeNone()));
    left_at = build.i32(static_cast<std::int32_t>(std::ranges::find_if(plan_.sites, in_set)->number));
  }
  const bool has_result = draft_.results != BinaryenTypeNone();
  auto leave = [&] { return build.ret(has_result ? build.zero(draft_.results) : nullptr); };
  if (std::ranges::any_of(plan_.sites, [&](const Site& site) { return in_set(site) && leaves_function(site); }))  // an exception goes on
    statements.push_back(build.if_else(build.binary(BinaryenGtUInt32(), build.global(kUnwinding), build.i32(1)), leave()));
  // After a call the guest is unwinding already; to begin once more does no harm.
  const bool begins_here = std::ranges::any_of(plan_.sites, [&](const Site& site) { return in_set(site) && site.kind == SiteKind::poll; });
  if (begins_here) statements.push_back(build.call(kBeginUnwind, {}, BinaryenTypeNone()));
  std::ranges::copy(context_.stack.push(saved(set), left_at), std::back_inserter(statements));
  statements.push_back(leave());
  return build.sequence(std::move(statements));
}

}  // namespace gw::prep
