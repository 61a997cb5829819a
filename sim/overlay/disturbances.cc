#include "overlay/disturbances.h"

#include <fstream>

#include "base/reached.h"
#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;
using std::chrono::milliseconds;
using std::chrono::seconds;

void Disturbances::plan_starts() {
  const auto within = static_cast<std::uint64_t>(environment_.scenario.start.count());
  for (Host& host : environment_.population.hosts)
    environment_.agenda.at(host.index == 0 ? Time(0) : Time(environment_.rng.below(within)), [this, &host] { boot(host); });
}

void Disturbances::plan_scenario() {
  const Scenario& scenario = environment_.scenario;
  Agenda& agenda = environment_.agenda;
  if (scenario.killed > 0) agenda.at(scenario.killed_at, [this] { kill_some_permanently(); });
  if (scenario.split_for > Time(0)) {
    agenda.at(scenario.split_at, [this] { split(); });
    agenda.at(scenario.split_at + scenario.split_for, [this] { heal(); });
  }
  if (scenario.churn_per_minute > 0) agenda.every(seconds(1), scenario.duration, [this] { churn(); });
}

void Disturbances::plan_faults() {
  if (!environment_.scenario.swarm) return;
  const Time end = fault_time(environment_.scenario);
  environment_.agenda.every(seconds(1), end, [this] { make_faults(); });
  environment_.agenda.at(end, [this] { end_faults(); });
}

void Disturbances::boot(Host& host) {
  if (host.up() || host.permanently_dead) return;
  ++host.life;
  host.power = Host::Power::on;
  host.started = environment_.agenda.now();
  last_ = environment_.agenda.now();
  Overlay::Config config{.grid = environment_.population.grid, .address = host.address, .known = {}};
  if (host.index != 0) config.known.push_back(environment_.population.hosts[0].address);
  host.overlay =
      std::make_unique<Overlay>(config, Overlay::Self{host.id, host.signer.key(), host.life}, host.signer, Rng(environment_.rng.next()));
  host.overlay->set_slots(1, host.free_slots);
  host.tick_at = wire::kNever;
  environment_.log.note(host.index, "boot", host.life);
  environment_.turns.take_turn_now(host, [&](Overlay& overlay, Time now, Output& out) { overlay.start(now, host.remembered, out); });
}

// The process was killed, or the host lost power. The operating system closes the connections of a killed process.
void Disturbances::stop(Host& host, Host::Power power) {
  if (!host.up()) return;
  environment_.log.note(host.index, "stop", static_cast<std::uint64_t>(power));
  host.remembered = host.overlay->to_remember();
  host.overlay.reset();
  host.power = power;
  host.tick_at = wire::kNever;
  last_ = environment_.agenda.now();
  environment_.questions.forget(host.index);
  if (power == Host::Power::off) return;
  environment_.network.reset_connections(host);
}

void Disturbances::kill_some_permanently() {
  for (Host& host : environment_.population.hosts) {
    if (!chance(environment_.fault_rng, environment_.scenario.killed)) continue;
    stop(host, environment_.fault_rng.below(2) == 0 ? Host::Power::process_dead : Host::Power::off);
    host.permanently_dead = true;
  }
}

void Disturbances::split() {
  for (Host& host : environment_.population.hosts) host.side = static_cast<std::uint32_t>(environment_.fault_rng.below(2));
  environment_.log.note(0, "split", 0);
}

void Disturbances::heal() {
  for (Host& host : environment_.population.hosts) host.side = 0;
  last_ = environment_.agenda.now();
  environment_.log.note(0, "healed", 0);
}

// Each second some hosts die; each comes back after about a minute.
void Disturbances::churn() {
  for (Host& host : environment_.population.hosts) {
    if (host.index == 0 || !chance(environment_.fault_rng, environment_.scenario.churn_per_minute / 60)) continue;
    stop(host, environment_.fault_rng.below(2) == 0 ? Host::Power::process_dead : Host::Power::off);
    environment_.agenda.at(environment_.agenda.now() + exponential(environment_.fault_rng, seconds(60)), [this, &host] { boot(host); });
  }
}

Status Disturbances::plan_trace() {
  if (environment_.scenario.churn_trace.empty()) return {};
  std::ifstream file(environment_.scenario.churn_trace);
  if (!file) return fail(Kind::not_found, "the churn trace {} cannot be read", environment_.scenario.churn_trace);
  double when = 0;
  std::uint32_t number = 0;
  std::string what;
  while (file >> when >> number >> what) {
    if (number >= environment_.population.hosts.size() || when < 0 || when > 3600 || (what != "join" && what != "leave"))
      return fail(Kind::invalid, "{}: '{} {} {}' is not a time, a peer and join or leave", environment_.scenario.churn_trace, when, number,
                  what);
    const Time moment(static_cast<std::int64_t>(when * 1e9));
    Host& host = environment_.population.hosts[number];
    if (what == "join")
      environment_.agenda.at(moment, [this, &host] { boot(host); });
    else
      environment_.agenda.at(moment, [this, &host] { stop(host, Host::Power::process_dead); });
  }
  if (!file.eof()) return fail(Kind::invalid, "{}: a line is not a time, a peer and join or leave", environment_.scenario.churn_trace);
  return {};
}

// The faults of a swarm run, each second.
void Disturbances::make_faults() {
  for (Host& host : environment_.population.hosts) {
    if (host.up() && chance(environment_.fault_rng, faults_.pause)) {
      GW_REACHED("sim: a peer was paused");
      host.paused_until = environment_.agenda.now() + milliseconds(environment_.fault_rng.below(15'000));
    }
    if (host.up() && host.drift != 0 && chance(environment_.fault_rng, 0.01))
      host.clock_offset += milliseconds(environment_.fault_rng.below(5'000));
    const bool cut_off = chance(environment_.fault_rng, faults_.power_cut);
    if (!host.up() || !(cut_off || chance(environment_.fault_rng, faults_.crash))) continue;
    stop(host, cut_off ? Host::Power::off : Host::Power::process_dead);
    environment_.agenda.at(environment_.agenda.now() + milliseconds(500 + environment_.fault_rng.below(40'000)),
                           [this, &host] { boot(host); });
  }
  if (chance(environment_.fault_rng, faults_.cut)) cut_some();
}

void Disturbances::cut_some() {
  GW_REACHED("sim: some were cut off from the others");
  const std::uint64_t share = 2 + environment_.fault_rng.below(6);
  for (Host& host : environment_.population.hosts) host.side = environment_.fault_rng.below(share) == 0 ? 1 : 0;
  environment_.log.note(0, "cut", share);
  environment_.agenda.at(environment_.agenda.now() + milliseconds(environment_.fault_rng.below(30'000)), [this] { heal(); });
}

// Ends all faults. Firewalls and Byzantine peers stay.
void Disturbances::end_faults() {
  faults_ = FaultMix();
  environment_.network.lose_nothing();
  for (Host& host : environment_.population.hosts) {
    host.paused_until = environment_.agenda.now();
    host.lag = Time(0);
    boot(host);
  }
  heal();
}

}  // namespace gw::sim::overlay_simulation
