#pragma once
// Charts of a report as SVG files.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "report.h"

namespace gw::bench {

// Horizontal bars with their values. Where the largest is more than fifty times the smallest, lengths are logarithms, and the title says
// so. REQUIRES: every value is above 0.
std::string to_svg(const Chart& chart);

// Each chart into FOLDER/NAME.svg.
Status write_charts(const Report& report, const std::filesystem::path& folder);

}  // namespace gw::bench
