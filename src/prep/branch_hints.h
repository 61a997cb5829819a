#pragma once
// Tells engines that suspensions are rare: the custom section `metadata.code.branch_hint`.

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"

namespace gw::prep {

// Marks every branch on a poll and every look at the unwinding flag as not taken, so that engines keep the exits out of the way of the code
// they belong to. The section stands before the code, as the proposal wants it; engines that do not know it ignore it.
// poll_cell: its address, if the module polls a cell.
Result<Bytes> add_branch_hints(ByteView wasm, std::optional<std::uint32_t> poll_cell);

}  // namespace gw::prep
