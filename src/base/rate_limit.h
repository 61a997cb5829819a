#pragma once
// A rate limit.

#include <algorithm>
#include <chrono>

namespace gw {

// Allows one event in each `every` on average, and up to `most` at once after a pause. (The generic cell rate algorithm keeps one number.)
class RateLimit {
 public:
  using Time = std::chrono::nanoseconds;

  RateLimit(Time every, int most) : every_(every), slack_(every * (most - 1)) {}

  bool take(Time now) {
    const Time due = std::max(due_, now);
    if (due - now > slack_) return false;
    due_ = due + every_;
    return true;
  }

 private:
  const Time every_;
  const Time slack_;
  Time due_{0};  // when the next one would be on time, were they evenly spread
};

}  // namespace gw
