#include "worker/warm_up.h"

#include "base/hash.h"

namespace gw::worker {

void warm_up() {
  (void)sha256({});  // OpenSSL reads its configuration
}

}  // namespace gw::worker
