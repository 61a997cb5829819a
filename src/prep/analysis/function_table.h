#pragma once
// The function table of a mobile module has two halves: entry i + half is the rewind body of entry i.

#include <cstdint>

#include "prep/analysis/call_graph.h"
#include "prep/analysis/sites.h"
#include "prep/ir.h"

namespace gw::prep {

// Entries before doubling: the half. 0 if there is no table.
std::uint32_t table_size(BinaryenModuleRef module);

// An import that may block has no rewind body: where it is in the table or exported, a function that calls it takes its place.
void wrap_addressed_imports(const Builder& build);

// An index that was out of bounds must still trap, not reach the upper half. Only calls of the signatures that rewind bodies have, () -> x,
// could succeed there: they get a check.
void confine_indirect_calls(const Builder& build);

// REQUIRES: the rewind bodies exist.
void add_rewind_entries(const Builder& build, const CallGraph& graph, const SiteRules& rules);

}  // namespace gw::prep
