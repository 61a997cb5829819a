#pragma once
// C and C++ sources of a guest, compiled and linked.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "os/files/file.h"
#include "toolchain/build_cache.h"
#include "toolchain/clang.h"
#include "toolchain/guest_runtime.h"

namespace gw::toolchain {

struct Source {
  std::filesystem::path path;
  Language language;
};

// Sources on their way to one linked module, in a folder of their own. Steps in this order: preprocess, compile_and_link.
//
// Preprocessing only expands the includes. Its result is the whole input of the compiler: the cache key is taken from it, and it alone is
// compiled, so a header that changes in between cannot give a wrong cache entry. Sources are handled several at a time. C++, and
// what has thread_local variables, is compiled in two halves with LLVM bitcode in between, which bitcode.h rewrites.
class Compilation {
 public:
  static constexpr std::size_t kMaxSources = 4096;

  // Checks the flags, and that the tools are there. REQUIRES: at least one source.
  static Result<Compilation> start(std::vector<Source> sources, std::vector<std::string> extra_flags);

  // Expands the includes of the sources. Returns the hash of what came out, which does not depend on where the folder of this compilation
  // is.
  Result<Hash256> preprocess();
  // The sources and what they include, but for our own headers. REQUIRES: preprocess() has succeeded.
  const std::vector<std::filesystem::path>& files() const { return files_; }

  struct Linked {
    Bytes wasm;
    std::string warnings;
  };
  // Compiled parts of the guest runtime are kept in the cache.
  Result<Linked> compile_and_link(const BuildCache& cache);

  // Everything else that decides the result, besides our own sources: the version of the compiler and the flags of the user.
  const std::string& settings() const { return settings_; }

 private:
  Compilation(os::TempDir dir, std::vector<Source> sources) : dir_(std::move(dir)), sources_(std::move(sources)) {}

  Language language() const;                           // C++ if any source is
  LibraryUse library_use() const;                      // REQUIRES: preprocess() has succeeded
  bool goes_through_bitcode(std::size_t index) const;  // REQUIRES: preprocess() has succeeded
  enum class Step { expand, compile };
  Words command_for(Language language, Step step) const;  // up to the name of the source
  struct Expanded {
    Hash256 hash;
    std::set<std::string> files;
    bool mentions_thread_locals = false;
  };
  Result<Expanded> preprocess_source(std::size_t index) const;
  Result<std::string> compile_source(std::size_t index) const;
  Status generate_object(std::size_t index) const;
  Result<Bytes> link() const;

  os::TempDir dir_;
  std::vector<Source> sources_;
  Words compile_flags_;  // of the user
  Words link_flags_;     // of the user
  Exceptions exceptions_ = Exceptions::on;
  DebugInfo debug_info_ = DebugInfo::off;
  std::string compiler_version_;
  std::string settings_;
  std::vector<std::filesystem::path> files_;
  std::vector<bool> mentions_thread_locals_;  // by source
};

}  // namespace gw::toolchain
