#pragma once
// memory.fill and memory.copy run to their end however large they are: splits them, so that polls get a word in.

#include "prep/ir.h"

namespace gw::prep {

// Replaces each memory.fill and memory.copy that is not of a small constant size by a call of a function that works in pieces, in a loop
// like any other. A piece that is out of bounds traps after earlier pieces were written; no program can observe the difference.
void split_bulk_memory(BinaryenModuleRef module);

}  // namespace gw::prep
