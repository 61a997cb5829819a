#pragma once
// A rate that may not be exceeded for long.

#include <algorithm>
#include <chrono>

namespace gw {

// Holds up to `burst` tokens, which are added at `per_second`. take() never fails: a caller that took more than there were waits until the
// debt is paid. The time is passed in; pure.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Config {
    double per_second;
    double burst;
  };

  TokenBucket(Config config, Time now) : config_(config), tokens_(config.burst), counted_(now) {}

  void take(Time now, double tokens) {
    refill(now);
    tokens_ -= tokens;
  }
  // When nothing is owed any more: now or later.
  Time paid(Time now) {
    refill(now);
    if (tokens_ >= 0) return now;
    const std::chrono::duration<double> wait(-tokens_ / config_.per_second);
    return now + std::chrono::ceil<std::chrono::microseconds>(wait);
  }

 private:
  void refill(Time now) {
    if (now <= counted_) return;
    tokens_ = std::min(config_.burst, tokens_ + std::chrono::duration<double>(now - counted_).count() * config_.per_second);
    counted_ = now;
  }

  Config config_;
  double tokens_;
  Time counted_;
};

}  // namespace gw
