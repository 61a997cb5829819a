#pragma once
// Puts poll points into a module: the marker call that the two-bodies pass turns into code.

#include <string>
#include <vector>

#include "prep/ir.h"
#include "prep/prep.h"

namespace gw::prep {

// Marks the header of every loop that is not provably short, unless each of its turns comes to another poll, and the entry of enough
// functions to cut every recursion.
// A tight counted loop gets a second, unpolled copy that is taken when the trip count, known on entry, is small (loop versioning).
// Counts and the loops left alone go into the report.
void insert_polls(BinaryenModuleRef module, Report& report);

}  // namespace gw::prep
