#include "overlay/plot.h"

#include <gtest/gtest.h>

namespace gw::sim::overlay_simulation {
namespace {

TEST(Plot, HasLabelsAndAPointForEachValue) {
  const std::string svg = draw({.title = "A title", .x_label = "rounds", .y_label = "share", .xs = {0, 10, 40}, .ys = {0, 0.5, 1}});
  for (const char* part : {"A title", "rounds", "share", ">0.4<", ">40<", "<polyline points='80.0,344.0 234.0,194.0 696.0,44.0 '"})
    EXPECT_NE(svg.find(part), std::string::npos) << part << " is not in\n" << svg;
}

TEST(Plot, IsAPictureAlsoOfNothing) { EXPECT_NE(draw({}).find("</svg>"), std::string::npos); }

}  // namespace
}  // namespace gw::sim::overlay_simulation
