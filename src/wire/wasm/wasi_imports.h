#pragma once
// Everything a guest may import: WASI preview 1, and Godwit's own calls. One table for the pre-processor (which calls may suspend),
// the build driver (what to refuse) and the engine (what to provide).

#include <span>
#include <string_view>

namespace gw::wire {

inline constexpr std::string_view kWasiModule = "wasi_snapshot_preview1";
inline constexpr std::string_view kGodwitModule = "godwit";

// A call that may block parks the isolate: it unwinds, and is called again with the same arguments after the rewind.
enum class Blocking { never, maybe };

struct HostFunction {
  std::string_view module, name;
  Blocking blocking;
};

// Sorted by module, then name.
std::span<const HostFunction> host_functions();

// Functions of the module `godwit` that the pre-processor replaces by code: a guest may import them, no host has them.
std::span<const HostFunction> replaced_functions();

// Of the functions above. Null if guests may not import it.
const HostFunction* find_importable(std::string_view module, std::string_view name);

}  // namespace gw::wire
