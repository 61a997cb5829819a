#pragma once
// The system's clocks. Only drivers read them; logic gets the time handed in.

#include <chrono>
#include <string>

namespace gw::os {

// Time since an arbitrary point, never set back.
std::chrono::nanoseconds monotonic_now();

// Time since 1970-01-01 UTC.
std::chrono::nanoseconds wall_now();
// Processor time of this process so far.
std::chrono::nanoseconds process_time();

// As RFC 3339 has it, in UTC, to the millisecond: 2026-11-18T05:01:11.042Z. REQUIRES: a time of wall_now().
std::string timestamp(std::chrono::nanoseconds wall);

// CPU time the calling thread has used.
std::chrono::nanoseconds thread_cpu_now();

}  // namespace gw::os
