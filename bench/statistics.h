#pragma once
// The few numbers that sum up a series of measurements.

#include <vector>

namespace gw::bench {

// REQUIRES of all: the series is not empty.
double geometric_mean(const std::vector<double>& values);
double smallest(const std::vector<double>& values);
double largest(const std::vector<double>& values);

// The value below which `share` (0 to 1) of the series lies: percentile(v, 0.5) is the median.
double percentile(std::vector<double> values, double share);

}  // namespace gw::bench
