#pragma once
// The build driver: C or C++ sources, or a wasm module of any toolchain, become a mobile module.

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "prep/prep.h"

namespace gw::toolchain {

enum class Debug { no, yes };  // yes: crashes are reported with lines of the source, code is not optimised

struct BuildRequest {
  std::vector<std::filesystem::path> inputs;  // .c, .cc, .cpp, .cxx in any number, or one wasm module under any name
  std::filesystem::path output;               // empty: nothing is written
  prep::Options mobility;
  // For the compiler and linker, one word each: -DNAME=1, -Ifolder, -lm, -Wl,--option. Sources only.
  std::vector<std::string> extra_flags;
  Debug debug = Debug::no;  // a wasm module must come with a line table then
};

enum class Origin { built, cached };

struct BuildOutput {
  Bytes wasm;
  prep::Report report;
  std::string warnings;  // of the compiler; empty if it had none
  Origin origin = Origin::built;
};

// Results are cached by content: the same input, headers, flags and tools give the stored bytes.
// Input that cannot be built is Kind::invalid, with the tool's own output in the detail; nothing is written then.
// Starts child processes, and forks: call it before other threads hold locks.
Result<BuildOutput> build(const BuildRequest& request);

}  // namespace gw::toolchain
