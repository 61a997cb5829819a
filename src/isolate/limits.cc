#include "isolate/limits.h"

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
