#pragma once
// The words of a compiler command, sorted.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/clang.h"

namespace gw::compiler_driver {

using toolchain::Language;
using toolchain::Words;

struct Arguments {
  enum class Mode {
    forward,  // clang does it alone: -E, -S, -M, --version, input from stdin
    compile,  // -c
    link,
  };
  struct Source {
    std::string path;
    Language language;
  };

  Mode mode = Mode::link;
  Words all;      // as they came, without those that mean nothing to wasm
  Words compile;  // flags of the compiler
  Words link;     // objects, archives and flags of the linker, in their order
  std::vector<Source> sources;
  std::optional<std::string> output;

  // REQUIRES: `words` without the name of the program. `driver` is the language it was called for: that of the link.
  static Result<Arguments> parse(const Words& words, Language driver);
};

}  // namespace gw::compiler_driver
