#pragma once
// Processes that outlive the one that starts them.

#include <string>
#include <vector>

#include "base/bytes.h"

namespace gw::os {

struct DetachedRequest {
  std::vector<std::string> argv;  // argv[0] is a path
  Bytes stdin_bytes;              // from an unnamed file in memory
};

// Starts a process in its own session, with low priority, without output and without other descriptors. The caller does not wait for it and
// does not learn whether it succeeded: for optional work.
Status start_detached(const DetachedRequest& request);

}  // namespace gw::os
