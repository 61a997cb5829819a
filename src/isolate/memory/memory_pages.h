#pragma once
// Which pages of a guest's memory hold something. Pages are those of wasm, 64 KiB.

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "isolate/memory/memory_watch.h"

namespace gw::isolate {

bool is_zero(ByteView page);

// The pages that may be other than zero, ascending: those that the kernel has for this memory, and `shared`, ascending too, which are
// mapped from a snapshot and may not have been touched yet.
std::vector<std::uint32_t> pages_present(const MemoryWatch& watch, std::span<std::uint8_t> memory,
                                         std::span<const std::uint32_t> shared = {});

// The pages that are other than zero, ascending.
std::vector<std::uint32_t> pages_not_zero(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared);

}  // namespace gw::isolate
