#include <memory>

#include "cli/commands/commands.h"
#include "cli/jobs/image_file.h"
#include "cli/jobs/job_run.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

// A journal goes on as it was started.
Status check_journal_options(const std::string& file, const RunOptions& options, const CommandTree& tree) {
  const bool limits = tree.flags().contains(Key::memory) || tree.flags().contains(Key::time_limit) || !options.wall_limit.empty();
  if (limits)
    return fail(Kind::invalid, "{} keeps the limits the program was started with: leave out --memory, --time-limit, --wall-limit", file);
  if (!options.image.empty()) return fail(Kind::invalid, "{} is where the program's state is kept from now on: leave out --image", file);
  return ok();
}

Result<int> resume_journal(const std::string& file, const RunOptions& options, Invocation& invocation) {
  GW_TRY_VOID(check_journal_options(file, options, invocation.tree));
  GW_TRY(auto run, JobRun::prepare(options, file, invocation));
  GW_TRY(auto job, node::LocalJob::recover(run->config(), file));
  return run->carry_out(*job, fs::path(file));
}

Result<int> resume_image(const std::string& file, const RunOptions& options, Invocation& invocation) {
  GW_TRY(auto limits, to_limits(options, invocation.settings));
  GW_TRY(auto image, read_image(file));
  GW_TRY_VOID(image.verify_pages());  // here, where the error can name the file
  GW_TRY(auto run, JobRun::prepare(options, file, invocation));
  GW_TRY(auto job, node::LocalJob::resume(run->config(), image, limits));
  return run->carry_out(*job, std::nullopt);
}

Result<int> resume(const std::string& file, const RunOptions& options, Invocation& invocation) {
  GW_TRY(const bool journal, is_journal(file));
  return journal ? resume_journal(file, options, invocation) : resume_image(file, options, invocation);
}

}  // namespace

void add_resume_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "resume",
      {.summary = "Continue a program from its image or its checkpoints",
       .details =
           "Continues the program where it was suspended, on this machine or another one. From a journal of --checkpoint-every it also "
           "continues after a crash of the program, this command or the machine; no output is lost or repeated.",
       .examples = {"godwit resume nbody.gwi", "godwit resume nbody.gwi --suspend-after 2s --image later.gwi",
                    "godwit resume nbody.gwi -o json"}});
  auto file = std::make_shared<std::string>();
  auto options = std::make_shared<RunOptions>();
  command.add_argument("IMAGE", *file, "Image or journal written by 'run' or 'resume'");
  add_run_options(tree, command, *options);
  command.on_selected([file, options](Invocation& invocation) { return resume(*file, *options, invocation); });
}

}  // namespace gw::cli
