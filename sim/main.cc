// godwit-sim SCENARIO.toml... [--seed N] [--seeds K] [--trace] [--probes] [--json] [--plot FOLDER]
//            [--threads N] [--shrink RUNS] [--crash-points STRIDE] [--bug N]
// godwit-sim --script FILE [--trace] [--bug N]
// Exit codes: 0 good, 2 usage, 3 a safety checker complained, 4 the job did not end or a goal was missed, 5 two runs of a seed differ, 6 a
// mark was never reached. A crash is a signal. Every failure prints its seed and the command that repeats it.

#include <sys/wait.h>
#include <unistd.h>

#include <google/protobuf/stubs/logging.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <variant>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "faults/shrinker.h"
#include "group/group_simulation.h"
#include "overlay/plot.h"
#include "overlay/trial.h"
#include "settings.h"
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
  bool json = false;
  std::string plot;                 // folder; empty: none
  std::optional<unsigned> threads;  // none: chosen by the size of the grid
  std::string script;               // file; empty: none
  std::size_t shrink = 0;           // runs
  std::uint64_t stride = 0;         // between crash points; 0: none
  int bug = 0;
};

std::string repeat_command(const Options& options, const std::string& scenario, std::uint64_t seed) {
  const std::string bug = options.bug == 0 ? "" : fmt::format(" --bug {}", options.bug);
  return fmt::format("{} {} --seed {}{} --trace", options.program, scenario, seed, bug);
}

// The message printed on a crash. It is made before each seed, because a signal handler may not allocate.
std::string last_words;

void on_crash(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, last_words.data(), last_words.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A scenario of the run.
struct Stage {
  std::string file;
  std::variant<Scenario, overlay_simulation::Scenario, group_simulation::Scenario> scenario;
};

void print_json(const std::string& scenario, std::uint64_t seed, const overlay_simulation::Figures& figures) {
  fmt::print("{{\"scenario\":\"{}\",\"seed\":{}", std::filesystem::path(scenario).stem().string(), seed);
  for (const auto& [name, value] : figures) fmt::print(",\"{}\":{:.6g}", name, value);
  fmt::print("}}\n");
}

// The verdict of a run in a process of its own, which may crash.
bool fails(const Scenario& scenario, const FaultScript& script) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, SIG_DFL);
    std::fclose(stderr);
    std::_Exit(World(scenario, script, Trace::hashed).run().verdict == Verdict::good ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status != 0;
}

int run_script(const Options& options) {
  const auto script = FaultScript::read(options.script);
  const auto scenario = script ? Scenario::read(script->scenario) : Result<Scenario>(script.error());
  if (!scenario) {
    fmt::print(stderr, "{}\n", scenario.error().detail);
    return kUsage;
  }
  last_words = "CRASH\n";
  const Outcome outcome = World(*scenario, *script, options.trace ? Trace::printed : Trace::hashed).run();
  fmt::print("{}: {}; trace {:016x}\n", options.script, outcome.verdict == Verdict::good ? "good" : outcome.complaint, outcome.trace);
  return outcome.verdict == Verdict::good ? kGood : outcome.verdict == Verdict::safety ? kSafety : kLiveness;
}

class Runs {
 public:
  explicit Runs(const Options& options) : options_(options) {}

  // Returns the exit code of a seed. Two runs of a seed must be equal.
  int run(const Stage& stage, std::uint64_t seed) {
    const std::string again = repeat_command(options_, stage.file, seed);
    last_words = fmt::format("seed {}: CRASH\n  again: {}\n", seed, again);
    const auto complain = [&](ExitCode code, const std::string& what) {
      fmt::print("seed {}: {}\n  again: {}\n", seed, what, again);
      if (options_.shrink > 0 && code != kNotEqual) shrink_faults(stage, seed);
      return code;
    };
    const Outcome first = run_once(stage, seed, options_.trace ? Trace::printed : Trace::hashed);
    if (first.verdict == Verdict::safety) return complain(kSafety, fmt::format("SAFETY: {}; trace {:016x}", first.complaint, first.trace));
    if (first.verdict == Verdict::liveness)
      return complain(kLiveness, fmt::format("LIVENESS: {}; trace {:016x}", first.complaint, first.trace));
    if (!std::holds_alternative<overlay_simulation::Scenario>(stage.scenario) ||
        (seed == options_.seed && first.events < kMostEventsTwice)) {
      const Outcome second = run_once(stage, seed, Trace::hashed);
      if (second.trace != first.trace)
        return complain(kNotEqual, fmt::format("TWO RUNS DIFFER: {:016x} and {:016x}", first.trace, second.trace));
    }
    if (options_.seeds == 1 && !options_.json)
      fmt::print("seed {}: good, ended at {:.1f} s, {} events, trace {:016x}\n", seed, in_seconds(first.ended), first.events, first.trace);
    return kGood;
  }

  // Repeats the run once per action of each node, with a crash of the node right after that action. Takes every stride-th action; the seed
  // chooses the first.
  int run_crash_points(const Stage& stage, std::uint64_t seed) {
    const auto& scenario = std::get<Scenario>(stage.scenario);
    World undisturbed(scenario, seed, Trace::hashed);
    counted(undisturbed.run());
    FaultScript script = undisturbed.script();
    script.scenario = stage.file;
    const std::vector<std::uint64_t> actions = undisturbed.actions();
    for (std::uint32_t node = 0; node < actions.size(); ++node)
      for (std::uint64_t action = 1 + seed % options_.stride; action <= actions[node]; action += options_.stride)
        for (const FaultKind kind : {FaultKind::kill, FaultKind::power}) {
          script.crash_point = {node, action, kind};
          if (const int result = run_crash_point(scenario, script); result != kGood) return result;
        }
    return kGood;
  }

  std::uint64_t events() const { return events_; }
  std::uint64_t crash_points() const { return crash_points_; }

 private:
  int run_crash_point(const Scenario& scenario, const FaultScript& script) {
    last_words = fmt::format("CRASH\n{}", script.to_text());
    ++crash_points_;
    const Outcome outcome = counted(World(scenario, script, Trace::hashed).run());
    if (outcome.verdict == Verdict::good) return kGood;
    const std::string file = fmt::format("{}-{}.faults", std::filesystem::path(script.scenario).stem().string(), script.seed);
    std::ofstream(file) << script.to_text();
    fmt::print("seed {}: {}: {}\n{}  again: {} --script {} --trace\n", script.seed,
               outcome.verdict == Verdict::safety ? "SAFETY" : "LIVENESS", outcome.complaint, script.to_text(), options_.program, file);
    return outcome.verdict == Verdict::safety ? kSafety : kLiveness;
  }

  // Overlay scenarios are run twice, to compare the traces, for the first seed only and only if a run has fewer events than this.
  static constexpr std::uint64_t kMostEventsTwice = 5'000'000;

  Outcome run_once(const Stage& stage, std::uint64_t seed, Trace trace) {
    if (const auto* whole = std::get_if<Scenario>(&stage.scenario)) return counted(World(*whole, seed, trace).run());
    if (const auto* group = std::get_if<group_simulation::Scenario>(&stage.scenario))
      return counted(group_simulation::GroupSimulation(*group, seed, trace).run());
    overlay_simulation::Trial trial(std::get<overlay_simulation::Scenario>(stage.scenario), options_.threads);
    const Outcome outcome = counted(trial.run(seed, trace));
    // Once for each seed: the second run says the same.
    if (shown_ == std::pair(stage.file, seed)) return outcome;
    shown_ = {stage.file, seed};
    show(stage, seed, trial);
    return outcome;
  }

  // The same seed, with as few faults as make it fail.
  void shrink_faults(const Stage& stage, std::uint64_t seed) const {
    const auto* scenario = std::get_if<Scenario>(&stage.scenario);
    if (scenario == nullptr) return;
    World world(*scenario, seed, Trace::hashed);
    world.run();
    FaultScript script = world.script();
    script.scenario = stage.file;
    const auto still_fails = [&](const FaultScript& candidate) { return fails(*scenario, candidate); };
    if (!still_fails(script)) return fmt::print("  its faults alone do not make it fail\n");
    const std::string file = fmt::format("{}-{}.faults", std::filesystem::path(stage.file).stem().string(), seed);
    script = shrink(std::move(script), options_.shrink, still_fails);
    std::ofstream(file) << script.to_text();
    const std::string bug = options_.bug == 0 ? "" : fmt::format(" --bug {}", options_.bug);
    fmt::print("  smallest script, in {}:\n{}  again: {} --script {}{}\n", file, script.to_text(), options_.program, file, bug);
  }

  Outcome counted(const Outcome& outcome) {
    events_ += outcome.events;
    return outcome;
  }

  void show(const Stage& stage, std::uint64_t seed, const overlay_simulation::Trial& trial) const {
    if (options_.json) print_json(stage.file, seed, trial.figures());
    if (options_.seeds == 1 && !options_.json)
      for (const auto& [name, value] : trial.figures()) fmt::print("{:>14.6g}  {}\n", value, name);
    if (options_.plot.empty()) return;
    if (const Status plotted = overlay_simulation::plot(trial.series(), options_.plot); !plotted)
      fmt::print(stderr, "{}\n", plotted.error().detail);
  }

  const Options& options_;
  std::uint64_t events_ = 0;
  std::uint64_t crash_points_ = 0;
  std::pair<std::string, std::uint64_t> shown_;
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
    GW_TRY(const std::string world, world_of(file));
    if (world == "group") {
      GW_TRY(const group_simulation::Scenario scenario, group_simulation::Scenario::read(file));
      stages.push_back({file, scenario});
    } else if (world == "overlay") {
      GW_TRY(overlay_simulation::Scenario scenario, overlay_simulation::Scenario::read(file));
      stages.push_back({file, std::move(scenario)});
    } else {
      GW_TRY(const Scenario scenario, Scenario::read(file));
      stages.push_back({file, scenario});
    }
  }
  return stages;
}

int run(const Options& options) {
  const auto stages = read_scenarios(options);
  if (!stages) {
    fmt::print(stderr, "{}\n", stages.error().detail);
    return kUsage;
  }
  Runs runs(options);
  int result = kGood;
  for (const Stage& stage : *stages)
    for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds && result == kGood; ++seed)
      result = options.stride > 0 ? runs.run_crash_points(stage, seed) : runs.run(stage, seed);
  if (options.stride > 0) fmt::print("{} crash points\n", runs.crash_points());
  const overlay_simulation::Cost cost = overlay_simulation::Cost::so_far();
  if (!options.json)
    fmt::print("{} events in {:.2f} CPU seconds: {:.0f} per second; {:.0f} MiB\n", runs.events(), cost.cpu_seconds,
               static_cast<double>(runs.events()) / std::max(1e-9, cost.cpu_seconds), cost.mebibytes);
  if (result == kGood && options.probes) result = report_probes();
  return result;
}

}  // namespace
}  // namespace gw::sim

// Options of jemalloc. Ten thousand peers are a gigabyte that is visited in no order: with pages of 4 KiB most accesses would miss the TLB.
extern "C" [[gnu::visibility("default")]] const char* malloc_conf;
const char* malloc_conf = "thp:always,metadata_thp:always";

int main(int argc, char** argv) {
  gw::sim::Options options;
  options.program = argv[0];
  CLI::App app("Simulates a grid of peers in virtual time, with faults drawn from a seed.");
  app.add_option("scenario", options.scenarios, "TOML files");
  app.add_option("--script", options.script, "run the faults of this file, as --shrink has written them");
  app.add_option("--shrink", options.shrink, "of a seed that fails: find the fewest faults that make it fail, in so many runs");
  app.add_option("--seed", options.seed, "the first seed");
  app.add_option("--seeds", options.seeds, "how many, until one fails");
  app.add_option("--crash-points", options.stride, "one run for every so many-th action of each node, which crashes right after it");
  app.add_flag("--trace", options.trace, "print what happens");
  app.add_flag("--probes", options.probes, "print which marks were reached, and fail if one was not");
  app.add_flag("--json", options.json,
               "of overlay scenarios: print the figures as JSON, one line for each seed, and nothing else that is good");
  app.add_option("--plot", options.plot, "of overlay scenarios: write pictures of the last run into this folder");
  app.add_option("--threads", options.threads,
                 "of overlay scenarios: how many, all with the same result; as many as there are cores if that pays")
      ->check(CLI::Range(1, 64));
  app.add_option("--bug", options.bug, "which planted bug is active; 0: none");
  CLI11_PARSE(app, argc, argv);
  gw::planted_bug = options.bug;
  google::protobuf::SetLogHandler(nullptr);  // Byzantine peers send strings that are none
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, gw::sim::on_crash);
  if (!options.script.empty()) return gw::sim::run_script(options);
  if (options.scenarios.empty()) return app.exit(CLI::RequiredError("a scenario or --script"));
  return gw::sim::run(options);
}
