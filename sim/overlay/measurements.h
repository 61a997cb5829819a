#pragma once
// The figures of an overlay simulation: collected during the run, compared with the goals at the end.

#include "overlay/disturbances.h"
#include "overlay/figures.h"
#include "overlay/key_questions.h"

namespace gw::sim::overlay_simulation {

// Measures the hosts from outside. The other parts outlive this object.
class Measurements {
 public:
  struct Environment {
    const Scenario& scenario;
    const Population& population;
    const Agenda& agenda;
    SimulationLog& log;
    const OverlayNetwork& network;
    const KeyQuestions& questions;
    const Disturbances& disturbances;
    Rng& rng;
  };

  explicit Measurements(const Environment& environment) : environment_(environment) {}

  Time sample_every() const;
  // Called each second; every sample_every(); once, when the count of bytes begins; at the end.
  void watch();
  void sample();
  void mark_bytes();
  void judge();
  // Whether all goals are met, so that a run with `until_good` may end.
  bool goals_met() const { return goals_met_; }

  const Figures& figures() const { return figures_; }
  const Series& series() const { return series_; }

 private:
  const Scenario& scenario() const { return environment_.scenario; }
  Time quiet_from() const;
  void measure();

  const Environment environment_;
  bool goals_met_ = false;
  Time ring_perfect_{-1};  // when all leafsets were, for the first time after the last disturbance; earlier: not yet
  std::uint64_t bytes_at_sample_ = 0;
  std::uint64_t bytes_at_mark_ = 0;
  Time mark_{0};
  Figures figures_;
  Series series_;
};

}  // namespace gw::sim::overlay_simulation
