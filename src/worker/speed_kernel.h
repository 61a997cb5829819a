#pragma once
// The speed of this machine: how fast one of its cores runs a fixed WebAssembly kernel.

#include <cstdint>

#include "base/result.h"

namespace gw::worker {

// Runs the kernel for 50 ms of processor time and returns thousandths of the speed of the reference machine (kReferenceCallsPerSecond).
// Time that other programs take from the core does not count: a lender says that apart from its speed. REQUIRES: the engine was started.
Result<std::uint32_t> measure_speed();

}  // namespace gw::worker
