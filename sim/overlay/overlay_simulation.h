#pragma once
// A simulation of up to ten thousand overlays, without jobs, in virtual time.

#include <cstdint>

#include "overlay/disturbances.h"
#include "overlay/key_questions.h"
#include "overlay/measurements.h"
#include "overlay/overlay_network.h"
#include "overlay/turn_taker.h"

namespace gw::sim::overlay_simulation {

// A run of a scenario with one seed. The same seed gives the same run, to the last event, on any number of threads: no message takes less
// than a millisecond, so events of hosts within the same millisecond do not depend on each other. Each window has three steps: its events
// are queued as turns, in order; the hosts concerned take their turns in parallel; their outputs are carried out, in order again. A timer
// fires in the next millisecond at the soonest. A happening (a change of the whole world) runs after all turns before it.
class OverlaySimulation {
 public:
  OverlaySimulation(const Scenario& scenario, std::uint64_t seed, Trace trace, unsigned threads);

  Outcome run();

  // The results; valid after run().
  const Figures& figures() const { return measurements_.figures(); }
  const Series& series() const { return measurements_.series(); }

 private:
  void plan();
  // Handles all events of the next millisecond that has any. False: there is none before the end of the run.
  bool advance(Time until);
  void look_ahead() const;
  void handle(const Event& event);
  bool goes_on() const { return log_.good() && !measurements_.goals_met(); }

  const Scenario scenario_;
  Rng rng_;  // for the world as a whole
  Rng fault_rng_;
  const FaultMix faults_;
  const std::uint64_t internet_seed_;
  Population population_;
  Agenda agenda_;
  SimulationLog log_;
  TurnQueue turns_;
  OverlayNetwork network_;
  KeyQuestions questions_;
  TurnTaker turn_taker_;
  Disturbances disturbances_;
  Measurements measurements_;
};

}  // namespace gw::sim::overlay_simulation
