#include "overlay/trial.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace gw::sim::overlay_simulation {
namespace {

constexpr std::uint32_t kThreadsPay = 1000;  // peers; smaller simulations run on one thread

}  // namespace

Cost Cost::so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  const double since = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return {since, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024};
}

// The outcome covers all runs: the verdict of the first that fails, and one hash over the hashes of all.
Figures Trial::run_one(const Scenario& scenario, std::uint64_t seed, Trace trace) {
  const unsigned cores = scenario.peers < kThreadsPay ? 1 : std::max(1U, std::thread::hardware_concurrency());
  OverlaySimulation simulation(scenario, seed, trace, threads_.value_or(cores));
  const Outcome outcome = simulation.run();
  const bool failed_before = outcome_.verdict != Verdict::good;
  const Outcome before = std::exchange(outcome_, outcome);
  outcome_.trace = (before.trace * 1099511628211u) ^ outcome.trace;
  outcome_.events += before.events;
  if (failed_before) std::tie(outcome_.verdict, outcome_.complaint) = std::pair(before.verdict, before.complaint);
  series_ = simulation.series();
  return simulation.figures();
}

void Trial::run_sizes(std::uint64_t seed, Trace trace) {
  std::map<std::string, std::vector<double>> values;
  for (const std::uint32_t size : scenario_.sizes) {
    Scenario sized = scenario_;
    sized.peers = size;
    for (const auto& [name, value] : run_one(sized, seed, trace)) {
      figures_[fmt::format("{}_{}", name, size)] = value;
      values[name].push_back(value);
    }
  }
  for (const auto& [name, list] : values) {
    const auto [least, most] = std::ranges::minmax(list);
    figures_[name + "_spread"] = least > 0 ? most / least - 1 : 0;
  }
}

Outcome Trial::run(std::uint64_t seed, Trace trace) {
  const Cost begin = Cost::so_far();
  if (!scenario_.sizes.empty()) {
    run_sizes(seed, trace);
  } else {
    if (scenario_.beside_honest) {
      Scenario honest = scenario_;
      honest.liars = 0;
      figures_["coordinate_error_honest"] = run_one(honest, seed, trace).at("coordinate_error");
    }
    figures_.merge(run_one(scenario_, seed, trace));
    if (scenario_.beside_honest) figures_["coordinate_error_ratio"] = figures_["coordinate_error"] / figures_["coordinate_error_honest"];
  }
  const Cost end = Cost::so_far();
  figures_["seconds"] = end.seconds - begin.seconds;
  figures_["cpu_seconds"] = end.cpu_seconds - begin.cpu_seconds;
  figures_["mebibytes"] = end.mebibytes;
  judge();
  return outcome_;
}

void Trial::judge() {
  for (const Goal& goal : scenario_.goals) {
    if (outcome_.verdict != Verdict::good || meets(goal, figures_)) continue;
    outcome_.verdict = Verdict::liveness;
    const auto figure = figures_.find(goal.figure);
    outcome_.complaint = figure == figures_.end() ? fmt::format("there is no figure '{}'", goal.figure)
                                                  : fmt::format("{} is {:.4g}, and should be {} {:.4g}", goal.figure, figure->second,
                                                                goal.side == Goal::Side::at_most ? "at most" : "at least", goal.limit);
  }
}

}  // namespace gw::sim::overlay_simulation
