#include <fmt/core.h>

#include <memory>
#include <random>

#include "cli/commands/commands.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_run.h"
#include "cli/settings/guest_environment.h"
#include "cli/settings/mount.h"
#include "cli/settings/source_options.h"
#include "os/file.h"
#include "toolchain/build.h"
#include "wire/grid_name.h"

namespace gw::cli {
namespace {

struct StartOptions {
  SourceOptions source;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> env;
  std::optional<std::uint64_t> seed;
  std::optional<std::uint32_t> workers, tasks;
  std::string grid;
  bool detach = false;
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

std::string random_seed(const std::optional<std::uint64_t>& chosen) {
  std::string seed(32, '\0');
  std::random_device entropy;
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = chosen ? static_cast<char>(i < 8 ? *chosen >> (8 * i) : 0) : static_cast<char>(entropy());
  return seed;
}

void add_mounts(const Mounts& mounts, wire::pb::JobSpec& spec) {
  const auto fill = [](const Mount& mount, wire::pb::JobSpec::Mount& out) {
    const auto host = std::filesystem::absolute(mount.host).lexically_normal();
    out.set_host((host.has_filename() ? host : host.parent_path()).string());
    out.set_guest(mount.guest.substr(1));
  };
  for (const Mount& mount : mounts.inputs) fill(mount, *spec.add_inputs());
  for (const Mount& mount : mounts.outputs) {
    fill(mount, *spec.add_outputs());
    spec.mutable_config()->add_outputs(mount.guest.substr(1) + (is_folder(mount) ? "/" : ""));
  }
}

Result<wire::pb::JobSpec> make_spec(const StartOptions& options, const Invocation& invocation) {
  wire::pb::JobSpec spec;
  wire::pb::ThreadConfig& config = *spec.mutable_config();
  config.add_args(options.source.files.front());
  for (const std::string& word : invocation.program_args) config.add_args(word);
  GW_TRY(auto environment, guest_environment(options.env));
  for (std::string& variable : environment) config.add_env(std::move(variable));
  config.set_random_seed(random_seed(options.seed));
  GW_TRY(Mounts mounts, check_mounts(options.inputs, options.outputs));
  add_mounts(mounts, spec);
  GW_TRY(*spec.mutable_limits(), to_limits(options.run, invocation.settings));
  if (const auto every = invocation.settings.checkpoint_every())
    spec.set_checkpoint_every_ns(static_cast<std::uint64_t>(std::chrono::nanoseconds(*every).count()));
  return spec;
}

// What was asked for can be done with this program.
Status check_mobility(const RunOptions& options, const wire::pb::JobSpec& spec, ByteView wasm) {
  GW_TRY(const wire::ModuleInfo info, wire::read_module_info(wasm));
  const bool stops = !options.suspend_after.empty() || options.suspend_after_polls || spec.checkpoint_every_ns() > 0;
  if (stops && info.level == wire::Level::off)
    return fail(Kind::invalid, "the program was built with --mobile=off and cannot be suspended: build it with --mobile=fine");
  if (options.suspend_after_polls && info.poll != wire::Poll::counter)
    return fail(Kind::invalid, "--suspend-after-polls needs a program built with --poll=counter: this one does not count its polls");
  return ok();
}

std::vector<node::Mount> to_mounts(const google::protobuf::RepeatedPtrField<wire::pb::JobSpec::Mount>& mounts) {
  std::vector<node::Mount> out;
  for (const wire::pb::JobSpec::Mount& mount : mounts) out.push_back({mount.host(), mount.guest()});
  return out;
}

constexpr std::chrono::nanoseconds kCheckpointEvery = std::chrono::seconds(5);  // on peers, unless somebody has chosen

// Jobs on peers are not suspended as a whole yet: what cannot be had is refused before anything is built.
Status check_grid_options(const StartOptions& options) {
  const std::pair<bool, std::string_view> local[] = {{!options.run.image.empty(), "--image"},
                                                     {!options.run.suspend_after.empty(), "--suspend-after"},
                                                     {options.run.suspend_after_polls.has_value(), "--suspend-after-polls"},
                                                     {options.run.compress, "--compress"}};
  for (const auto& [given, name] : local)
    if (given)
      return fail(Kind::unsupported,
                  "{} does not go with --workers or --tasks: peers do not carry it yet; leave it out, or run on this machine alone", name);
  if (!options.outputs.empty() && options.tasks)
    return fail(Kind::invalid, "--output does not go with --tasks: all tasks would write the same file; leave out one of them");
  if (!options.outputs.empty() && options.detach)
    return fail(Kind::invalid,
                "--output does not go with --detach: this command writes the files, so it has to stay; leave out one of them");
  if (!options.run.stdin_file.empty() && options.tasks)
    return fail(Kind::invalid, "--stdin does not go with --tasks: give all tasks the file with --input, and let each read its part");
  if (!options.run.stdin_file.empty() && options.detach)
    return fail(Kind::invalid, "--stdin does not go with --detach: this command reads the file, so it has to stay; use --input");
  if (!options.grid.empty()) GW_TRY_VOID(wire::check_grid_name(options.grid));
  if (options.workers == 0u || options.tasks == 0u) return fail(Kind::invalid, "--workers and --tasks are at least 1");
  return ok();
}

Result<int> run_with_workers(const StartOptions& options, Invocation& invocation) {
  GW_TRY_VOID(check_grid_options(options));
  GW_TRY(auto spec, make_spec(options, invocation));
  GW_TRY(auto wasm, load_program(options.source, invocation));
  GW_TRY_VOID(check_mobility(options.run, spec, wasm));
  GW_TRY(const wire::ModuleInfo info, wire::read_module_info(wasm));
  if (!invocation.settings.is_chosen(Key::checkpoint_every) && info.level != wire::Level::off)
    spec.set_checkpoint_every_ns(static_cast<std::uint64_t>(kCheckpointEvery.count()));
  GW_TRY(auto inputs, node::InputFiles::look_at(to_mounts(spec.inputs())));
  GW_TRY(const os::UniqueFd stdin_file, open_stdin_file(options.run));
  const bool reads_input = !options.tasks && !options.detach;
  const GridJob job{.module = std::move(wasm),
                    .config = std::move(*spec.mutable_config()),
                    .inputs = std::move(inputs),
                    .outputs = to_mounts(spec.outputs()),
                    .input = reads_input ? std::optional(stdin_file ? stdin_file.get() : 0) : std::nullopt,
                    .tasks = options.tasks,
                    .grid = options.grid,
                    .workers = options.workers.value_or(options.tasks.value_or(1)),
                    .checkpoint_every_ns = spec.checkpoint_every_ns(),
                    .limits = spec.limits()};
  return run_on_grid(job, options.detach ? Attachment::detached : Attachment::attached, invocation);
}

Result<int> run(const StartOptions& options, Invocation& invocation) {
  if (options.workers || options.tasks) return run_with_workers(options, invocation);
  if (!options.grid.empty())
    return fail(Kind::invalid, "--grid needs --workers or --tasks: without them the program runs on this machine alone");
  if (options.detach)
    return fail(Kind::invalid, "--detach needs --workers or --tasks: without them the program runs on this machine alone");
  GW_TRY(auto spec, make_spec(options, invocation));
  GW_TRY(auto wasm, load_program(options.source, invocation));
  GW_TRY(auto job_run, JobRun::prepare(options.run, options.source.files.front(), invocation));
  std::optional<std::filesystem::path> journal;
  if (spec.checkpoint_every_ns() > 0) {
    GW_TRY(journal, job_run->destination().for_journal());
  }
  GW_TRY_VOID(check_mobility(options.run, spec, wasm));
  GW_TRY(auto job, node::LocalJob::start(job_run->config(), std::move(spec), std::move(wasm), journal));
  GW_TRY(const int code, job_run->carry_out(*job, journal));
  // A journal without a name of the user's is of no use when everything has been delivered.
  std::error_code gone;
  if (journal && !job_run->destination().is_named() && job_run->ended()) std::filesystem::remove(*journal, gone);
  return code;
}

}  // namespace

void add_run_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "run",
      {.summary = "Run a C, C++ or WebAssembly program",
       .details =
           "Builds the program if needed and runs it in a sandboxed process. Standard input, output, error and the exit code are those of "
           "the program. It can read only its inputs and leaves only its outputs. Ctrl-C suspends it to an image that 'godwit resume' "
           "continues; a second Ctrl-C ends it. With --workers or --tasks the program runs as a job on the peers of a grid; Ctrl-C then "
           "detaches, and the job continues.",
       .examples = {"godwit run examples/mandelbrot.c > picture.png", "godwit run examples/primes.c -- 1000000",
                    "godwit run main.c parser.c -Iinclude -DDEPTH=8 -- arguments of the program",
                    "godwit run render.cpp --input scene.txt --output frames", "godwit run nbody.c --checkpoint-every 10s",
                    "godwit run nbody.c --suspend-after 2s --image nbody.gwi", "godwit run ray.cpp --workers 6 --tasks 60 > picture.ppm"}});
  command.allow_program_args();
  auto options = std::make_shared<StartOptions>();
  add_source_options(tree, command, options->source);
  command.add_repeatable("--input", options->inputs, "Let the program read this file or folder, as GUEST or under the same path",
                         "HOST[:GUEST]");
  command.add_repeatable("--output", options->outputs, "Move what the program leaves at GUEST, or at the same path, here when it has ended",
                         "HOST[:GUEST]");
  command.add_repeatable("--env", options->env,
                         "Set an environment variable of the program; NAME alone passes on the variable of this shell", "NAME[=VALUE]");
  command.add_number("--seed", options->seed, "Make the program's random numbers repeatable", "N");
  command.add_number("--workers", options->workers,
                     "Run as a job on peers, with at most N threads at a time (default: the number of tasks)", "N");
  command.add_option("--grid", options->grid, "Run the job in this grid (default: the first grid of this machine)", "NAME");
  command.add_number("--tasks", options->tasks, "Run the program M times as a job, with GODWIT_TASK=0, 1, ... of GODWIT_TASKS", "M");
  command.add_flag("--detach", options->detach, "Submit the job, print its id and exit; follow it with 'godwit job'");
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::checkpoint_every);
  add_run_options(tree, command, options->run);
  command.on_selected([options](Invocation& invocation) { return run(*options, invocation); });
}

}  // namespace gw::cli
