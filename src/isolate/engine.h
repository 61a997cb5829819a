#pragma once
// The door to the WebAssembly engine of this process.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "isolate/module.h"
#include "isolate/pool_thread.h"

namespace gw::isolate {

class CodeCache;
class MemoryWatch;
class Watchdog;

// Loads modules and makes pool threads. Starts the engine of the process (V8 can be started only once, and stays for its life), one
// loader thread, and the watchdog that enforces limits.
//
// Any thread. Outlives its pool threads and isolates.
class Engine {
 public:
  struct Config {
    // Compiled code is kept under this folder, normally os::cache_dir(). Without it every load compiles.
    std::optional<std::filesystem::path> cache_root;
    // Command that compiles: runs compile_only_main() (compile_main.h) with the arguments that follow. Only that process writes the cache.
    // Empty: the cache is read, never filled.
    std::vector<std::string> compiler;
  };

  static Result<std::unique_ptr<Engine>> make(Config config);
  ~Engine();

  // Kind::invalid for anything that is not a module a guest may be made of, with the reason.
  Result<std::shared_ptr<const Module>> load(Bytes wasm);

  Result<std::unique_ptr<PoolThread>> make_thread(PoolThread::Config config = {});

  Watchdog& watchdog() { return *watchdog_; }
  MemoryWatch& memory_watch() { return *memory_watch_; }

  // Of the WebAssembly engine below, for `godwit version`.
  static std::string version();

 private:
  Engine();
  // On the loader thread.
  Result<std::shared_ptr<const WasmCode>> code_of(const Module& module);
  Result<std::shared_ptr<const WasmCode>> from_cache(const Module& module);
  bool fill_cache(const Module& module);

  std::unique_ptr<PoolThread> loader_;
  std::unique_ptr<Watchdog> watchdog_;
  std::unique_ptr<MemoryWatch> memory_watch_;
  std::unique_ptr<CodeCache> cache_;  // null: none
  std::vector<std::string> compiler_;
};

}  // namespace gw::isolate
