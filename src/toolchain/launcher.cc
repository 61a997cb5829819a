#include "toolchain/launcher.h"

#include <string_view>

namespace gw::toolchain {
namespace {

// The shell never reads on behind `exec`.
constexpr std::string_view kLauncher = "#!/bin/sh\nexec \"${GODWIT:-godwit}\" run \"$0\" -- \"$@\"\n";

}  // namespace

Bytes with_launcher(ByteView wasm) {
  Bytes program(kLauncher.begin(), kLauncher.end());
  program.insert(program.end(), wasm.begin(), wasm.end());
  return program;
}

ByteView without_launcher(ByteView file) { return as_text(file).starts_with(kLauncher) ? file.subspan(kLauncher.size()) : file; }

}  // namespace gw::toolchain
