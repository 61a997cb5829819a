#pragma once
// clang and wasm-ld for guests.

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "os/file.h"

namespace gw::toolchain {

enum class Language { c, cxx };

// One source on its way to a linked module, in a folder of its own. Steps in this order: preprocess, compile_and_link.
//
// Preprocessing only expands the includes. Its result is the whole input of the compiler: the cache key is taken from it, and it alone is
// compiled, so a header that changes in between cannot give a wrong cache entry.
class Compilation {
 public:
  // Checks the flags, and that the tools are there.
  static Result<Compilation> start(std::filesystem::path source, Language language, std::vector<std::string> extra_flags);

  // The source with its includes expanded. Does not depend on where the folder of this compilation is.
  Result<Bytes> preprocess();

  struct Linked {
    Bytes wasm;
    std::string warnings;
  };
  Result<Linked> compile_and_link();

  // Everything else that decides the result: tool versions and flags.
  const std::string& settings() const { return settings_; }

 private:
  Compilation(os::TempDir dir, std::filesystem::path source, Language language)
      : dir_(std::move(dir)), source_(std::move(source)), language_(language) {}

  std::string driver() const;
  std::vector<std::string> compile_command() const;
  Status write_sdk() const;
  Result<std::string> compile_source();
  Status compile_runtime();
  Result<Bytes> link();

  os::TempDir dir_;
  std::filesystem::path source_;
  Language language_;
  std::vector<std::string> compile_flags_;  // of the user
  std::vector<std::string> link_flags_;     // of the user
  std::string settings_;
};

}  // namespace gw::toolchain
