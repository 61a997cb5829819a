#pragma once
// Estimates the number of peers of a grid from the ids that the sampler receives.

#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// A window of the ids that the sampler received last, and the *occupancy* of it: n samples of N equally likely peers show
// d = N (1 - e^(-n/N)) different ones.
//
// Limit: Config::window. Differences from ARRG (HPDC 2007): a window instead of all history, which would hide a partition; occupancy
// instead of the mean distance between two sightings of one id, because it is unbiased long before n = N; and since peers are not equally
// likely, it is corrected by how uneven the sightings are (A. Chao and S.-M. Lee, 1992).
class SizeEstimate {
 public:
  struct Config {
    std::size_t window = 2048;  // good for some thousand peers
  };

  explicit SizeEstimate(const Config& config) : config_(config) {}

  void on_sample(const PeerId& peer);
  // The number of other peers; none: too few samples.
  std::optional<double> occupancy() const;

 private:
  const Config config_;
  std::vector<std::uint64_t> seen_;  // the first eight bytes of ids; the oldest at next_ once the window is full
  std::size_t next_ = 0;
};

}  // namespace gw::overlay
