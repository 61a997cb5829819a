#pragma once
// Reduces the script of a failing run to a minimal one.

#include <cstddef>
#include <functional>

#include "faults/fault_script.h"

namespace gw::sim {

// Whether a run with this script still fails.
using StillFails = std::function<bool(const FaultScript&)>;

// Leaves out kinds of faults, then faults (ddmin: ever smaller parts of the list), then tasks and peers, as long as the run fails, in at
// most `runs` runs. REQUIRES: the run with `script` fails.
FaultScript shrink(FaultScript script, std::size_t runs, const StillFails& still_fails);

}  // namespace gw::sim
