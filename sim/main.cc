// godwit-sim SCENARIO.toml --seed N [--seeds K] [--trace] [--probes]
// Exit codes: 0 good, 2 usage, 3 a safety checker complained, 4 the job did not end, 5 two runs of a seed differ. A crash is a signal.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <set>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "world.h"

namespace gw::sim {
namespace {

struct Options {
  std::string scenario;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  bool trace = false;
  bool probes = false;
  int bug = 0;
};

int run_seed(const Scenario& scenario, std::uint64_t seed, const Options& options, std::uint64_t& events) {
  const Outcome first = World(scenario, seed, options.trace).run();
  events += first.events;
  if (first.verdict != Verdict::good) {
    const bool safety = first.verdict == Verdict::safety;
    std::printf("seed %llu: %s: %s; trace %016llx\n", static_cast<unsigned long long>(seed), safety ? "SAFETY" : "LIVENESS",
                first.complaint.c_str(), static_cast<unsigned long long>(first.trace));
    return safety ? 3 : 4;
  }
  const Outcome second = World(scenario, seed, false).run();
  events += second.events;
  if (second.trace != first.trace) {
    std::printf("seed %llu: two runs differ: %016llx and %016llx\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(first.trace), static_cast<unsigned long long>(second.trace));
    return 5;
  }
  if (options.seeds == 1)
    std::printf("seed %llu: good, job ended at %.1f s, %llu events, trace %016llx\n", static_cast<unsigned long long>(seed),
                static_cast<double>(first.ended.count()) / 1e9, static_cast<unsigned long long>(first.events),
                static_cast<unsigned long long>(first.trace));
  return 0;
}

void report_probes() {
  std::map<std::string, std::uint64_t> hits;
  for (const Probe& probe : probes()) hits[probe.name] += probe.hits;
  for (const auto& [name, count] : hits) std::printf("%12llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
  for (const auto& [name, count] : hits)
    if (count == 0) std::printf("never reached: %s\n", name.c_str());
}

int run(const Options& options) {
  const auto scenario = Scenario::read(options.scenario);
  if (!scenario) {
    std::fprintf(stderr, "%s\n", scenario.error().detail.c_str());
    return 2;
  }
  const auto begin = std::clock();
  std::uint64_t events = 0;
  int worst = 0;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds && worst == 0; ++seed)
    worst = run_seed(*scenario, seed, options, events);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%llu events in %.2f CPU seconds: %.0f per second\n", static_cast<unsigned long long>(events), seconds,
              static_cast<double>(events) / std::max(seconds, 1e-9));
  if (options.probes) report_probes();
  return worst;
}

}  // namespace
}  // namespace gw::sim

int main(int argc, char** argv) {
  gw::sim::Options options;
  CLI::App app("Simulates a grid of peers in virtual time, with faults drawn from a seed.");
  app.add_option("scenario", options.scenario, "TOML file")->required();
  app.add_option("--seed", options.seed, "the first seed");
  app.add_option("--seeds", options.seeds, "how many, until one fails");
  app.add_flag("--trace", options.trace, "print what happens");
  app.add_flag("--probes", options.probes, "print which marks were reached");
#ifdef GW_PLANTED_BUGS
  app.add_option("--bug", options.bug, "which planted bug is active")->required();
#endif
  CLI11_PARSE(app, argc, argv);
#ifdef GW_PLANTED_BUGS
  gw::planted_bug = options.bug;
#endif
  return gw::sim::run(options);
}
