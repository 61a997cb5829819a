#include <fmt/core.h>

#include <memory>
#include <random>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/image_file.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/source_options.h"
#include "os/file.h"
#include "toolchain/build.h"

namespace gw::cli {
namespace {

struct StopOptions {
  std::string after;
  std::optional<std::uint32_t> after_polls;
  std::string image;
  bool compress = false;
  std::string memory;
  std::string time_limit;
};

void add_stop_options(CLI::App& command, StopOptions& options) {
  command.add_option("--suspend-after", options.after, "Suspend the program after this time, for example 2s or 200ms")->option_text("TIME");
  command.add_option("--suspend-after-polls", options.after_polls, "Suspend it at this poll (programs built with --poll=counter)")
      ->option_text("N");
  command.add_option("--image", options.image, "Where to put the image of the suspended program")->option_text("FILE");
  command.add_flag("--compress", options.compress, "Compress the image (zstd)");
  command.add_option("--memory", options.memory, "End the program when it uses more memory than this, for example 64MiB")
      ->option_text("SIZE [1GiB]");
  command.add_option("--time-limit", options.time_limit, "End the program when it uses more CPU time than this")->option_text("TIME [24h]");
}

Result<SuspendPlan> make_plan(const StopOptions& options) {
  SuspendPlan plan{.after_polls = options.after_polls, .image = options.image};
  if (options.compress) plan.compression = isolate::SaveOptions::Compression::zstd;
  if (!options.after.empty()) {
    GW_TRY(plan.after, parse_duration(options.after));
  }
  if (plan.wanted() && plan.image.empty()) return fail(Kind::invalid, "--suspend-after needs --image FILE: where shall the image go?");
  if (!plan.wanted() && !plan.image.empty()) return fail(Kind::invalid, "--image needs --suspend-after TIME: when shall it be suspended?");
  return plan;
}

Result<isolate::Limits> make_limits(const StopOptions& options) {
  isolate::Limits limits;
  if (!options.memory.empty()) {
    GW_TRY(auto bytes, parse_bytes(options.memory));
    const std::uint64_t pages = bytes / wire::kPageBytes;
    if (pages == 0 || pages > wire::kMaxMemoryPages) return fail(Kind::invalid, "--memory must be between 64KiB and 4GiB");
    limits.memory_pages = static_cast<std::uint32_t>(pages);
  }
  if (!options.time_limit.empty()) {
    GW_TRY(limits.cpu_time, parse_duration(options.time_limit));
  }
  return limits;
}

// A module that is mobile already runs as it is; everything else is built first.
Result<Bytes> load_program(const SourceOptions& source) {
  if (source.files.size() == 1) {
    GW_TRY(auto bytes, os::read_file(source.files.front(), wire::kMaxModuleBytes));
    if (wire::read_module_info(bytes)) return bytes;
  }
  GW_TRY(auto output, toolchain::build(to_build_request(source)));
  if (!output.warnings.empty()) fmt::print(stderr, "{}", output.warnings);
  return std::move(output.wasm);
}

std::array<std::uint8_t, 32> random_seed(const std::optional<std::uint64_t>& chosen) {
  std::array<std::uint8_t, 32> seed{};
  std::random_device entropy;
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = chosen ? static_cast<std::uint8_t>(i < 8 ? *chosen >> (8 * i) : 0) : static_cast<std::uint8_t>(entropy());
  return seed;
}

struct RunOptions {
  SourceOptions source;
  std::vector<std::string> env;
  std::optional<std::uint64_t> seed;
  StopOptions stop;
};

Result<int> run(const RunOptions& options, const std::vector<std::string>& args) {
  GW_TRY(auto plan, make_plan(options.stop));
  isolate::IsolateConfig config{.args = {options.source.files.front()}, .env = options.env, .random_seed = random_seed(options.seed)};
  config.args.insert(config.args.end(), args.begin(), args.end());
  GW_TRY(config.limits, make_limits(options.stop));
  GW_TRY(auto wasm, load_program(options.source));
  GW_TRY(auto session, Session::start(std::move(wasm), std::move(config)));
  return session->run(plan);
}

Result<int> resume(const std::string& file, const StopOptions& options) {
  GW_TRY(auto plan, make_plan(options));
  GW_TRY(auto limits, make_limits(options));
  GW_TRY(auto image, read_image(file));
  GW_TRY(auto session, Session::resume(image, limits));
  return session->run(plan);
}

}  // namespace

void add_run_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("run", "Run a program: C, C++ or WebAssembly");
  auto options = std::make_shared<RunOptions>();
  add_source_options(*command, options->source);
  add_repeatable(*command, "--env", options->env, "Environment variable of the program")->option_text("NAME=VALUE");
  command->add_option("--seed", options->seed, "Make the program's random numbers repeatable")->option_text("N");
  add_stop_options(*command, options->stop);
  command->footer(
      "Examples:\n"
      "  godwit run examples/mandelbrot.c > picture.png\n"
      "  godwit run examples/primes.c -- 1000000\n"
      "  godwit run main.c parser.c -Iinclude -DDEPTH=8 -- arguments of the program\n"
      "  godwit run nbody.c --suspend-after 2s --image nbody.gwi\n\n"
      "Exit code: that of the program; 75 if it was suspended; 1 if it trapped or reached a limit; 2 if it could not be started.");
  command->callback([options, &outcome] {
    const Result<int> code = run(*options, outcome.program_args);
    outcome.exit_code = code ? *code : report_error(code.error());
  });
}

void add_resume_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("resume", "Continue a program from its image");
  auto file = std::make_shared<std::string>();
  auto options = std::make_shared<StopOptions>();
  command->add_option("IMAGE", *file, "Image written by run or resume")->required();
  add_stop_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  godwit resume nbody.gwi\n"
      "  godwit resume nbody.gwi --suspend-after 2s --image later.gwi");
  command->callback([file, options, &outcome] {
    const Result<int> code = resume(*file, *options);
    outcome.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace gw::cli
