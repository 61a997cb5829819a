// godwit-bench SUITE [--json] [--runs N] [--quick] [--plots FOLDER] [--half tuning|held_out]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "bar_chart.h"
#include "echo_peer.h"
#include "isolate/engine/compile_main.h"
#include "load_probe.h"
#include "suites.h"

namespace gw::bench {
namespace {

using Suite = Result<Report> (*)(const SuiteOptions&);

const std::map<std::string, Suite> kSuites = {{"engine", run_engine_suite},         {"mobility", run_mobility_suite},
                                              {"threads", run_threads_suite},       {"command", run_command_suite},
                                              {"overlay", run_overlay_suite},       {"transport", run_transport_suite},
                                              {"simulation", run_simulation_suite}, {"tasks", run_tasks_suite},
                                              {"efficiency", run_efficiency_suite}, {"swarm", run_swarm_suite}};
const std::map<std::string, Half> kHalves = {{"tuning", Half::tuning}, {"held_out", Half::held_out}};

enum class Format { table, json };

int show(const Result<Report>& report, Format format) {
  if (!report) {
    fmt::print(stderr, "godwit-bench: {}\n", report.error().detail);
    return 1;
  }
  fmt::print("{}", format == Format::json ? to_json(*report) : to_table(*report));
  return 0;
}

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  // Processes this program starts itself.
  if (!words.empty() && words[0] == "compile") return isolate::compile_only_main(std::span(words).subspan(1));
  if (!words.empty() && words[0] == "load-once") return load_once_main(std::span(words).subspan(1));
  if (!words.empty() && words[0] == "echo-peer") return echo_peer_main();

  CLI::App app("Measures Godwit against native code and against its goals.", "godwit-bench");
  SuiteOptions options;
  std::string suite;
  std::vector<Half> half;
  bool json = false;
  app.add_option("suite", suite,
                 "engine: speed and costs; mobility: suspending, saving, restoring; threads: forks and tasks; command: starting; "
                 "overlay: peers beside serf, and thousands of them in the simulator; simulation: that second part alone; transport: "
                 "connections beside bare TLS; tasks: tasks through one home beside Dask, GNU parallel and gearman; efficiency: unequal "
                 "peers beside Dask; swarm: a file for eight hosts with slow uplinks")
      ->required()
      ->check(CLI::IsMember(kSuites));
  app.add_flag("--json", json, "print JSON instead of a table");
  app.add_option("--runs", options.runs, "runs of each form of each kernel, the fastest counts")->check(CLI::Range(1, 100));
  app.add_option("--half", half, "only this half of the kernels; who tunes the pre-processor looks at 'tuning' only")
      ->expected(1)
      ->transform(CLI::CheckedTransformer(kHalves));
  bool quick = false;
  std::string plots;
  app.add_flag("--quick", quick, "tasks, efficiency: shorter runs, for a first look");
  app.add_option("--plots", plots, "write the charts of the suite into this folder, as SVG");
  CLI11_PARSE(app, argc, argv);
  if (quick) options.length = SuiteOptions::Length::quick;
  if (!half.empty()) options.halves = half;
  const Result<Report> report = kSuites.at(suite)(options);
  if (report && !plots.empty()) {
    if (const Status drawn = write_charts(*report, plots); !drawn) fmt::print(stderr, "godwit-bench: {}\n", drawn.error().detail);
  }
  return show(report, json ? Format::json : Format::table);
}

}  // namespace
}  // namespace gw::bench

int main(int argc, char** argv) { return gw::bench::main(argc, argv); }
