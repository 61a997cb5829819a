#pragma once
// Rate limits per address.

#include <chrono>
#include <map>
#include <string>

#include "base/rate_limit.h"

namespace gw {

// A rate limit for each address that has asked lately. Limits: Config; when too many addresses ask, all of them are forgotten at once,
// which costs less than it gives away.
class PerAddressRateLimit {
 public:
  struct Config {
    RateLimit::Time every = std::chrono::seconds(1);  // on average
    int most = 60;                                    // at once
    std::size_t addresses = 8192;
  };

  explicit PerAddressRateLimit(Config config) : config_(config) {}

  bool admit(RateLimit::Time now, const std::string& address) {
    if (limits_.size() >= config_.addresses && !limits_.contains(address)) limits_.clear();
    return limits_.try_emplace(address, config_.every, config_.most).first->second.take(now);
  }

 private:
  const Config config_;
  std::map<std::string, RateLimit> limits_;
};

}  // namespace gw
