#pragma once
// Figures of the simulator about overlays of up to ten thousand peers.

#include "base/result.h"
#include "report.h"

namespace gw::bench {

// Runs the godwit-sim beside this program: some minutes of CPU time.
Status add_simulated_overlay(Report& report);

}  // namespace gw::bench
