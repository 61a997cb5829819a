#pragma once
// The disturbances of an overlay simulation: hosts start, die, are cut off and come back.

#include "overlay/key_questions.h"
#include "overlay/overlay_network.h"
#include "overlay/turn_taker.h"

namespace gw::sim::overlay_simulation {

// Disturbances come from the scenario, the faults of a swarm run from the seed. The other parts outlive this object.
class Disturbances {
 public:
  struct Environment {
    const Scenario& scenario;
    Population& population;
    Agenda& agenda;
    SimulationLog& log;
    OverlayNetwork& network;
    TurnTaker& turns;
    KeyQuestions& questions;
    Rng& rng;
    Rng& fault_rng;
  };

  Disturbances(const FaultMix& faults, const Environment& environment) : environment_(environment), faults_(faults) {}

  // Each schedules one kind: the starts of all hosts; the scenario's disturbances; the faults of a swarm run. Events of the same time
  // happen in the order of these calls.
  void plan_starts();
  void plan_scenario();
  void plan_faults();
  // The scenario's file of joins and leaves. Kind::invalid or not_found.
  Status plan_trace();
  // The time of the last change of membership.
  Time last() const { return last_; }
  static Time fault_time(const Scenario& scenario) { return scenario.duration / 3; }  // of a swarm run

 private:
  void boot(Host& host);
  void stop(Host& host, Host::Power power);
  void kill_some_permanently();
  void split();
  void heal();
  void churn();
  void make_faults();
  void cut_some();
  void end_faults();

  const Environment environment_;
  FaultMix faults_;
  Time last_{0};
};

}  // namespace gw::sim::overlay_simulation
