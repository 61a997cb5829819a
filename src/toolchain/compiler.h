#pragma once
// clang and wasm-ld for guests.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "os/file.h"

namespace gw::toolchain {

enum class Language { c, cxx };

struct Source {
  std::filesystem::path path;
  Language language;
};

// Sources on their way to one linked module, in a folder of their own. Steps in this order: preprocess, compile_and_link.
//
// Preprocessing only expands the includes. Its result is the whole input of the compiler: the cache key is taken from it, and it alone is
// compiled, so a header that changes in between cannot give a wrong cache entry. Sources are handled several at a time.
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
  Result<Linked> compile_and_link();

  // Everything else that decides the result: tool versions and flags.
  const std::string& settings() const { return settings_; }

 private:
  Compilation(os::TempDir dir, std::vector<Source> sources) : dir_(std::move(dir)), sources_(std::move(sources)) {}

  std::string driver() const;  // the one that links
  std::vector<std::string> compile_command(Language language) const;
  Status write_sdk() const;
  struct Expanded {
    Hash256 hash;
    std::set<std::string> files;
  };
  Result<Expanded> preprocess_source(std::size_t index) const;
  Result<std::string> compile_source(std::size_t index) const;
  Status compile_runtime() const;
  Result<Bytes> link() const;

  os::TempDir dir_;
  std::vector<Source> sources_;
  std::vector<std::string> compile_flags_;  // of the user
  std::vector<std::string> link_flags_;     // of the user
  std::string settings_;
  std::vector<std::filesystem::path> files_;
};

// Where the compiler's programs are found, in the order of PATH; those that are missing are left out.
std::vector<std::filesystem::path> compiler_programs();

}  // namespace gw::toolchain
