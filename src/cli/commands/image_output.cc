#include <fmt/core.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/output_text.h"
#include "node/disk/journal.h"

namespace gw::cli {
namespace {

struct OutputOptions {
  std::string file;
  bool errors = false;
};

// Prints the recorded output, effect by effect: the bytes, or events with -o json.
Result<int> output(const OutputOptions& options, Invocation& invocation) {
  GW_TRY(auto journal, node::Journal::open(options.file));
  const std::uint32_t stream = options.errors ? 2 : 1;
  const bool json = invocation.console.format() == Format::json;
  GW_TRY_VOID(journal.visit_effects([&](const job::Effect& effect) -> Status {
    if (!effect.has_output() || effect.output().stream() != stream) return ok();
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
                .details = "Prints every byte once, whatever was killed in between. FILE is the journal of --checkpoint-every.",
                .examples = {"godwit image output nbody.gwi", "godwit image output nbody.gwi --stderr"}});
  auto options = std::make_shared<OutputOptions>();
  command.add_argument("FILE", options->file, "Journal of 'run --checkpoint-every'");
  command.add_flag("--stderr", options->errors, "Print standard error instead of standard output");
  command.on_selected([options](Invocation& invocation) { return output(*options, invocation); });
}

}  // namespace gw::cli
