#include "cli/settings/source_options.h"

namespace gw::cli {

void add_source_options(CommandTree& tree, Command& command, SourceOptions& options) {
  command.add_arguments("FILE", options.files, "Sources (.c, .cc, .cpp, .cxx), one wasm module, or one script");
  command.add_repeatable("-I", options.include_folders, "Add a folder to the header search path", "FOLDER");
  command.add_repeatable("-D", options.definitions, "Define a macro", "NAME[=VALUE]");
  command.add_choice("-O", options.optimization, "Optimisation level of the compiler: 0, 1, 2, 3, s or z (default: 3)", "OPTIMIZATION");
  command.add_repeatable("--cflag", options.compiler_flags, "Pass a flag to clang unchanged, like --cflag=-ffast-math", "FLAG");
  command.add_flag("--debug", options.debug, "Report crashes with files and lines; the program is not optimised unless -O says so");
  tree.add_setting(command, Key::mobile);
  command.add_choice("--poll", options.poll, "How polls work: auto, or counter (stops at exact polls, slower; default: auto)", "POLL");
  command.add_flag("--verify", options.verify, "Make NaN bits canonical, so that results are comparable between machines");
}

toolchain::BuildRequest to_build_request(const SourceOptions& options, const Settings& settings) {
  toolchain::BuildRequest request{.inputs = {options.files.begin(), options.files.end()}};
  const std::string& level = settings[Key::mobile].text;
  request.mobility.level = level == "off" ? wire::Level::off : level == "coarse" ? wire::Level::coarse : wire::Level::fine;
  request.mobility.poll = options.poll == "counter" ? prep::PollChoice::counter : prep::PollChoice::automatic;
  request.mobility.verify = options.verify ? prep::Verify::yes : prep::Verify::no;
  request.debug = options.debug ? toolchain::Debug::yes : toolchain::Debug::no;
  if (!options.optimization.empty()) request.extra_flags.push_back("-O" + options.optimization);
  for (const std::string& folder : options.include_folders) request.extra_flags.push_back("-I" + folder);
  for (const std::string& definition : options.definitions) request.extra_flags.push_back("-D" + definition);
  request.extra_flags.insert(request.extra_flags.end(), options.compiler_flags.begin(), options.compiler_flags.end());
  return request;
}

}  // namespace gw::cli
