#pragma once
// Makes a module mobile: the pass that puts the others together.

#include <optional>

#include "base/result.h"
#include "prep/prep.h"
#include "prep/source_module.h"

namespace gw::prep {

struct MobilityPlan {
  wire::Poll poll = wire::Poll::none;
  std::uint32_t poll_cell = 0;  // poll cell: its address
  UnwindArea unwind;
  Verify verify = Verify::no;
  std::string line_marker;  // the global of lines/line_markers.h; empty: there are no markers
};

// Gives every function that may be on the stack during a suspension its two bodies, and exports what the host needs.
// REQUIRES: polls are inserted.
void make_mobile(BinaryenModuleRef module, const MobilityPlan& plan, Report& report);

// Exports every mutable global that is part of the program's state, which `no_state` is not, and returns their types, in the order of the
// image.
std::vector<wire::ValueType> export_state_globals(BinaryenModuleRef module, const std::string& no_state);

}  // namespace gw::prep
