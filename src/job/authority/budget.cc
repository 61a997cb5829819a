#include "job/authority/budget.h"

#include <array>

#include "base/planted_bug.h"

namespace gw::job {
namespace {

struct Resource {
  std::uint64_t StoredForOthers::* amount;
  std::string_view name;
};

constexpr std::array<Resource, 5> kResources{{{&StoredForOthers::threads, "threads"},
                                              {&StoredForOthers::blobs, "blobs"},
                                              {&StoredForOthers::bytes, "bytes"},
                                              {&StoredForOthers::nodes, "nodes of images"},
                                              {&StoredForOthers::determinants, "determinants"}}};

template <class Key>
StoredForOthers amount_of(const std::map<Key, StoredForOthers>& entries, const Key& key) {
  const auto found = entries.find(key);
  return found == entries.end() ? StoredForOthers() : found->second;
}

template <class Key>
void replace(std::map<Key, StoredForOthers>& entries, const Key& key, const StoredForOthers& before, const StoredForOthers& after) {
  const auto entry = entries.try_emplace(key).first;
  (entry->second += after) -= before;
  if (entry->second == StoredForOthers()) entries.erase(entry);
}

}  // namespace

StoredForOthers& StoredForOthers::operator+=(const StoredForOthers& more) {
  for (const Resource& resource : kResources) this->*resource.amount += more.*resource.amount;
  return *this;
}

StoredForOthers& StoredForOthers::operator-=(const StoredForOthers& less) {
  for (const Resource& resource : kResources) this->*resource.amount -= less.*resource.amount;
  return *this;
}

StoredForOthers Budget::used_by(const PeerId& origin) const { return amount_of(origins_, origin); }

Status Budget::check(const StoredForOthers& used, const StoredForOthers& before, const StoredForOthers& after, const StoredForOthers& limit,
                     std::string_view whose) const {
  for (const Resource& resource : kResources) {
    if (after.*resource.amount <= before.*resource.amount) continue;
    const std::uint64_t sum = used.*resource.amount - before.*resource.amount + after.*resource.amount;
    if (sum > limit.*resource.amount && !GW_BUG(52))
      return fail(Kind::overloaded, "this peer stores no more than {} {} {}", limit.*resource.amount, resource.name, whose);
  }
  return ok();
}

Status Budget::change(const Account& account, const StoredForOthers& before, const StoredForOthers& after) {
  GW_TRY_VOID(check(amount_of(jobs_, account.job), before, after, limits_.job, "of one job"));
  GW_TRY_VOID(check(amount_of(origins_, account.origin), before, after, limits_.origin, "of the jobs of one peer"));
  GW_TRY_VOID(check(amount_of(grids_, account.grid), before, after, limits_.grid, "of one grid"));
  GW_TRY_VOID(check(all_, before, after, limits_.all, "for other peers"));
  apply(account, before, after);
  return ok();
}

void Budget::adopt(const Account& account, const StoredForOthers& found) { apply(account, {}, found); }

void Budget::apply(const Account& account, const StoredForOthers& before, const StoredForOthers& after) {
  replace(jobs_, account.job, before, after);
  replace(origins_, account.origin, before, after);
  replace(grids_, account.grid, before, after);
  (all_ += after) -= before;
}

}  // namespace gw::job
