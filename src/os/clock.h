#pragma once
// The system's clocks. Only drivers read them; logic gets the time handed in.

#include <chrono>

namespace gw::os {

// Time since an arbitrary point, never set back.
std::chrono::nanoseconds monotonic_now();

// Time since 1970-01-01 UTC.
std::chrono::nanoseconds wall_now();

// CPU time the calling thread has used.
std::chrono::nanoseconds thread_cpu_now();

}  // namespace gw::os
