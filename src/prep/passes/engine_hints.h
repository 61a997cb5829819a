#pragma once
// Hints for engines about the generated code: two custom sections before the code. Other engines ignore them.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace gw::prep {

struct EngineHints {
  std::optional<std::uint32_t> poll_cell;  // its address, if the module polls a cell
  std::vector<bool> rarely_called;         // by defined function, in module order: the rewind bodies
};

// `metadata.code.branch_hint`: every branch on a poll and every look at the unwinding flag is marked as not taken, so that the exits are
// kept out of the way of the code they belong to. `compilationHints`: functions that are rarely called are compiled when they are first
// called, so that a program starts sooner.
Result<Bytes> add_engine_hints(ByteView wasm, const EngineHints& hints);

}  // namespace gw::prep
