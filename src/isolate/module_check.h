#pragma once
// Checks of a module before a guest is made of it.

#include "base/bytes.h"
#include "wire/wasm/module_info.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::isolate {

struct ModuleFacts {
  wire::ModuleInfo info;  // level off for a module without a `godwit` section
  wire::MemoryType memory;
  bool restartable = false;  // see Module
};

// Reads the outer structure and refuses, with a sentence, anything Isolate could not run or that would give the guest more than
// host_imports(). The engine validates the code itself.
Result<ModuleFacts> check_module(ByteView wasm);

}  // namespace gw::isolate
