#pragma once
// The custom section "godwit.lines": which line of which source an instruction of the module comes from. The pre-processor writes it for
// modules that were compiled with -g; it is read when a program has crashed. Layout: docs/guest-abi.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace gw::wire {

inline constexpr std::string_view kLinesSection = "godwit.lines";
inline constexpr std::uint8_t kLinesVersion = 1;

// A row holds from its offset up to that of the next one.
struct LineTable {
  struct Row {
    std::uint32_t offset;  // from the first byte of the code section's content
    std::uint32_t file;    // index of `files`
    std::uint32_t line;    // from 1; 0: unknown
    bool operator==(const Row&) const = default;
  };
  std::vector<std::string> files;
  std::vector<Row> rows;  // by ascending offset
};

// The payload of the section, without its name. REQUIRES: offsets ascend and files exist.
Bytes encode(const LineTable& table);

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  bool operator==(const SourceLine&) const = default;
};

// The lines of instructions that are named by their offset from the start of the module; nothing where a line is unknown. Reads the section
// once and keeps no copy of it, because a module of a stranger may have a large one. Kind::not_found: the module has no such section.
Result<std::vector<std::optional<SourceLine>>> find_lines(ByteView wasm, std::span<const std::uint32_t> offsets);

}  // namespace gw::wire
