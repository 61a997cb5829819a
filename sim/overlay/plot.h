#pragma once
// The series of a run as pictures.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "overlay/figures.h"

namespace gw::sim::overlay_simulation {

// convergence.svg, in_degree.svg, coordinate_error.svg, dead_entries.svg, bytes_per_peer.svg; the folder is made if it is not there.
Status plot(const Series& series, const std::filesystem::path& folder);

// A curve or a row of bars as SVG. REQUIRES: xs and ys have the same size.
struct Picture {
  enum class Shape : std::uint8_t { curve, bars };
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<double> xs;
  std::vector<double> ys;
  Shape shape = Shape::curve;
};
std::string draw(const Picture& picture);

}  // namespace gw::sim::overlay_simulation
