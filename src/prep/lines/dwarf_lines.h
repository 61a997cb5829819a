#pragma once
// The line table that a compiler leaves in a module with -g: DWARF's section .debug_line, versions 2 to 5.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace gw::prep {

// A line of a source. File 0 and line 0: unknown.
struct SourcePosition {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  auto operator<=>(const SourcePosition&) const = default;
};

// Where the code of a linked module comes from, by the offset of an instruction from the first byte of the code section's content.
class DwarfLines {
 public:
  // Nothing if the module has no line table. Kind::corrupt or unsupported if it has one that cannot be read.
  static Result<std::optional<DwarfLines>> read(ByteView wasm);

  const std::vector<std::string>& files() const { return files_; }  // the first is empty: an unknown file
  SourcePosition at(std::uint32_t offset) const;

 private:
  class Reader;
  struct Row {
    std::uint32_t offset;
    SourcePosition position;
  };
  DwarfLines() = default;

  std::vector<std::string> files_;
  std::vector<Row> rows_;  // by ascending offset
};

}  // namespace gw::prep
