#pragma once
// The limits of a program with the defaults filled in: 0 in pb::Limits stands for a default.

#include <cstdint>

#include "wire/worker.pb.h"

namespace gw::wire {

inline constexpr std::uint64_t kDefaultMemoryPages = 16384;  // 1 GiB
inline constexpr std::uint64_t kDefaultOutputBytes = std::uint64_t{16} << 30;
inline constexpr std::uint64_t kDefaultFileBytes = std::uint64_t{1} << 30;

// The worker enforces these values and the home counts with them: with a rule of its own in each of them, the home would blame an honest
// host for what its worker allows.
std::uint64_t effective_memory_pages(const pb::Limits& limits);
std::uint64_t effective_output_bytes(const pb::Limits& limits);
// By default at least the memory: a program that was given more memory may write as much. At most kMaxFilePages.
std::uint64_t effective_file_bytes(const pb::Limits& limits);

// The largest image of a program with these limits: memory, files, and beside them the unwind stack, the states and the nodes.
std::uint64_t largest_image_bytes(const pb::Limits& limits);

}  // namespace gw::wire
