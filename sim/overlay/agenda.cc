#include "overlay/agenda.h"

namespace gw::sim::overlay_simulation {

void Agenda::at(Time when, Happening happening) {
  queue_.push({.at = when, .slot = happenings_.put(std::move(happening)), .kind = Event::Kind::happening});
}

void Agenda::every(Time period, Time until, const Happening& happening) {
  if (now_ + period > until) return;
  at(now_ + period, [this, period, until, happening] {
    happening();
    every(period, until, happening);
  });
}

}  // namespace gw::sim::overlay_simulation
