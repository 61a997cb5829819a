#include "job/host/hosted_storage.h"

namespace gw::job {

Status HostedStorage::change(const StoredForOthers& before, const StoredForOthers& after) {
  if (budget_ == nullptr) return ok();
  GW_TRY_VOID(budget_->change(account_, before, after));
  charged_ += after;
  charged_ -= before;
  return ok();
}

void HostedStorage::remove(const StoredForOthers& less) {
  GW_ASSERT(change(less, {}).has_value());  // a decrease is never refused
}

}  // namespace gw::job
