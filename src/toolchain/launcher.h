#pragma once
// A module that can be started like a program: two lines of shell in front of the wasm, which hand it to `godwit run`.

#include "base/bytes.h"

namespace gw::toolchain {

Bytes with_launcher(ByteView wasm);
// The module behind the launcher, or what was given if there is none.
ByteView without_launcher(ByteView file);

}  // namespace gw::toolchain
