#pragma once
// Limits of one isolate. Reaching a limit ends it with a reason that says which one.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/wasm/module_info.h"

namespace gw::isolate {

enum class LimitKind : std::uint8_t { memory, cpu_time, wall_time, output };

std::string_view name(LimitKind kind);

// Memory, CPU and wall time are looked at by the watchdog (watchdog.h), so an isolate may go past them for up to one of
// its ticks, and past those of time for 0.1 s more, in which it notes where it is.
struct Limits {
  std::uint32_t memory_pages = 16384;                                // of 64 KiB: 1 GiB
  std::chrono::nanoseconds cpu_time = std::chrono::hours(24);        // spent in resume(), in this process
  std::chrono::nanoseconds wall_time = std::chrono::hours(24 * 30);  // since the first resume() in this process
  std::uint64_t output_bytes = 16ull << 30;                          // stdout and stderr together; moves with the image
  // Files the guest writes, each taking whole pages of 64 KiB; at most 64 GiB. The one limit that does not end the guest: it gets ENOSPC.
  std::uint64_t file_bytes = 1ull << 30;
};

// The limit of an instance's memory: the guest's own part, and behind it the unwind stack, which is empty while the guest runs. At most
// 64 MiB of the unwind stack are free of charge, so that a module cannot get more memory by declaring a large one.
std::uint64_t memory_limit_bytes(const Limits& limits, const wire::ModuleInfo& info);

// A sentence for users: which limit, and its value.
std::string describe(LimitKind kind, const Limits& limits);

}  // namespace gw::isolate
