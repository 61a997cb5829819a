#pragma once
// The WebAssembly engine of this process.

#include <memory>
#include <string>

#include "base/bytes.h"
#include "isolate/engine/pool_thread.h"
#include "isolate/module.h"

namespace gw::isolate {

class MemoryWatch;
class Watchdog;

// Loads modules and makes pool threads. Starts the engine of the process (V8 can be started only once, and stays for its life), one
// loader thread, and the watchdog that enforces limits.
//
// Any thread. Outlives its pool threads and isolates.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> make();
  // With a watch made earlier, by a process that meanwhile may not open files any more.
  static Result<std::unique_ptr<Engine>> make(std::unique_ptr<MemoryWatch> memory_watch);
  ~Engine();

  // Kind::invalid for anything that is not a module a guest may be made of, with the reason. `native`: what the compile-only process
  // (compile_main.h) made of the same module. Empty, or refused by the engine as that of another version: the module is compiled here.
  // REQUIRES: `native` is authentic (CodeCache); it is executed as it is.
  Result<std::shared_ptr<const Module>> load(Bytes wasm, ByteView native = {});

  Result<std::unique_ptr<PoolThread>> make_thread(PoolThread::Config config = {});

  Watchdog& watchdog() { return *watchdog_; }
  MemoryWatch& memory_watch() { return *memory_watch_; }

 private:
  Engine();
  // On the loader thread.
  Status load_code(Module& module, ByteView native);

  std::unique_ptr<PoolThread> loader_;
  std::unique_ptr<Watchdog> watchdog_;
  std::unique_ptr<MemoryWatch> memory_watch_;
};

}  // namespace gw::isolate
