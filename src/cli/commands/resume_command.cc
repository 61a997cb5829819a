#include <memory>

#include "cli/commands/commands.h"
#include "cli/jobs/grid_options.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/image_file.h"
#include "cli/jobs/job_run.h"
#include "cli/jobs/named_files.h"
#include "node/embedded/gate_state.h"
#include "node/embedded/job_file_image.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

// A job file continues as it was started.
Status check_job_file_options(const std::string& file, const RunOptions& options, const CommandTree& tree) {
  const bool limits = tree.flags().contains(Key::memory) || tree.flags().contains(Key::time_limit) || !options.wall_limit.empty();
  if (limits)
    return fail(Kind::invalid, "{} keeps the limits the program was started with: leave out --memory, --time-limit, --wall-limit", file);
  if (!options.image.empty()) return fail(Kind::invalid, "{} is where the program's state is kept from now on: leave out --image", file);
  return ok();
}

struct ResumeOptions {
  std::string file;
  NamedFiles files;
  GridRunOptions grid;
  RunOptions run;
};

Result<int> resume_on_grid(const ResumeOptions& options, const wire::Image& image, wire::pb::JobSpec spec, Invocation& invocation) {
  GW_TRY_VOID(check_grid_run_options(options.run, options.grid));
  if (!options.run.stdin_file.empty() && options.grid.detach)
    return fail(Kind::invalid, "--stdin does not go with --detach here: this command reads the file on, so it has to stay");
  const ByteView module = image.content().module_wasm;
  if (module.empty()) return fail(Kind::invalid, "the image does not contain its program: save it with the module");
  GW_TRY(const wire::ModuleInfo info, wire::read_module_info(module));
  GW_TRY(const wire::pb::GateState gate, node::gate_of(image));
  spec.set_checkpoint_every_ns(grid_checkpoint_every(invocation.settings, info));
  spec.mutable_config()->add_args(fs::path(options.file).stem().string());
  spec.mutable_config()->set_random_seed(std::string(32, '\0'));  // not used: the image has its own
  const std::string digest = spec.inputs_digest();
  GW_TRY(GridJob job, make_grid_job(options.run, options.grid, spec, gate.input_bytes()));
  if (digest != job.spec.inputs_digest() && !(digest.empty() && job.inputs.entries().empty())) return node::inputs_changed();
  GW_TRY(job.image, node::image_for_new_job(image, job.spec));
  job.module.assign(module.begin(), module.end());
  return run_on_grid(job, options.grid.detach ? Attachment::detached : Attachment::attached, invocation);
}

Result<int> resume_job_file(const ResumeOptions& options, Invocation& invocation) {
  const std::string& file = options.file;
  GW_TRY(auto opened, node::JobFile::open(file));
  wire::pb::JobSpec spec = opened->spec();
  GW_TRY_VOID(use_named_files(options.files, file, spec));
  if (options.grid.workers) {
    GW_TRY(const wire::Image image, node::image_of_job_file(*opened));
    return resume_on_grid(options, image, std::move(spec), invocation);
  }
  GW_TRY_VOID(check_job_file_options(file, options.run, invocation.tree));
  GW_TRY(auto run, JobRun::prepare(options.run, file, invocation));
  GW_TRY(auto job, node::EmbeddedPeer::recover(run->config(), std::move(opened), std::move(spec)));
  return run->carry_out(*job, fs::path(file));
}

Result<int> resume_image(const ResumeOptions& options, Invocation& invocation) {
  GW_TRY(auto limits, to_limits(options.run, invocation.settings));
  GW_TRY(auto image, read_image(options.file));
  GW_TRY_VOID(image.verify_pages());  // here, where the error can name the file
  GW_TRY(wire::pb::JobSpec spec, node::spec_of(image));
  *spec.mutable_limits() = std::move(limits);
  GW_TRY_VOID(use_named_files(options.files, options.file, spec));
  if (options.grid.workers) return resume_on_grid(options, image, std::move(spec), invocation);
  GW_TRY(auto run, JobRun::prepare(options.run, options.file, invocation));
  GW_TRY(auto job, node::EmbeddedPeer::resume(run->config(), std::move(image), std::move(spec)));
  return run->carry_out(*job, std::nullopt);
}

Result<int> resume(ResumeOptions& options, Invocation& invocation) {
  options.files.stdin_file = options.run.stdin_file;
  if (!options.grid.workers) GW_TRY_VOID(check_local_options(options.grid, "--workers"));
  GW_TRY(const bool job_file, is_job_file(options.file));
  return job_file ? resume_job_file(options, invocation) : resume_image(options, invocation);
}

}  // namespace

void add_resume_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "resume",
      {.summary = "Continue a program from its image or its checkpoints",
       .details =
           "Continues the program where it was suspended, on this machine or another one. From a job file of --checkpoint-every it also "
           "continues after a crash of the program, this command or the machine; no output is lost or repeated. With --workers the program "
           "continues as a job on the peers of a grid. Files that the image names are read and written only if they are named again, or "
           "allowed with --allow-files.",
       .examples = {"godwit resume nbody.gwi", "godwit resume nbody.gwi --suspend-after 2s --image later.gwi",
                    "godwit resume render.gwi --input scene.txt --output frames", "godwit resume nbody.gwi --workers 1"}});
  auto options = std::make_shared<ResumeOptions>();
  command.add_argument("IMAGE", options->file, "Image or job file written by 'run', 'resume' or 'job suspend'");
  command.add_repeatable("--input", options->files.inputs, "Let the program read its input GUEST from this file or folder", "HOST[:GUEST]");
  command.add_repeatable("--output", options->files.outputs, "Move what the program leaves at GUEST here when it has ended",
                         "HOST[:GUEST]");
  command.add_flag("--allow-files", options->files.allow_files, "Read and write the files that the image names");
  add_grid_run_options(tree, command, options->grid);
  add_run_options(tree, command, options->run);
  command.on_selected([options](Invocation& invocation) { return resume(*options, invocation); });
}

}  // namespace gw::cli
