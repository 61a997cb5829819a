#include "world.h"

#include <fmt/format.h>

#include <cstdio>

namespace gw::sim {
namespace {

constexpr std::uint64_t kFnvPrime = 1099511628211u;

Rng named(std::uint64_t seed, std::uint64_t name) { return Rng(Rng(seed * 1000003 + name).next()); }

}  // namespace

World::World(const Scenario& scenario, std::uint64_t seed, Trace trace)
    : scenario_(scenario),
      trace_(trace),
      world_rng_(named(seed, 1)),
      fault_rng_(named(seed, 2)),
      faults_(scenario.faults ? FaultMix::draw(fault_rng_) : FaultMix()),
      network_(faults_, named(seed, 3)),
      module_(fmt::format("module of seed {}", seed)) {
  outcome_.trace = 1469598103934665603u;
  for (std::size_t i = 0; i < scenario.peers; ++i) {
    auto& node = nodes_.emplace_back(std::make_unique<Node>());
    node->index = i;
    node->key = key_of(i).public_key();
    node->id = {sha256(node->key)};
    node->signer = std::make_unique<WorldSigner>(node->key);
  }
  for (std::size_t home = 0; home < scenario.jobs; ++home) jobs_.push_back(make_job(home, seed));
}

void World::schedule(Time at, std::function<void()> happen) { events_.push({at, next_order_++, std::move(happen)}); }

void World::trace(std::size_t peer, std::string_view what, std::string_view detail) {
  const auto fold = [&](std::uint64_t word) { outcome_.trace = (outcome_.trace ^ word) * kFnvPrime; };
  fold(static_cast<std::uint64_t>(now_.count()));
  fold(peer);
  for (const char c : what) fold(static_cast<std::uint8_t>(c));
  for (const char c : detail) fold(static_cast<std::uint8_t>(c));
  if (trace_ == Trace::printed)
    std::printf("%12.6f peer %zu %.*s\n", static_cast<double>(now_.count()) / 1e9, peer, static_cast<int>(what.size()), what.data());
}

void World::complain(Verdict verdict, const std::string& complaint) {
  if (complaint.empty() || outcome_.verdict != Verdict::good) return;
  outcome_.verdict = verdict;
  outcome_.complaint = fmt::format("at {:.3f} s: {}", static_cast<double>(now_.count()) / 1e9, complaint);
}

void World::advance_to(Time until, const std::function<bool()>& done) {
  while (outcome_.verdict == Verdict::good && !events_.empty() && events_.top().at <= until && !done()) {
    Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.at;
    ++outcome_.events;
    event.happen();
  }
}

Outcome World::run() {
  for (auto& node : nodes_) schedule(Time(world_rng_.below(1'000'000'000)), [this, &node] { boot(*node); });
  for (const Job& job : jobs_) {
    schedule(std::chrono::seconds(2), [this, &job] { submit(job); });
    if (scenario_.cancelled) schedule(std::chrono::seconds(4), [this, &job] { cancel(job); });
  }
  if (scenario_.faults) schedule(std::chrono::seconds(3), [this] { make_faults(); });
  if (scenario_.home_dies) schedule(std::chrono::seconds(5), [this] { kill_permanently(*nodes_[0]); });
  for (std::size_t i = 0; i < scenario_.graves; ++i)
    schedule(std::chrono::seconds(3 + i), [this, i] { kill_permanently(*nodes_[nodes_.size() - 1 - i]); });
  advance_to(scenario_.fault_time, [this] { return all_over(); });
  heal();
  advance_to(now_ + scenario_.heal_time, [this] { return all_over(); });
  outcome_.ended = now_;
  if (!all_over()) complain(Verdict::liveness, "a job has not ended although everything is healed");
  over_ = true;
  // Leases run out, keepers ask their home: then nothing must be left.
  advance_to(now_ + std::chrono::seconds(90), [] { return false; });
  check_end();
  return outcome_;
}

}  // namespace gw::sim
