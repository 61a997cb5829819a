#include "os/clock.h"

#include <fmt/format.h>

#include <ctime>

#include "base/check.h"

namespace gw::os {
namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec now{};
  GW_ASSERT(clock_gettime(clock, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
std::chrono::nanoseconds wall_now() { return read_clock(CLOCK_REALTIME); }
std::chrono::nanoseconds process_time() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
std::string timestamp(std::chrono::nanoseconds wall) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wall);
  const std::time_t time = seconds.count();
  std::tm parts{};
  GW_ASSERT(::gmtime_r(&time, &parts) != nullptr);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, std::chrono::duration_cast<std::chrono::milliseconds>(wall - seconds).count());
}

std::chrono::nanoseconds thread_cpu_now() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace gw::os
