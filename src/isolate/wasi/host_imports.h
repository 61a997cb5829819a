#pragma once
// Every function a guest can import, with its type and what it does: the table the engine adapter links guests against.

#include <cstdint>
#include <span>
#include <string_view>

#include "isolate/memory/guest_memory.h"
#include "isolate/wasi/wasi.h"
#include "wire/wasm/wasi_imports.h"

namespace gw::isolate {

inline constexpr std::size_t kMaxImportParams = 9;  // path_open

struct HostImport {
  std::string_view module, name;
  std::string_view params;  // 'i' for i32, 'I' for i64
  bool has_result;          // an i32
  wire::Blocking blocking;
  // `args` has one value per parameter, an i32 in the low half.
  CallResult (*call)(Wasi& wasi, GuestMemory memory, const std::uint64_t* args);
};

// The table has the entries of wire::host_functions(), in the same order.
std::span<const HostImport> host_imports();

}  // namespace gw::isolate
