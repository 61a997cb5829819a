#include "prep/exceptions/exception_landings.h"

#include <unordered_map>

#include "prep/exceptions/exceptions.h"

namespace gw::prep {

void merge_exception_checks(const Builder& build, const SiteRules& rules, Expr body, SavePlan& plan) {
  std::unordered_map<Expr, Site*> throwing;  // by statement
  for (Site& site : plan.sites) {
    site.may_throw = site.kind == SiteKind::call && rules.may_throw(site.call);
    if (site.may_throw) throwing[site.statement] = &site;
  }
  if (throwing.empty()) return;
  walk(body, [&](Expr e) {
    if (!is(e, Node::block)) return;
    for (unsigned i = 0; i + 1 < child_count(e); ++i) {
      auto site = throwing.find(child_at(e, i));
      if (site == throwing.end() || !is_exception_check(child_at(e, i + 1))) continue;
      site->second->landing = BinaryenBreakGetName(child_at(e, i + 1));
      set_child(e, i + 1, build.nop());
    }
  });
}

}  // namespace gw::prep
