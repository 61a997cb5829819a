#pragma once
// How often one address may ask.

#include <map>
#include <string>

#include "overlay/allowance.h"

namespace gw::tracker {

// An allowance for each address that has asked lately. Limits: Config; when too many addresses ask, all of them are forgotten at once,
// which costs less than it gives away.
class Visits {
 public:
  struct Config {
    wire::Time every = std::chrono::seconds(1);  // on average
    int most = 60;                               // at once
    std::size_t addresses = 8192;
  };

  explicit Visits(Config config) : config_(config) {}

  bool admit(wire::Time now, const std::string& address) {
    if (visitors_.size() >= config_.addresses && !visitors_.contains(address)) visitors_.clear();
    return visitors_.try_emplace(address, config_.every, config_.most).first->second.take(now);
  }

 private:
  const Config config_;
  std::map<std::string, overlay::Allowance> visitors_;
};

}  // namespace gw::tracker
