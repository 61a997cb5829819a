#include "worker/warm_up.h"

#include "base/hash.h"

namespace gw::worker {

Status warm_up(isolate::Engine&) {
  (void)sha256({});  // OpenSSL reads its configuration when it is first used
  return ok();
}

}  // namespace gw::worker
