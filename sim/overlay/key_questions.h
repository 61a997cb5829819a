#pragma once
// Requests for keys and for free slots in an overlay simulation.

#include "overlay/population.h"
#include "overlay/requests.h"
#include "overlay/turn_taker.h"

namespace gw::sim::overlay_simulation {

// Lets random hosts send requests, and checks the answers from outside. The other parts outlive this object.
class KeyQuestions {
 public:
  KeyQuestions(const Scenario& scenario, Population& population, const Agenda& agenda, Rng& rng)
      : scenario_(scenario), population_(population), agenda_(agenda), rng_(rng) {}

  // Called each second. REQUIRES: `turns` calls on_located of this object.
  void ask(TurnTaker& turns);
  void on_located(Host& host, const gw::overlay::Located& located);
  // The host died before it got its answers.
  void forget(std::uint32_t host) { requests_.forget(host); }
  void report(Figures& figures) const { requests_.report(figures); }

 private:
  std::uint32_t root_of(const Hash256& key) const;

  const Scenario& scenario_;
  Population& population_;
  const Agenda& agenda_;
  Rng& rng_;
  Requests requests_;
};

}  // namespace gw::sim::overlay_simulation
