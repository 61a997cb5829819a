#include <fmt/core.h>

#include <memory>
#include <random>

#include "cli/commands.h"
#include "cli/guest_environment.h"
#include "cli/run_options.h"
#include "cli/source_options.h"
#include "os/file.h"
#include "toolchain/build.h"

namespace gw::cli {
namespace {

struct StartOptions {
  SourceOptions source;
  std::vector<std::string> env;
  std::optional<std::uint64_t> seed;
  RunOptions run;
};

// A module that is mobile already runs as it is; everything else is built first.
Result<Bytes> load_program(const SourceOptions& source, Invocation& invocation) {
  if (source.files.size() == 1) {
    GW_TRY(auto bytes, os::read_file(source.files.front(), wire::kMaxModuleBytes));
    if (wire::read_module_info(bytes)) return bytes;
  }
  invocation.console.progress(fmt::format("building {}...", source.files.front()));
  GW_TRY(auto output, toolchain::build(to_build_request(source, invocation.settings)));
  invocation.console.clear_progress();
  invocation.console.pass_on(output.warnings);
  return std::move(output.wasm);
}

std::array<std::uint8_t, 32> random_seed(const std::optional<std::uint64_t>& chosen) {
  std::array<std::uint8_t, 32> seed{};
  std::random_device entropy;
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = chosen ? static_cast<std::uint8_t>(i < 8 ? *chosen >> (8 * i) : 0) : static_cast<std::uint8_t>(entropy());
  return seed;
}

Result<int> run(const StartOptions& options, Invocation& invocation) {
  GW_TRY(auto plan, to_plan(options.run));
  isolate::IsolateConfig config{.args = {options.source.files.front()}, .random_seed = random_seed(options.seed)};
  config.args.insert(config.args.end(), invocation.program_args.begin(), invocation.program_args.end());
  GW_TRY(config.env, guest_environment(options.env));
  GW_TRY(config.limits, to_limits(options.run, invocation.settings));
  GW_TRY(auto wasm, load_program(options.source, invocation));
  GW_TRY(auto session, Session::start(std::move(wasm), std::move(config)));
  return session->run(plan);
}

}  // namespace

void add_run_command(CommandTree& tree) {
  CLI::App& command =
      tree.add(tree.root(), "run",
               {.summary = "Run a program: C, C++ or WebAssembly",
                .details = "Builds the program if needed and runs it; its input, output and exit code are the command's own.",
                .examples = {"godwit run examples/mandelbrot.c > picture.png", "godwit run examples/primes.c -- 1000000",
                             "godwit run main.c parser.c -Iinclude -DDEPTH=8 -- arguments of the program",
                             "godwit run nbody.c --suspend-after 2s --image nbody.gwi"}});
  tree.allow_program_args(command);
  auto options = std::make_shared<StartOptions>();
  add_source_options(tree, command, options->source);
  CommandTree::add_repeatable(command, "--env", options->env, "Environment variable of the program; NAME alone passes ours through",
                              "NAME[=VALUE]");
  CommandTree::add_number(command, "--seed", options->seed, "Make the program's random numbers repeatable", "N");
  add_run_options(tree, command, options->run);
  tree.on_selected(command, [options](Invocation& invocation) { return run(*options, invocation); });
}

}  // namespace gw::cli
