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

// Starts a process in a session of its own, with low priority, nowhere to write to and no other descriptor. Nobody waits for it and nobody
// learns whether it succeeded: for work that is worth having and never worth waiting for.
Status start_detached(const DetachedRequest& request);

}  // namespace gw::os
