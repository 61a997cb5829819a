#include "isolate/limits.h"

#include <algorithm>

#include <fmt/format.h>

namespace gw::isolate {
namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::string_view name(LimitKind kind) {
  switch (kind) {
    case LimitKind::memory:
      return "memory";
    case LimitKind::cpu_time:
      return "CPU time";
    case LimitKind::wall_time:
      return "wall time";
    case LimitKind::output:
      return "output";
  }
  return "unknown";
}

std::uint64_t memory_limit_bytes(const Limits& limits, const wire::ModuleInfo& info) {
  constexpr std::uint64_t kPageBytes = 65536, kMostUncounted = 64u << 20;
  const std::uint64_t behind = info.unwind_base == 0 ? info.unwind_bytes : 0;
  return std::uint64_t{limits.memory_pages} * kPageBytes + std::min(behind, kMostUncounted);
}

std::string describe(LimitKind kind, const Limits& limits) {
  switch (kind) {
    case LimitKind::memory:
      return fmt::format("it needs more memory than its limit of {} pages ({} KiB)", limits.memory_pages, 64ull * limits.memory_pages);
    case LimitKind::cpu_time:
      return fmt::format("it has used its CPU time of {} s", seconds(limits.cpu_time));
    case LimitKind::wall_time:
      return fmt::format("it has run for its wall time of {} s", seconds(limits.wall_time));
    case LimitKind::output:
      return fmt::format("it has written more than its limit of {} bytes", limits.output_bytes);
  }
  return "it has reached a limit";
}

}  // namespace gw::isolate
