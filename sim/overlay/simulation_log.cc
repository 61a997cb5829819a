#include "overlay/simulation_log.h"

#include <fmt/format.h>

namespace gw::sim::overlay_simulation {

void SimulationLog::note(std::uint32_t host, const char* what, std::uint64_t detail) {
  fold(static_cast<std::uint64_t>(agenda_.now().count()));
  fold(host);
  fold(detail);
  if (trace_ == Trace::printed) fmt::print("{:12.6f} host {} {} {}\n", in_seconds(agenda_.now()), host, what, detail);
}

void SimulationLog::complain(Verdict verdict, const std::string& complaint) {
  if (complaint.empty() || !good()) return;
  outcome_.verdict = verdict;
  outcome_.complaint = fmt::format("at {:.3f} s: {}", in_seconds(agenda_.now()), complaint);
}

}  // namespace gw::sim::overlay_simulation
