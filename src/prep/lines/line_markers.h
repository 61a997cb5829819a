#pragma once
// Carries the lines of the source through the pre-processor.
//
// Problem: a line table names instructions by their place in the code, and every pass moves, copies and replaces instructions. libbinaryen
// can carry lines beside expressions, but its C API can neither read them nor does it copy them with the expressions.
//
// Here the lines travel as instructions. Before the module is parsed, each place where a new line begins gets a marker, `global.set $marker
// (i32.const n)`, with a global that nothing reads. To all passes that is an effect, which keeps its place among the calls and traps around
// it, and is copied with them into both bodies of a function. After the module has been written, the markers are taken out again, and what
// stood behind a marker is of its line. Only modules with debug information have markers, and none is ever executed.
//
// Invariants: an instruction that can trap or call has a marker before it in its own straight piece of code, so that code which is moved as
// a whole keeps its line. Functions without lines get no markers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "prep/lines/dwarf_lines.h"
#include "wire/wasm/line_table.h"

namespace gw::prep {

struct MarkedModule {
  Bytes wasm;
  std::uint32_t global = 0;               // the marker's: the last one
  std::vector<std::string> files;         // as in DwarfLines
  std::vector<SourcePosition> positions;  // by the value of a marker; the first is unknown
};

// Nothing if the module has no line table. REQUIRES: well-formed wasm.
Result<std::optional<MarkedModule>> mark_lines(ByteView wasm);

struct UnmarkedModule {
  Bytes wasm;
  wire::LineTable lines;
};

// The module without its markers. `marker` is the index that their global has in `wasm`.
Result<UnmarkedModule> take_markers(ByteView wasm, std::uint32_t marker, const MarkedModule& marked);

}  // namespace gw::prep
