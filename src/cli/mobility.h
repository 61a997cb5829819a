#pragma once

#include "cli/report.h"
#include "prep/prep.h"

namespace gw::cli {

// REQUIRES: checked by the parser (add_mobility_options).
inline prep::Options to_prep(const MobilityOptions& options) {
  prep::Options prep;
  prep.level = options.level == "off" ? wire::Level::off : options.level == "coarse" ? wire::Level::coarse : wire::Level::fine;
  prep.poll = options.poll == "counter" ? prep::PollChoice::counter : prep::PollChoice::automatic;
  prep.verify = options.verify ? prep::Verify::yes : prep::Verify::no;
  return prep;
}

}  // namespace gw::cli
