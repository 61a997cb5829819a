// godwit-sim SCENARIO.toml [--seed N] [--seeds K] [--trace] [--probes]
// Exit codes: 0 good, 2 usage, 3 a safety checker complained, 4 the job did not end, 5 two runs of a seed differ, 6 a mark was never
// reached. A crash is a signal. Whatever fails says with which seed, and how to see it again.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "world.h"

namespace gw::sim {
namespace {

enum ExitCode : int { kGood = 0, kUsage = 2, kSafety = 3, kLiveness = 4, kNotEqual = 5, kNotReached = 6 };

struct Options {
  std::string program;
  std::string scenario;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  bool trace = false;
  bool probes = false;
  int bug = 0;
};

std::string repeat_command(const Options& options, std::uint64_t seed) {
  const std::string bug = options.bug == 0 ? "" : fmt::format(" --bug {}", options.bug);
  return fmt::format("{} {} --seed {}{} --trace", options.program, options.scenario, seed, bug);
}

// What a crash says: made before each seed, because little may be done in a signal handler.
std::string last_words;

void on_crash(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, last_words.data(), last_words.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int complain(const Options& options, std::uint64_t seed, ExitCode code, const std::string& what) {
  fmt::print("seed {}: {}\n  again: {}\n", seed, what, repeat_command(options, seed));
  return code;
}

int run_seed(const Scenario& scenario, std::uint64_t seed, const Options& options, std::uint64_t& events) {
  last_words = fmt::format("seed {}: CRASH\n  again: {}\n", seed, repeat_command(options, seed));
  const auto print = options.trace ? World::Trace::printed : World::Trace::hashed;
  const Outcome first = World(scenario, seed, print).run();
  events += first.events;
  if (first.verdict == Verdict::safety)
    return complain(options, seed, kSafety, fmt::format("SAFETY: {}; trace {:016x}", first.complaint, first.trace));
  if (first.verdict == Verdict::liveness)
    return complain(options, seed, kLiveness, fmt::format("LIVENESS: {}; trace {:016x}", first.complaint, first.trace));
  const Outcome second = World(scenario, seed, World::Trace::hashed).run();
  events += second.events;
  if (second.trace != first.trace)
    return complain(options, seed, kNotEqual, fmt::format("TWO RUNS DIFFER: {:016x} and {:016x}", first.trace, second.trace));
  if (options.seeds == 1)
    fmt::print("seed {}: good, the job ended at {:.1f} s, {} events, trace {:016x}\n", seed, static_cast<double>(first.ended.count()) / 1e9,
               first.events, first.trace);
  return kGood;
}

int report_probes() {
  std::map<std::string, std::uint64_t> hits;
  for (const Probe& probe : probes()) hits[probe.name] += probe.hits;
  int result = kGood;
  for (const auto& [name, count] : hits) {
    fmt::print("{:12}  {}\n", count, name);
    if (count == 0) result = kNotReached;
  }
  for (const auto& [name, count] : hits)
    if (count == 0) fmt::print("never reached: {}\n", name);
  return result;
}

int run(const Options& options) {
  const auto scenario = Scenario::read(options.scenario);
  if (!scenario) {
    fmt::print(stderr, "{}\n", scenario.error().detail);
    return kUsage;
  }
  const auto begin = std::clock();
  std::uint64_t events = 0;
  int result = kGood;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds && result == kGood; ++seed)
    result = run_seed(*scenario, seed, options, events);
  const double seconds = std::max(1e-9, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  fmt::print("{} events in {:.2f} CPU seconds: {:.0f} per second\n", events, seconds, static_cast<double>(events) / seconds);
  if (result == kGood && options.probes) result = report_probes();
  return result;
}

}  // namespace
}  // namespace gw::sim

int main(int argc, char** argv) {
  gw::sim::Options options;
  options.program = argv[0];
  CLI::App app("Simulates a grid of peers in virtual time, with faults drawn from a seed.");
  app.add_option("scenario", options.scenario, "TOML file")->required();
  app.add_option("--seed", options.seed, "the first seed");
  app.add_option("--seeds", options.seeds, "how many, until one fails");
  app.add_flag("--trace", options.trace, "print what happens");
  app.add_flag("--probes", options.probes, "print which marks were reached, and fail if one was not");
#ifdef GW_PLANTED_BUGS
  app.add_option("--bug", options.bug, "which planted bug is active")->required();
#endif
  CLI11_PARSE(app, argc, argv);
#ifdef GW_PLANTED_BUGS
  gw::planted_bug = options.bug;
#endif
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, gw::sim::on_crash);
  return gw::sim::run(options);
}
