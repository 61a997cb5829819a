// godwit-sim SCENARIO.toml... [--seed N] [--seeds K] [--trace] [--probes]
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
  std::vector<std::string> scenarios;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  bool trace = false;
  bool probes = false;
  int bug = 0;
};

std::string repeat_command(const Options& options, const std::string& scenario, std::uint64_t seed) {
  const std::string bug = options.bug == 0 ? "" : fmt::format(" --bug {}", options.bug);
  return fmt::format("{} {} --seed {}{} --trace", options.program, scenario, seed, bug);
}

// What a crash says: made before each seed, because little may be done in a signal handler.
std::string last_words;

void on_crash(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, last_words.data(), last_words.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// One scenario of a run.
struct Stage {
  std::string file;
  Scenario scenario;
};

class Runs {
 public:
  explicit Runs(const Options& options) : options_(options) {}

  // Returns its exit code. The seed is run twice and must do the same.
  int run(const Stage& stage, std::uint64_t seed) {
    const std::string again = repeat_command(options_, stage.file, seed);
    last_words = fmt::format("seed {}: CRASH\n  again: {}\n", seed, again);
    const auto complain = [&](ExitCode code, const std::string& what) {
      fmt::print("seed {}: {}\n  again: {}\n", seed, what, again);
      return code;
    };
    const Outcome first = World(stage.scenario, seed, options_.trace ? World::Trace::printed : World::Trace::hashed).run();
    events_ += first.events;
    if (first.verdict == Verdict::safety) return complain(kSafety, fmt::format("SAFETY: {}; trace {:016x}", first.complaint, first.trace));
    if (first.verdict == Verdict::liveness)
      return complain(kLiveness, fmt::format("LIVENESS: {}; trace {:016x}", first.complaint, first.trace));
    const Outcome second = World(stage.scenario, seed, World::Trace::hashed).run();
    events_ += second.events;
    if (second.trace != first.trace)
      return complain(kNotEqual, fmt::format("TWO RUNS DIFFER: {:016x} and {:016x}", first.trace, second.trace));
    if (options_.seeds == 1)
      fmt::print("seed {}: good, ended at {:.1f} s, {} events, trace {:016x}\n", seed, static_cast<double>(first.ended.count()) / 1e9,
                 first.events, first.trace);
    return kGood;
  }

  std::uint64_t events() const { return events_; }

 private:
  const Options& options_;
  std::uint64_t events_ = 0;
};

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

Result<std::vector<Stage>> read_scenarios(const Options& options) {
  std::vector<Stage> stages;
  for (const std::string& file : options.scenarios) {
    GW_TRY(const Scenario scenario, Scenario::read(file));
    stages.push_back({file, scenario});
  }
  return stages;
}

int run(const Options& options) {
  const auto stages = read_scenarios(options);
  if (!stages) {
    fmt::print(stderr, "{}\n", stages.error().detail);
    return kUsage;
  }
  const auto begin = std::clock();
  Runs runs(options);
  int result = kGood;
  for (const Stage& stage : *stages)
    for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds && result == kGood; ++seed) result = runs.run(stage, seed);
  const double seconds = std::max(1e-9, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  fmt::print("{} events in {:.2f} CPU seconds: {:.0f} per second\n", runs.events(), seconds, static_cast<double>(runs.events()) / seconds);
  if (result == kGood && options.probes) result = report_probes();
  return result;
}

}  // namespace
}  // namespace gw::sim

int main(int argc, char** argv) {
  gw::sim::Options options;
  options.program = argv[0];
  CLI::App app("Simulates a grid of peers in virtual time, with faults drawn from a seed.");
  app.add_option("scenario", options.scenarios, "TOML files")->required();
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
