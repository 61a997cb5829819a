#include "prep/frame_exits.h"

#include <algorithm>

namespace gw::prep {

Expr FrameExits::poll(const Site& site) const { return context_.build.br(label(site.save_set).c_str(), context_.poll_condition()); }

Expr FrameExits::check(const Site& site) const {
  const Builder& build = context_.build;
  const std::string target = label(site.save_set);
  if (site.kind != SiteKind::call) return build.br(target.c_str(), build.global(kUnwinding));
  // Several calls share one exit: each tells it its number.
  return build.drop(build.br(target.c_str(), build.global(kUnwinding), build.i32(static_cast<std::int32_t>(site.number))));
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
  std::vector<bool> wrapped(plan_.sets.size(), false);
  for (const Site& site : plan_.sites) {
    if (wrapped[site.save_set]) continue;
    wrapped[site.save_set] = true;
    body = site.kind == SiteKind::call ? leave_by_number(body, site.save_set, number) : leave_at_stop_point(body, site);
  }
  return body;
}

Expr FrameExits::leave_by_number(Expr body, unsigned set, Local number) const {
  const Builder& build = context_.build;
  Expr left_with = build.block(label(set).c_str(), {body, build.unreachable()}, BinaryenTypeInt32());
  std::vector<Expr> statements{build.set(number, left_with)};
  std::ranges::copy(push_and_return(set, build.get_i32(number)), std::back_inserter(statements));
  return build.sequence(std::move(statements));
}

Expr FrameExits::leave_at_stop_point(Expr body, const Site& site) const {
  const Builder& build = context_.build;
  std::vector<Expr> statements{build.block(label(site.save_set).c_str(), {body}, BinaryenTypeNone())};
  if (site.kind == SiteKind::poll) statements.push_back(build.call(kBeginUnwind, {}, BinaryenTypeNone()));
  std::ranges::copy(push_and_return(site.save_set, build.i32(static_cast<std::int32_t>(site.number))), std::back_inserter(statements));
  return build.sequence(std::move(statements));
}

std::vector<Expr> FrameExits::push_and_return(unsigned set, Expr number) const {
  std::vector<Expr> statements = context_.stack.push(saved(set), number);
  const bool has_result = draft_.results != BinaryenTypeNone();
  statements.push_back(context_.build.ret(has_result ? context_.build.zero(draft_.results) : nullptr));
  return statements;
}

}  // namespace gw::prep
