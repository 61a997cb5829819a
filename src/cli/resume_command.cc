#include <memory>

#include "cli/commands.h"
#include "cli/image_file.h"
#include "cli/run_options.h"

namespace gw::cli {
namespace {

Result<int> resume(const std::string& file, const RunOptions& options, Invocation& invocation) {
  GW_TRY(auto plan, to_plan(options));
  GW_TRY(auto limits, to_limits(options, invocation.settings));
  GW_TRY(auto image, read_image(file));
  GW_TRY(auto session, Session::resume(image, limits));
  return session->run(plan);
}

}  // namespace

void add_resume_command(CommandTree& tree) {
  CLI::App& command = tree.add(tree.root(), "resume",
                               {.summary = "Continue a program from its image",
                                .details = "The program goes on where it was suspended, on this machine or another one.",
                                .examples = {"godwit resume nbody.gwi", "godwit resume nbody.gwi --suspend-after 2s --image later.gwi"}});
  auto file = std::make_shared<std::string>();
  auto options = std::make_shared<RunOptions>();
  command.add_option("IMAGE", *file, "Image written by run or resume")->required()->option_text("IMAGE");
  add_run_options(tree, command, *options);
  tree.on_selected(command, [file, options](Invocation& invocation) { return resume(*file, *options, invocation); });
}

}  // namespace gw::cli
