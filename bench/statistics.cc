#include "statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace gw::bench {

double geometric_mean(const std::vector<double>& values) {
  GW_ASSERT(!values.empty());
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double smallest(const std::vector<double>& values) {
  GW_ASSERT(!values.empty());
  return *std::min_element(values.begin(), values.end());
}

double largest(const std::vector<double>& values) {
  GW_ASSERT(!values.empty());
  return *std::max_element(values.begin(), values.end());
}

double percentile(std::vector<double> values, double share) {
  GW_ASSERT(!values.empty() && share >= 0 && share <= 1);
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace gw::bench
