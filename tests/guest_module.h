#pragma once
// Guests of tests that run real workers.

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "base/check.h"
#include "toolchain/build.h"

namespace gw {

// A mobile module of this C source, which is written to the folder.
inline Bytes build_guest(const std::filesystem::path& folder, const char* source) {
  const auto file = folder / "guest.c";
  std::ofstream(file) << source;
  auto built = toolchain::build({.inputs = {file}});
  GW_ASSERT(built.has_value());
  return std::move(built->wasm);
}

}  // namespace gw
