#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <random>

#include "cli/commands/commands.h"
#include "cli/jobs/graph_file.h"
#include "cli/jobs/grid_options.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_run.h"
#include "cli/jobs/named_files.h"
#include "cli/jobs/script.h"
#include "cli/jobs/sweep_options.h"
#include "cli/jobs/task_options.h"
#include "cli/settings/guest_environment.h"
#include "cli/settings/input_patterns.h"
#include "cli/settings/mount.h"
#include "cli/settings/source_options.h"
#include "os/files/file.h"
#include "toolchain/build.h"
#include "wire/wasm/line_table.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::cli {
namespace {

struct StartOptions {
  std::vector<std::string> program_args;
  SourceOptions source;
  std::string interpreter;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> env;
  std::optional<std::uint64_t> seed;
  SweepOptions sweep;
  std::string promote_after;
  bool no_prefetch = false;
  GridRunOptions grid_run;
  RunOptions run;
  TaskOptions task;
};

Status check_has_lines(const std::string& file, ByteView wasm) {
  GW_TRY(const auto sections, wire::read_sections(wasm));
  if (std::ranges::find(sections, wire::kLinesSection, &wire::Section::name) != sections.end()) return ok();
  return fail(Kind::invalid, "{} was built without --debug: build it again with 'godwit build --debug', or run its source", file);
}

// A module that is mobile already runs as it is; everything else is built first.
Result<Bytes> load_program(SourceOptions source, const std::optional<Script>& script, Invocation& invocation) {
  if (script && source.debug)
    return fail(Kind::invalid, "--debug does not apply to scripts: their interpreter reports errors with the lines of the script");
  if (script && script->language != nullptr) return toolchain::load_interpreter(*script->language);
  if (script) source.files = {script->interpreter};
  if (source.files.size() == 1) {
    GW_TRY(auto bytes, os::read_file(source.files.front(), wire::kMaxModuleBytes));
    if (wire::read_module_info(bytes)) {
      if (source.debug) GW_TRY_VOID(check_has_lines(source.files.front(), bytes));
      return bytes;
    }
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
  for (const Mount& mount : mounts.inputs) *spec.add_inputs() = to_spec(mount);
  for (const Mount& mount : mounts.outputs) {
    *spec.add_outputs() = to_spec(mount);
    spec.mutable_config()->add_outputs(mount.guest.substr(1) + (is_folder(mount) ? "/" : ""));
  }
}

Result<wire::pb::JobSpec> make_spec(const StartOptions& options, const std::optional<Script>& script, const Invocation& invocation) {
  wire::pb::JobSpec spec;
  wire::pb::ThreadConfig& config = *spec.mutable_config();
  config.add_args(script ? script->interpreter_name : options.source.files.front());
  if (script) config.add_args(script->guest_path);
  for (const std::string& word : options.program_args) config.add_args(word);
  GW_TRY(auto environment, guest_environment(options.env));
  for (std::string& variable : environment) config.add_env(std::move(variable));
  config.set_random_seed(options.seed || options.task.key.empty() ? random_seed(options.seed) : seed_of_key(options.task.key));
  const bool array = options.sweep.is_array();
  std::vector<std::string> inputs = array ? Sweep::common_inputs(options.inputs) : options.inputs;
  GW_TRY(inputs, expand_input_patterns(inputs));
  if (script && script->mount) inputs.push_back(*script->mount);
  GW_TRY(Mounts mounts, check_mounts(inputs, array ? std::vector<std::string>() : options.outputs));
  add_mounts(mounts, spec);
  GW_TRY(*spec.mutable_limits(), to_limits(options.run, invocation.settings));
  if (const auto every = invocation.settings.checkpoint_every())
    spec.set_checkpoint_every_ns(static_cast<std::uint64_t>(std::chrono::nanoseconds(*every).count()));
  return spec;
}

// Checks that the options can be used with this program's level of mobility.
Status check_mobility(const RunOptions& options, const wire::pb::JobSpec& spec, ByteView wasm) {
  GW_TRY(const wire::ModuleInfo info, wire::read_module_info(wasm));
  const bool stops = !options.suspend_after.empty() || options.suspend_after_polls || spec.checkpoint_every_ns() > 0;
  if (stops && info.level == wire::Level::off)
    return fail(Kind::invalid, "the program was built with --mobile=off and cannot be suspended: build it with --mobile=fine");
  if (options.suspend_after_polls && info.poll != wire::Poll::counter)
    return fail(Kind::invalid, "--suspend-after-polls needs a program built with --poll=counter: this one does not count its polls");
  return ok();
}

Status check_graph_options(const StartOptions& options) {
  const SweepOptions& sweep = options.sweep;
  if (!sweep.tasks.empty() || !sweep.each_line.empty() || !sweep.each_file.empty() || !sweep.from_json.empty())
    return fail(Kind::invalid, "--graph says which tasks there are: leave out --tasks, --each-line, --each-file and --from-json");
  if (!options.outputs.empty() || !options.run.stdin_file.empty())
    return fail(Kind::invalid, "--output and --stdin do not go with --graph: write 'outputs' and 'stdin' into the file, for each task");
  if (std::ranges::any_of(options.inputs, job::has_placeholder))
    return fail(Kind::invalid, "placeholders in --input do not go with --graph: write 'inputs' into the file, for each task");
  if (options.promote_after == "0")
    return fail(Kind::invalid, "--promote-after 0 does not go with --graph: its tasks are short at first, and become threads later");
  return ok();
}

// Refuses options that do not work on peers before anything is built.
Status check_grid_options(const StartOptions& options) {
  const bool array = options.sweep.is_array();
  if (!options.sweep.graph.empty()) GW_TRY_VOID(check_graph_options(options));
  RunOptions run = options.run;
  if (array) run.stdin_file.clear();  // the standard input of tasks is uploaded with their input files
  GW_TRY_VOID(check_grid_run_options(run, options.grid_run));
  GW_TRY_VOID(check_task_options(options.task, array ? Array::yes : Array::no));
  if (!options.run.image.empty() && array)
    return fail(Kind::invalid, "--image does not go with tasks: an image holds one program; suspend the job with 'godwit job suspend'");
  if (!options.promote_after.empty() && !array) return fail(Kind::invalid, "--promote-after goes with --tasks");
  if (options.no_prefetch && !array) return fail(Kind::invalid, "--no-prefetch goes with --tasks");
  return ok();
}

// The job of a graph.
Status add_graph(const StartOptions& options, GraphFile graph, GridJob& job) {
  job.workers = std::min<std::uint32_t>(options.grid_run.workers.value_or(UINT32_MAX), static_cast<std::uint32_t>(graph.tasks.size()));
  job.workers = std::min<std::uint32_t>(job.workers, wire::kMaxJobSlots);
  GW_TRY(job.sweep, Sweep::make(std::move(graph), job.inputs));
  job.input.reset();
  return ok();
}

// The job of an array. Its words are read before the program is built.
Status add_tasks(const StartOptions& options, TaskList tasks, GridJob& job) {
  const SweepWords words{.inputs = options.inputs,
                         .outputs = options.outputs,
                         .standard_input = options.run.stdin_file,
                         .args = {job.config.args().begin(), job.config.args().end()},
                         .env = {job.config.env().begin(), job.config.env().end()}};
  const std::uint32_t most = std::min({options.grid_run.workers.value_or(UINT32_MAX), tasks.at_once.value_or(UINT32_MAX), tasks.count});
  job.workers = std::min<std::uint32_t>(most, wire::kMaxJobSlots);
  GW_TRY_VOID(check_min_workers(options.grid_run.placing, job.workers));
  GW_TRY(job.sweep, Sweep::make(std::move(tasks), words, job.inputs));
  job.input.reset();
  return ok();
}

Result<int> run_with_workers(const StartOptions& options, Invocation& invocation) {
  GW_TRY_VOID(check_grid_options(options));
  StartOptions local = options;  // without the inputs that the daemon fetches
  GW_TRY(std::vector<UrlInput> urls, take_urls(local.inputs));
  std::optional<TaskList> tasks;
  std::optional<GraphFile> graph;
  if (options.sweep.is_array() && options.sweep.graph.empty()) {
    GW_TRY(tasks, task_list_of(options.sweep));
  } else if (options.sweep.is_array()) {
    GW_TRY(graph, read_graph_file(options.sweep.graph));
  }
  GW_TRY(const std::optional<Script> script, find_script(options.source, options.interpreter, local.inputs));
  GW_TRY(auto spec, make_spec(local, script, invocation));
  GW_TRY(auto wasm, load_program(options.source, script, invocation));
  GW_TRY_VOID(check_mobility(options.run, spec, wasm));
  GW_TRY(const wire::ModuleInfo info, wire::read_module_info(wasm));
  spec.set_checkpoint_every_ns(grid_checkpoint_every(invocation.settings, info));
  RunOptions run = options.run;
  if (tasks) run.stdin_file.clear();
  GW_TRY(GridJob job, make_grid_job(run, options.grid_run, std::move(spec)));
  job.module = std::move(wasm);
  job.urls = std::move(urls);
  if (!options.promote_after.empty()) {
    GW_TRY(job.promote_after, parse_option("--promote-after", options.promote_after));
  }
  job.prefetch = !options.no_prefetch;
  apply(options.task, job);
  if (tasks) GW_TRY_VOID(add_tasks(local, *std::move(tasks), job));
  if (graph) GW_TRY_VOID(add_graph(options, *std::move(graph), job));
  return run_on_grid(job, options.grid_run.detach ? Attachment::detached : Attachment::attached, invocation);
}

Result<int> run(const StartOptions& options, Invocation& invocation) {
  if (options.grid_run.workers || options.sweep.is_array()) return run_with_workers(options, invocation);
  GW_TRY_VOID(check_local_options(options.grid_run, "--workers or --tasks"));
  if (std::ranges::any_of(options.inputs, [](const std::string& input) { return input.starts_with("https://"); }))
    return fail(Kind::unsupported, "a URL as --input needs --workers or --tasks: the daemon fetches it");
  GW_TRY_VOID(check_no_task_options(options.task));
  GW_TRY(const std::optional<Script> script, find_script(options.source, options.interpreter, options.inputs));
  GW_TRY(auto spec, make_spec(options, script, invocation));
  GW_TRY(auto wasm, load_program(options.source, script, invocation));
  GW_TRY(auto job_run, JobRun::prepare(options.run, options.source.files.front(), invocation));
  std::optional<std::filesystem::path> file;
  if (spec.checkpoint_every_ns() > 0) {
    GW_TRY(file, job_run->destination().for_job_file());
  }
  GW_TRY_VOID(check_mobility(options.run, spec, wasm));
  GW_TRY(auto job, node::EmbeddedPeer::start(job_run->config(), std::move(spec), std::move(wasm), file));
  GW_TRY(const int code, job_run->carry_out(*job, file));
  job.reset();  // closes the file
  // A job file without a name of the user's is of no use when everything has been shown.
  std::error_code gone;
  if (file && !job_run->destination().is_named() && job_run->ended()) std::filesystem::remove(*file, gone);
  return code;
}

Result<int> map(StartOptions& options, Invocation& invocation) {
  GW_TRY(MapWords words, split_map_words(invocation.program_args));
  options.program_args = std::move(words.args);
  options.sweep.lists = std::move(words.lists);
  return run(options, invocation);
}

void add_start_options(CommandTree& tree, Command& command, StartOptions& options) {
  command.allow_program_args();
  add_source_options(tree, command, options.source);
  command.add_option("--interpreter", options.interpreter, "Run FILE as a script of this interpreter, a wasm module", "MODULE");
  command.add_repeatable("--input", options.inputs,
                         "Let the program read this file, folder, https:// URL or what matches a pattern, as GUEST or under the same path",
                         "HOST[:GUEST]");
  command.add_repeatable("--output", options.outputs, "Move what the program leaves at GUEST, or at the same path, here when it has ended",
                         "HOST[:GUEST]");
  command.add_repeatable("--env", options.env,
                         "Set an environment variable of the program; NAME alone passes on the variable of this shell", "NAME[=VALUE]");
  command.add_number("--seed", options.seed, "Make the program's random numbers repeatable", "N");
  add_grid_run_options(tree, command, options.grid_run);
  add_task_options(command, options.task);
  command.add_option("--promote-after", options.promote_after,
                     "Move a task that has run for so long from the plane of short tasks to that of threads, which are checkpointed and "
                     "can move: 1s if not given, 0 to begin with threads",
                     "DURATION");
  command.add_flag("--no-prefetch", options.no_prefetch,
                   "Give a peer a task only when a worker is free for it, not in advance: for tasks of very unequal length");
  tree.add_setting(command, Key::checkpoint_every);
  add_run_options(tree, command, options.run);
}

}  // namespace

void add_map_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "map",
      {.summary = "Run a program once for each value of a list, as GNU parallel does",
       .details = "Runs the program as a job with a task for each value after ':::', or for each line of the files after '::::'. {} stands "
                  "for the value, {/} for its last name, {.} without its extension, {/.} for both, {//} for its folder, {#} for the number "
                  "of the task. Several lists are combined, as {1}, {2}, ... A value that is the name of a file is an input of its task. "
                  "Outputs are printed as they come, or in the order of the values with --keep-order.",
       .examples = {"godwit map count.c -- {} ::: texts/*.txt", "godwit map render.cpp --output 'out/{/.}.png' -- {} out/{/.}.png ::: in/*",
                    "godwit map fit.c --need memory=1G --job-time 1h -- --rate {1} --seed {2} ::: 0.1 0.01 ::: 1 2 3"}});
  auto options = std::make_shared<StartOptions>();
  add_start_options(tree, command, *options);
  command.on_selected([options](Invocation& invocation) { return map(*options, invocation); });
}

void add_run_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "run",
      {.summary = "Run a C, C++ or WebAssembly program, or a script",
       .details =
           "Builds the program if needed and runs it in a sandboxed process. A script (.lua, .js, .py) runs in its interpreter, which "
           "'godwit "
           "language add' installs; modules and data of the script are inputs. Standard input, output, error and the exit code are those "
           "of "
           "the program. It can read only its inputs and leaves only its outputs. Ctrl-C suspends it to an image that 'godwit resume' "
           "continues; a second Ctrl-C ends it. With --workers or --tasks the program runs as a job on the peers of a grid; Ctrl-C then "
           "detaches, and the job continues, unless --image names a file to suspend it to.",
       .examples = {"godwit run examples/mandelbrot.c > picture.png", "godwit run examples/primes.c -- 1000000",
                    "godwit run main.c parser.c -Iinclude -DDEPTH=8 -- arguments of the program", "godwit run primes.lua -- 1000",
                    "godwit run render.cpp --input scene.txt --output frames", "godwit run mosaic.c --input 'tiles/*.png' -- tiles",
                    "godwit run sort.c --workers 1 --detach --stdin names.txt", "godwit run nbody.c --checkpoint-every 10s",
                    "godwit run nbody.c --suspend-after 2s --image nbody.gwi",
                    "godwit run ray.cpp --workers 6 --tasks 60 --keep-order > picture.ppm",
                    "godwit run count.c --workers 1 --input https://example.org/words.txt -- words.txt",
                    "godwit run simulate.c --tasks 1000 --retries 2 --max-fails 10 --name study",
                    "godwit run search.c --tasks 40 --promote-after 200ms", "godwit run study.cpp --graph flow.toml --workers 8",
                    "godwit run train.c --tasks 100 --need memory=2G,tag=gpu --job-time 2h",
                    "godwit run serve.c --tasks 40 --workers 8 --place spread",
                    "godwit run solve.c --workers 8 --min-workers 4 --on-failure cancel",
                    "godwit run nbody.c --workers 1 --suspend-after 10s --image nbody.gwi"}});
  auto options = std::make_shared<StartOptions>();
  add_start_options(tree, command, *options);
  add_sweep_options(command, options->sweep);
  command.on_selected([options](Invocation& invocation) {
    options->program_args = invocation.program_args;
    return run(*options, invocation);
  });
}

}  // namespace gw::cli
