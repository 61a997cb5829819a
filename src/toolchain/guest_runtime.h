#pragma once
// The guest runtime (sdk/guest/runtime), compiled.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/build_cache.h"
#include "toolchain/clang.h"

namespace gw::toolchain {

// Writes headers and runtime sources of sdk/guest below `folder`.
Status write_guest_sdk(const std::filesystem::path& folder);
inline std::filesystem::path sdk_headers(const std::filesystem::path& folder) { return folder / "include"; }

// A hash of everything that the runtime consists of.
std::string sdk_version();

// The runtime sources of a program, as paths below the folder of write_guest_sdk.
struct RuntimeParts {
  Words always;
  Words on_demand;  // linked only if the program calls something in them

  Words sources() const;
  // For the command of the linker, once all are compiled.
  Words link_words(const std::filesystem::path& folder) const;
};

// Parts that not every program needs. Those of the C++ library take seconds to compile, so they are left out where the headers that a
// program includes show that it has no use for them.
struct LibraryUse {
  bool file_streams = true;
  bool file_system = true;
  bool threads = true;
  bool throw_marks = false;  // the host notes where exceptions are thrown: slow, for debugging
};
RuntimeParts runtime_parts(Language language, Exceptions exceptions, LibraryUse use = {});
// Does what the linker says ask for std::filesystem, and this program has none (tools/fetch_libcxx)?
bool lacks_filesystem(std::string_view linker_message);
std::string runtime_object(const std::string& source);

// Compiles one of them beside its source, or takes the object from the cache: it depends on nothing but our own sources and the compiler,
// whose version the caller gives.
Status compile_runtime_source(const BuildCache& cache, const std::filesystem::path& folder, const std::string& source,
                              Exceptions exceptions, const std::string& compiler_version);

}  // namespace gw::toolchain
