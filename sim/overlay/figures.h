#pragma once
// The measurements of an overlay simulation: figures at the end, series over time. docs/overlay.md defines each.

#include <map>
#include <string>
#include <vector>

namespace gw::sim::overlay_simulation {

using Figures = std::map<std::string, double>;

// The values at a point in time.
struct Sample {
  double seconds = 0;
  double dead_entries = 0;
  double coordinate_error = 0;
  double bytes_per_peer_minute = 0;  // since the sample before
};

struct Series {
  std::vector<Sample> samples;
  std::vector<double> perfect_leafsets;  // share of peers, after each second
  std::vector<double> in_degrees;        // at the end, sorted
};

}  // namespace gw::sim::overlay_simulation
