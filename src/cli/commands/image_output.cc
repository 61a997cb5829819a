#include <fmt/core.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/output_text.h"
#include "cli/jobs/image_file.h"
#include "node/embedded/job_file.h"

namespace gw::cli {
namespace {

struct OutputOptions {
  std::string file;
  bool errors = false;
};

// Prints the recorded output, effect by effect: the bytes, or events with -o json.
Result<int> output(const OutputOptions& options, Invocation& invocation) {
  GW_TRY(const bool is_one, is_job_file(options.file));
  if (!is_one) return fail(Kind::invalid, "{} is not a job file of --checkpoint-every: an image has no recorded output", options.file);
  GW_TRY(const auto file, node::JobFile::open(options.file));
  const std::uint32_t stream = options.errors ? 2 : 1;
  const bool json = invocation.console.format() == Format::json;
  GW_TRY_VOID(file->visit_effects([&](const job::Effect& effect) -> Status {
    if (!effect.has_output() || effect.output().descriptor() != stream) return ok();
    if (!json) {
      invocation.console.print_text(effect.output().bytes());
      return ok();
    }
    Json event = {
        {"schema", "godwit.image.output/1"}, {"thread", fmt::format("{:016x}", effect.thread())}, {"sequence", effect.sequence()}};
    event.update(bytes_as_json(as_bytes(effect.output().bytes())));
    invocation.console.print_line(event);
    return ok();
  }));
  return 0;
}

}  // namespace

void add_image_output_command(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "output",
               {.summary = "Print the recorded output of a program with checkpoints",
                .details = "Prints every byte once, whatever was killed in between. FILE is the job file of --checkpoint-every.",
                .examples = {"godwit image output nbody.gwi", "godwit image output nbody.gwi --stderr"}});
  auto options = std::make_shared<OutputOptions>();
  command.add_argument("FILE", options->file, "Job file of 'run --checkpoint-every'");
  command.add_flag("--stderr", options->errors, "Print standard error instead of standard output");
  command.on_selected([options](Invocation& invocation) { return output(*options, invocation); });
}

}  // namespace gw::cli
