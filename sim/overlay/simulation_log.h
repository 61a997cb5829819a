#pragma once
// The log of an overlay simulation: the hash of its trace and the first complaint.

#include <string>

#include "overlay/agenda.h"

namespace gw::sim::overlay_simulation {

// Every part of the simulation writes here, on one thread at a time. The first complaint counts. The agenda outlives this object.
class SimulationLog {
 public:
  SimulationLog(const Agenda& agenda, Trace trace) : agenda_(agenda), trace_(trace) {}

  void note(std::uint32_t host, const char* what, std::uint64_t detail);
  void complain(Verdict verdict, const std::string& complaint);
  bool good() const { return outcome_.verdict == Verdict::good; }

  Outcome& outcome() { return outcome_; }

 private:
  void fold(std::uint64_t word) { outcome_.trace = (outcome_.trace ^ word) * 1099511628211u; }

  const Agenda& agenda_;
  const Trace trace_;
  Outcome outcome_{.trace = 1469598103934665603u};
};

}  // namespace gw::sim::overlay_simulation
