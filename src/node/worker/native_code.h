#pragma once
// Compiled code of modules, for the workers of this machine.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "isolate/engine/code_cache.h"

namespace gw::node {

// Finds compiled code in the cache and has it made when there is none, by a process that compiles and does nothing else. No run ever waits
// for that: a worker without native code compiles what it needs itself, and the next run finds the entry.
//
// Any thread.
class NativeCode {
 public:
  struct Config {
    std::filesystem::path cache_root;  // normally os::cache_dir()
    // The compile-only process: runs isolate::compile_only_main() with the argument that is added, `start` or `restore`.
    std::vector<std::string> compiler;
    // A process that outlives this one: runs fill_code_cache_main() with the argument that is added. Empty: none, entries come by make()
    // only.
    std::vector<std::string> filler;
  };

  static Result<NativeCode> open(Config config);

  // The authentic cache entry for a worker to load. On a miss, none, and the filler is started. REQUIRES: `module` is wasm's hash; a caller
  // that asks often or for a blob knows it already.
  std::optional<os::SealedMemory> find(const Hash256& module, ByteView wasm, isolate::CodeKind kind) const;

  // Has the entry made anew, in the background: the engine has refused it.
  void replace(ByteView wasm, isolate::CodeKind kind) const;

  // Drops the entry, because a worker failed to load it: the next worker compiles for itself.
  void drop(const Hash256& module, isolate::CodeKind kind) const { cache_.drop(module, kind); }

  // Compiles and stores, waiting for it. Kind::overloaded: another process is filling the cache.
  Status make(ByteView wasm, isolate::CodeKind kind) const;

 private:
  NativeCode(Config config, isolate::CodeCache cache) : config_(std::move(config)), cache_(std::move(cache)) {}

  Config config_;
  isolate::CodeCache cache_;
};

// The filler: stores compiled code of the module on standard input under config.cache_root; args[0] is `start` or `restore`. Returns the
// exit code; the reason of a failure is on stderr.
int fill_code_cache_main(NativeCode::Config config, std::span<const std::string> args);

}  // namespace gw::node
