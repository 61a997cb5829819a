#pragma once

#include "prep/prep.h"

namespace gw::toolchain {

// prep::process in a child process, because libbinaryen ends the process when a module is malformed. A child that dies is Kind::invalid,
// with its last words.
Result<prep::Output> process_in_child(ByteView wasm, const prep::Options& options);

}  // namespace gw::toolchain
