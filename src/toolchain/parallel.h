#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace gw::toolchain {

// Calls job(0) ... job(count - 1), as many at once as there are processors, and returns when all have ended. After a failure no further
// one is begun; of several failures the one with the lowest number is returned, so that the same input gives the same message.
// `job` is called on threads of this call, the first of them the caller's.
Status for_each_in_parallel(std::size_t count, const std::function<Status(std::size_t)>& job);

}  // namespace gw::toolchain
