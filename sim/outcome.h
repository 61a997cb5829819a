#pragma once
// How a simulated run ended.

#include <chrono>
#include <cstdint>
#include <string>

namespace gw::sim {

using Time = std::chrono::nanoseconds;

inline double in_seconds(Time time) { return static_cast<double>(time.count()) / 1e9; }

enum class Verdict : std::uint8_t { good, safety, liveness };
enum class Trace : std::uint8_t { hashed, printed };

struct Outcome {
  Verdict verdict = Verdict::good;
  std::string complaint;
  std::uint64_t trace = 0;  // hash over everything that happened
  std::uint64_t events = 0;
  Time ended{0};
};

}  // namespace gw::sim
