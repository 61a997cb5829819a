#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Overlay;
using std::chrono::seconds;

namespace {

// Prefetch distances, in events. An overlay can be prefetched only after its host.
constexpr std::size_t kFetchHost = 3;
constexpr std::size_t kFetchOverlay = 1;

FaultMix faults_of(const Scenario& scenario, Rng& fault_rng) {
  if (scenario.swarm) return FaultMix::draw(fault_rng);
  return {.loss = scenario.loss, .duplicate = scenario.duplicate, .outbound = scenario.outbound, .liars = scenario.liars};
}

}  // namespace

OverlaySimulation::OverlaySimulation(const Scenario& scenario, std::uint64_t seed, Trace trace, unsigned threads)
    : scenario_(scenario),
      rng_(seed),
      fault_rng_(rng_.next()),
      faults_(faults_of(scenario, fault_rng_)),
      internet_seed_(rng_.next()),
      population_(scenario, faults_, rng_, fault_rng_),
      log_(agenda_, trace),
      network_(Internet({.spikes = scenario.spikes}, scenario.peers, Rng(internet_seed_)), {faults_.loss, faults_.duplicate},
               {population_, agenda_, log_, turns_}),
      questions_(scenario_, population_, agenda_, rng_),
      turn_taker_(
          {population_, agenda_, log_, turns_, network_},
          [this](Host& host, const gw::overlay::Located& located) { questions_.on_located(host, located); }, threads),
      disturbances_(faults_, {scenario_, population_, agenda_, log_, network_, turn_taker_, questions_, rng_, fault_rng_}),
      measurements_({scenario_, population_, agenda_, log_, network_, questions_, disturbances_, rng_}) {}

void OverlaySimulation::handle(const Event& event) {
  Host& host = population_.hosts[event.host];
  const bool of_process = event.kind != Event::Kind::happening && event.kind != Event::Kind::dial_arrives;
  if (of_process && host.up() && host.paused(agenda_.now())) {
    Event later = event;
    later.at = std::max(agenda_.next_window(), host.paused_until);
    if (event.kind == Event::Kind::tick) host.tick_at = later.at;
    return agenda_.push(later);
  }
  switch (event.kind) {
    case Event::Kind::tick:
      if (host.tick_at != event.at || !host.up()) return;
      host.tick_at = wire::kNever;
      log_.note(event.host, "tick", 0);
      turns_.add(host, Turn::Kind::tick, event.host, agenda_.now());
      return;
    case Event::Kind::happening:
      turn_taker_.take_turns();
      agenda_.set_now(event.at);
      return agenda_.take_happening(event.slot)();
    default:
      return network_.handle(event);
  }
}

// Each event is about another host, whose data is not in the processor's caches: prefetch the hosts of the next events meanwhile.
void OverlaySimulation::look_ahead() const {
  if (const Event* later = agenda_.queue().ahead(kFetchHost)) {
    fetch_lines(&population_.hosts[later->host], sizeof(Host));
    network_.fetch_early(*later);
  }
  if (const Event* soon = agenda_.queue().ahead(kFetchOverlay)) {
    if (const Overlay* overlay = population_.hosts[soon->host].overlay.get()) fetch_lines(overlay, sizeof(Overlay));
    network_.fetch_late(*soon);
  }
}

bool OverlaySimulation::advance(Time until) {
  EventQueue& queue = agenda_.queue();
  if (queue.empty() || queue.next_time() > until) return false;
  agenda_.begin_window((queue.next_time() / Internet::kLeast + 1) * Internet::kLeast);
  while (goes_on() && !queue.empty() && queue.next_time() < agenda_.next_window()) {
    const Event event = queue.pop();
    agenda_.set_now(event.at);
    ++log_.outcome().events;
    look_ahead();
    handle(event);
  }
  turn_taker_.take_turns();
  return goes_on();
}

void OverlaySimulation::plan() {
  const Time end = scenario_.duration;
  disturbances_.plan_starts();
  disturbances_.plan_scenario();
  if (scenario_.requests_per_second > 0) agenda_.every(seconds(1), end - seconds(20), [this] { questions_.ask(turn_taker_); });
  if (scenario_.bytes_from > Time(0)) agenda_.at(scenario_.bytes_from, [this] { measurements_.mark_bytes(); });
  disturbances_.plan_faults();
  agenda_.every(seconds(1), end, [this] { measurements_.watch(); });
  agenda_.every(measurements_.sample_every(), end, [this] { measurements_.sample(); });
}

Outcome OverlaySimulation::run() {
  plan();
  if (const Status planned = disturbances_.plan_trace(); !planned) log_.complain(Verdict::safety, planned.error().detail);
  while (advance(scenario_.duration)) {
  }
  log_.outcome().ended = agenda_.now();
  measurements_.judge();
  return log_.outcome();
}

}  // namespace gw::sim::overlay_simulation
