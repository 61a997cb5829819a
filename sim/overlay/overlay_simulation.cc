#include "overlay/overlay_simulation.h"

#include <fmt/format.h>

#include "base/reached.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Overlay;
using std::chrono::seconds;

namespace {

// In events. An overlay can be fetched when its host is there.
constexpr std::size_t kFetchHost = 3;
constexpr std::size_t kFetchOverlay = 1;

void fetch(const void* object, std::size_t size) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(static_cast<const char*>(object) + at);
}

}  // namespace

OverlaySimulation::OverlaySimulation(const Scenario& scenario, std::uint64_t seed, Trace trace, unsigned threads)
    : scenario_(scenario),
      trace_(trace),
      rng_(seed),
      fault_rng_(rng_.next()),
      faults_(scenario.swarm ? FaultMix::draw(fault_rng_) : FaultMix{.outbound = scenario.outbound, .liars = scenario.liars}),
      loss_(scenario.swarm ? faults_.loss : scenario.loss),
      duplicate_(scenario.swarm ? faults_.duplicate : scenario.duplicate),
      internet_({.spikes = scenario.spikes}, scenario.peers, Rng(rng_.next())),
      links_(scenario.peers),
      thread_buffers_(threads),
      thread_pool_(threads, [this](std::uint32_t item, unsigned thread_index) {
        take_turns_of(first_turns_[item], thread_buffers_[thread_index]);
      }) {
  outcome_.trace = 1469598103934665603u;
  make_hosts(rng_.next());
}

// The first one is honest and can be dialled: somebody must be the door.
void OverlaySimulation::make_hosts(std::uint64_t seed) {
  hosts_.reserve(scenario_.peers);
  const std::uint64_t secret = Rng(seed).next();
  Rng luck(rng_.next());
  for (std::uint32_t i = 0; i < scenario_.peers; ++i) {
    Host& host = hosts_.emplace_back(i, SimSigner(sim_key(seed, i), secret), fmt::format("h{}:1", i), Rng(luck.next()));
    index_[host.id.hash] = i;
    if (i > 0 && chance(fault_rng_, faults_.outbound)) {
      host.firewall = fault_rng_.below(4) == 0 ? Host::Firewall::refusing : Host::Firewall::silent;
      if (fault_rng_.below(2) == 0) host.address.clear();
    }
    if (i > 0 && chance(fault_rng_, faults_.liars))
      host.byzantine = std::make_unique<ByzantinePeer>(grid_, host.signer, Rng(fault_rng_.next()));
    if (chance(fault_rng_, faults_.slow)) host.lag = std::chrono::milliseconds(fault_rng_.below(800));
    if (chance(fault_rng_, faults_.drift)) host.drift = (uniform(fault_rng_) - 0.5) * 2e-3;
    host.clock_offset = Time(fault_rng_.below(1'000'000'000'000));
    host.free_slots = chance(rng_, scenario_.busy) ? 0 : 1;
  }
}

void OverlaySimulation::at(Time when, std::function<void()> happening) {
  queue_.push({.at = when, .slot = happenings_.put(std::move(happening)), .kind = Event::Kind::happening});
}

void OverlaySimulation::every(Time period, Time until, const std::function<void()>& happening) {
  if (now_ + period > until) return;
  at(now_ + period, [this, period, until, happening] {
    happening();
    every(period, until, happening);
  });
}

void OverlaySimulation::note(std::uint32_t host, const char* what, std::uint64_t detail) {
  fold(static_cast<std::uint64_t>(now_.count()));
  fold(host);
  fold(detail);
  if (trace_ == Trace::printed) fmt::print("{:12.6f} host {} {} {}\n", in_seconds(now_), host, what, detail);
}

void OverlaySimulation::complain(Verdict verdict, const std::string& complaint) {
  if (complaint.empty() || outcome_.verdict != Verdict::good) return;
  outcome_.verdict = verdict;
  outcome_.complaint = fmt::format("at {:.3f} s: {}", in_seconds(now_), complaint);
}

void OverlaySimulation::handle(const Event& event) {
  Host& host = hosts_[event.host];
  const bool of_process = event.kind != Event::Kind::happening && event.kind != Event::Kind::dial_arrives;
  if (of_process && host.up() && host.paused(now_)) {
    Event later = event;
    later.at = std::max(next_window_, host.paused_until);
    if (event.kind == Event::Kind::tick) host.tick_at = later.at;
    queue_.push(later);
    return;
  }
  switch (event.kind) {
    case Event::Kind::tick:
      if (host.tick_at != event.at || !host.up()) return;
      host.tick_at = wire::kNever;
      note(event.host, "tick", 0);
      await_turn(host, Turn::Kind::tick, event.host);
      return;
    case Event::Kind::deliver:
      return on_deliver(event.slot);
    case Event::Kind::dial_arrives:
      return on_dial_arrives(event.slot);
    case Event::Kind::dial_over:
      return on_dial_over(event.slot);
    case Event::Kind::unreachable:
      return on_unreachable(host, event.slot);
    case Event::Kind::broken:
      return on_broken(host, event.slot);
    case Event::Kind::reset:
      return on_reset(host, event.slot);
    case Event::Kind::happening:
      take_turns();
      now_ = event.at;
      return happenings_.take(event.slot)();
  }
}

// Each event is about another host, of which nothing is in the processor's caches: so those of the next ones are fetched meanwhile.
void OverlaySimulation::look_ahead() const {
  if (const Event* later = queue_.ahead(kFetchHost)) {
    fetch(&hosts_[later->host], sizeof(Host));
    if (later->kind == Event::Kind::deliver) fetch(&pending_messages_.at(later->slot), sizeof(PendingMessage));
  }
  if (const Event* soon = queue_.ahead(kFetchOverlay)) {
    if (const Overlay* overlay = hosts_[soon->host].overlay.get()) fetch(overlay, sizeof(Overlay));
    if (soon->kind == Event::Kind::deliver)
      fetch(pending_messages_.at(soon->slot).bytes.data(), pending_messages_.at(soon->slot).bytes.size());
  }
}

bool OverlaySimulation::advance(Time until) {
  if (queue_.empty() || queue_.next_time() > until) return false;
  next_window_ = (queue_.next_time() / Internet::kLeast + 1) * Internet::kLeast;
  while (goes_on() && !queue_.empty() && queue_.next_time() < next_window_) {
    const Event event = queue_.pop();
    now_ = event.at;
    ++outcome_.events;
    look_ahead();
    handle(event);
  }
  take_turns();
  return goes_on();
}

void OverlaySimulation::plan() {
  for (Host& host : hosts_)
    at(host.index == 0 ? Time(0) : Time(rng_.below(static_cast<std::uint64_t>(scenario_.start.count()))), [this, &host] { boot(host); });
  const Time end = scenario_.duration;
  if (scenario_.killed > 0) at(scenario_.killed_at, [this] { kill_some_permanently(); });
  if (scenario_.split_for > Time(0)) {
    at(scenario_.split_at, [this] { split(); });
    at(scenario_.split_at + scenario_.split_for, [this] { heal(); });
  }
  if (scenario_.churn_per_minute > 0) every(seconds(1), end, [this] { churn(); });
  if (scenario_.requests_per_second > 0) every(seconds(1), end - seconds(20), [this] { ask(); });
  if (scenario_.bytes_from > Time(0)) at(scenario_.bytes_from, [this] { mark_bytes(); });
  if (scenario_.swarm) {
    every(seconds(1), fault_time(), [this] { make_faults(); });
    at(fault_time(), [this] { end_faults(); });
  }
  every(seconds(1), end, [this] { watch(); });
  every(sample_every(), end, [this] { sample(); });
}

Outcome OverlaySimulation::run() {
  plan();
  if (const Status followed = follow_trace(); !followed) complain(Verdict::safety, followed.error().detail);
  while (advance(scenario_.duration)) {
  }
  outcome_.ended = now_;
  judge();
  return outcome_;
}

}  // namespace gw::sim::overlay_simulation
