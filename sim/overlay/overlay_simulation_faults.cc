// What happens to the hosts of an overlay simulation.

#include <fstream>

#include "base/reached.h"
#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;
using std::chrono::milliseconds;
using std::chrono::seconds;

void OverlaySimulation::boot(Host& host) {
  if (host.up() || host.permanently_dead) return;
  ++host.life;
  host.power = Host::Power::on;
  host.started = now_;
  disturbed_ = now_;
  Overlay::Config config{.grid = grid_, .address = host.address, .known = {}};
  if (host.index != 0) config.known.push_back(hosts_[0].address);
  host.overlay = std::make_unique<Overlay>(config, Overlay::Self{host.id, host.signer.key(), host.life}, host.signer, Rng(rng_.next()));
  host.overlay->set_slots(1, host.free_slots);
  host.tick_at = wire::kNever;
  note(host.index, "boot", host.life);
  take_turn_now(host, [&](Overlay& overlay, Time now, Output& out) { overlay.start(now, host.remembered, out); });
}

// Killed, or without power. The system closes the connections of a process that dies.
void OverlaySimulation::stop(Host& host, Host::Power power) {
  if (!host.up()) return;
  note(host.index, "stop", static_cast<std::uint64_t>(power));
  host.remembered = host.overlay->to_remember();
  host.overlay.reset();
  host.power = power;
  host.tick_at = wire::kNever;
  disturbed_ = now_;
  requests_.forget(host.index);
  if (power == Host::Power::off) return;
  for (const std::uint32_t other : links_.remove_all(host.index)) {
    if (!hosts_[other].up() || separated(host, hosts_[other])) continue;
    // Told in person: the connection is gone from both ends already, so on_broken would find nothing.
    const std::uint32_t news = breaks_.put({host.index, hosts_[other].life});
    queue_.push({.at = now_ + internet_.one_way(host.index, other, host.luck), .host = other, .slot = news, .kind = Event::Kind::reset});
  }
}

void OverlaySimulation::on_reset(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  if (!host.up() || host.life != news.life) return;
  note(host.index, "reset by", news.other);
  await_turn(host, Turn::Kind::reset, news.other);
}

void OverlaySimulation::kill_some_permanently() {
  for (Host& host : hosts_) {
    if (!chance(fault_rng_, scenario_.killed)) continue;
    stop(host, fault_rng_.below(2) == 0 ? Host::Power::process_dead : Host::Power::off);
    host.permanently_dead = true;
  }
}

void OverlaySimulation::split() {
  for (Host& host : hosts_) host.side = static_cast<std::uint32_t>(fault_rng_.below(2));
  note(0, "split", 0);
}

void OverlaySimulation::heal() {
  for (Host& host : hosts_) host.side = 0;
  disturbed_ = now_;
  note(0, "healed", 0);
}

// Each second some die; each of them is back after a minute, more or less.
void OverlaySimulation::churn() {
  for (Host& host : hosts_) {
    if (host.index == 0 || !chance(fault_rng_, scenario_.churn_per_minute / 60)) continue;
    stop(host, fault_rng_.below(2) == 0 ? Host::Power::process_dead : Host::Power::off);
    at(now_ + exponential(fault_rng_, seconds(60)), [this, &host] { boot(host); });
  }
}

Status OverlaySimulation::follow_trace() {
  if (scenario_.churn_trace.empty()) return {};
  std::ifstream file(scenario_.churn_trace);
  if (!file) return fail(Kind::not_found, "the churn trace {} cannot be read", scenario_.churn_trace);
  double when = 0;
  std::uint32_t number = 0;
  std::string what;
  while (file >> when >> number >> what) {
    if (number >= hosts_.size() || when < 0 || when > 3600 || (what != "join" && what != "leave"))
      return fail(Kind::invalid, "{}: '{} {} {}' is not a time, a peer and join or leave", scenario_.churn_trace, when, number, what);
    const Time moment(static_cast<std::int64_t>(when * 1e9));
    Host& host = hosts_[number];
    if (what == "join")
      at(moment, [this, &host] { boot(host); });
    else
      at(moment, [this, &host] { stop(host, Host::Power::process_dead); });
  }
  if (!file.eof()) return fail(Kind::invalid, "{}: a line is not a time, a peer and join or leave", scenario_.churn_trace);
  return {};
}

// Of a swarm run, each second.
void OverlaySimulation::make_faults() {
  for (Host& host : hosts_) {
    if (host.up() && chance(fault_rng_, faults_.pause)) {
      GW_REACHED("sim: a peer was paused");
      host.paused_until = now_ + milliseconds(fault_rng_.below(15'000));
    }
    if (host.up() && host.drift != 0 && chance(fault_rng_, 0.01)) host.clock_offset += milliseconds(fault_rng_.below(5'000));
    const bool cut_off = chance(fault_rng_, faults_.power_cut);
    if (!host.up() || !(cut_off || chance(fault_rng_, faults_.crash))) continue;
    stop(host, cut_off ? Host::Power::off : Host::Power::process_dead);
    at(now_ + milliseconds(500 + fault_rng_.below(40'000)), [this, &host] { boot(host); });
  }
  if (chance(fault_rng_, faults_.cut)) cut_some();
}

void OverlaySimulation::cut_some() {
  GW_REACHED("sim: some were cut off from the others");
  const std::uint64_t share = 2 + fault_rng_.below(6);
  for (Host& host : hosts_) host.side = fault_rng_.below(share) == 0 ? 1 : 0;
  note(0, "cut", share);
  at(now_ + milliseconds(fault_rng_.below(30'000)), [this] { heal(); });
}

// Afterwards nothing goes wrong any more. Walls and liars stay what they are.
void OverlaySimulation::end_faults() {
  faults_ = FaultMix();
  loss_ = duplicate_ = 0;
  for (Host& host : hosts_) {
    host.paused_until = now_;
    host.lag = Time(0);
    boot(host);
  }
  heal();
}

}  // namespace gw::sim::overlay_simulation
