#include "os/files/descriptor_limit.h"

#include <sys/resource.h>

namespace gw::os {

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // with fewer, files wait for a descriptor (node::Disk)
}

}  // namespace gw::os
