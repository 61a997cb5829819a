#pragma once
// The interface that Godwit needs of a WebAssembly engine. Implemented by v8_*.cc, the only files that know V8; another engine would
// replace them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "isolate/backtrace.h"
#include "isolate/memory/guest_memory.h"
#include "isolate/stop.h"
#include "isolate/wasi/host_imports.h"
#include "wire/image/image.h"

namespace gw::isolate {

// Process-wide set-up; the first call does it, later ones do nothing. Any thread.
Status start_wasm_engine();

// A compiled module. Immutable, any thread.
class WasmCode {
 public:
  struct Impl;
  explicit WasmCode(std::unique_ptr<Impl> impl);
  ~WasmCode();

  // Native code, for WasmHeap::load(). Empty if the engine cannot.
  Bytes serialize() const;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The guest's side of a host call. Implemented by the isolate.
class ImportHost {
 public:
  virtual ~ImportHost() = default;
  // The result of a guest's call of `import`. After::park is not an answer here.
  virtual CallResult on_import(const HostImport& import, GuestMemory memory, const std::uint64_t* args) = 0;
  // WasmHeap::interrupt() was called during this run, or shortly before it. Guest frames are on the stack; it may block.
  virtual void on_interrupt() = 0;
};

// The engine's per-thread state, home of any number of instances. Used only on the thread that made it, except where said.
class WasmHeap {
 public:
  struct Impl;

  // `stack_bytes`: how much of this thread's stack guests may use from here on down.
  static Result<std::unique_ptr<WasmHeap>> make(std::size_t stack_bytes);
  ~WasmHeap();

  Result<std::shared_ptr<const WasmCode>> compile(ByteView wasm);
  // From serialize() of the same module. Fails if the engine does not accept it. REQUIRES: `native` is authentic: the engine trusts it.
  Result<std::shared_ptr<const WasmCode>> load(ByteView wasm, ByteView native);

  // Any thread: has on_interrupt() called soon by the guest that is running, if any.
  void interrupt();
  // Any thread: makes the running guest stop with Terminated. Forgotten by forget_termination().
  void terminate();
  void forget_termination();

  Impl& impl() { return *impl_; }

 private:
  explicit WasmHeap(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Returned {};     // from the export, in the ordinary way
struct EndedByHost {};  // a host call answered After::end
// A trap as in stop.h, and the frames of the guest, innermost first, at most kMaxCapturedFrames.
struct TrapReport {
  TrapKind kind;
  std::vector<CodePosition> frames;
  std::string message;
};
using CallOutcome = std::variant<Returned, EndedByHost, Terminated, TrapReport>;

// An instance of a module. Used on its heap's thread, except memory_base() and memory_bytes().
class WasmInstance {
 public:
  struct Impl;

  // `host` outlives the instance.
  static Result<std::unique_ptr<WasmInstance>> make(WasmHeap& heap, const WasmCode& code, ImportHost& host);
  ~WasmInstance();

  // Calls an exported function without parameters and results; may be used inside on_import().
  CallOutcome call(std::string_view function);
  // The frames of the guest as in TrapReport. REQUIRES: called inside on_import() or on_interrupt().
  std::vector<CodePosition> frames();

  Result<wire::GlobalValue> global(std::string_view name, wire::ValueType type);
  Status set_global(std::string_view name, const wire::GlobalValue& value);

  Status grow_memory(std::uint32_t pages);
  // Never changes: the whole address space of a wasm32 memory is reserved.
  std::uint8_t* memory_base() const;
  std::size_t memory_bytes() const;
  std::span<std::uint8_t> memory() const { return {memory_base(), memory_bytes()}; }

 private:
  explicit WasmInstance(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gw::isolate
