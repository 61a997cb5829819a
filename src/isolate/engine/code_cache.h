#pragma once
// Native code of compiled modules, kept on disk.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "os/sealed_memory.h"

namespace gw::isolate {

// The purpose of an entry. Of a program that starts, rewind bodies are left to be compiled when they are called, which is rare then: the
// entry is a third of the size and loads in a third of the time. A program that goes on from an image needs them at once.
enum class CodeKind : std::uint8_t { start, restore };

std::string_view name(CodeKind kind);
std::optional<CodeKind> parse_code_kind(std::string_view name);

// Entries are executed without further checks, so a user who can write one controls the process that reads it. Therefore an entry is taken
// only if
//  - it is a regular file of this user that no other user may access,
//  - its tag (AES-GMAC) is right under a random key that lies beside the cache, readable by this user alone,
//  - it names this module, this engine with these flags, and a processor with these features.
// Entries are stored only by a process that compiles and never runs a guest (compile_main.h). This class does not use the engine, which
// checks the head of the code again when it loads it.
//
// Files: <root>/code.key and <root>/code/<hash of module, kind and engine>. At most kMaxCacheBytes, the oldest go first. Any thread or
// process.
class CodeCache {
 public:
  static constexpr std::uint64_t kMaxCacheBytes = 1ull << 30;

  // Creates folder and key if they are not there.
  static Result<CodeCache> open(const std::filesystem::path& root);

  // The code, ready to be handed to a worker: what was verified is what it will load. Kind::not_found: no entry. Kind::corrupt: there is
  // one, and it is not to be trusted.
  Result<os::SealedMemory> find(const Hash256& module, CodeKind kind) const;
  Status store(const Hash256& module, CodeKind kind, ByteView native) const;
  // The entry has ended who loaded it. One that is not there is no error.
  void drop(const Hash256& module, CodeKind kind) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  using Key = std::array<std::uint8_t, 32>;

  CodeCache(std::filesystem::path root, const Key& key);
  Bytes name_of(const Hash256& module, CodeKind kind) const;
  void remove_oldest() const;

  std::filesystem::path root_, folder_;
  Key key_;
  Hash256 engine_;  // of its fingerprint
};

}  // namespace gw::isolate
