#pragma once
// Makes a module mobile: the pass that puts the others together.

#include <optional>

#include "base/result.h"
#include "prep/prep.h"
#include "prep/source_module.h"

namespace gw::prep {

// Where the poll looks.
struct PollPlan {
  wire::Poll poll = wire::Poll::none;
  std::uint32_t cell = 0;
};

// Gives every function that may be on the stack during a suspension its two bodies, and exports what the host needs.
// REQUIRES: polls are inserted.
void make_mobile(BinaryenModuleRef module, const PollPlan& polls, const UnwindArea& area, Report& report);

// Exports every mutable global that is part of the program's state and returns their types, in the order of the image.
std::vector<wire::ValueType> export_state_globals(BinaryenModuleRef module);

}  // namespace gw::prep
