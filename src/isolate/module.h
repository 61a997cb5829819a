#pragma once
// A program ready to run: compiled once, shared by every isolate and thread of the process.

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/wasm/module_info.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::isolate {

class WasmCode;

// Where the code a module runs came from.
enum class CodeSource : std::uint8_t {
  compiled,        // here, from the wasm
  native,          // it was given
  native_refused,  // compiled here, because what was given is of another engine
};

// Immutable, any thread. Made by Engine::load(), which has checked that the module exports `_start` and `memory`, imports nothing but
// host functions (wire/wasm/wasi_imports.h), and has every export its `godwit` section promises.
class Module {
 public:
  // Computed when first asked for: a program that is never saved does not need it.
  const Hash256& hash() const;
  const wire::ModuleInfo& info() const { return info_; }
  const wire::MemoryType& memory() const { return memory_; }
  ByteView wasm() const { return wasm_; }
  CodeSource code_source() const { return code_source_; }
  bool mobile() const { return info_.level != wire::Level::off; }
  // Memory and exported globals are all the state of an instance: an instance whose memory and globals are put back is like a new one.
  bool restartable() const { return restartable_; }

 private:
  friend class Engine;
  friend class Isolate;
  Module() = default;

  Bytes wasm_;
  mutable std::once_flag hashed_;
  mutable Hash256 hash_;
  wire::ModuleInfo info_;
  wire::MemoryType memory_;
  bool restartable_ = false;
  std::shared_ptr<const WasmCode> code_;
  CodeSource code_source_ = CodeSource::compiled;
};

}  // namespace gw::isolate
