#include "os/clock.h"

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
std::chrono::nanoseconds thread_cpu_now() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace gw::os
