#include "cli/source_options.h"

#include "cli/mobility.h"

namespace gw::cli {

CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& description) {
  return command.add_option(name, values, description)->allow_extra_args(false);  // else it would swallow the words behind its value
}

void add_source_options(CLI::App& command, SourceOptions& options) {
  command.add_option("FILE", options.files, "Sources (.c, .cc, .cpp, .cxx), or one wasm module")->required();
  add_repeatable(command, "-I", options.include_folders, "Look for headers in this folder, too")->option_text("FOLDER");
  add_repeatable(command, "-D", options.definitions, "Define a macro")->option_text("NAME[=VALUE]");
  command.add_option("-O", options.optimization, "Optimisation of the compiler: 0, 1, 2, 3, s or z")
      ->check(CLI::IsMember({"0", "1", "2", "3", "s", "z"}))
      ->option_text("LEVEL [3]");
  add_repeatable(command, "--cflag", options.compiler_flags, "Hand this flag to clang as it is; write --cflag=-Wl,-z,stack-size=1048576")
      ->option_text("FLAG");
  add_mobility_options(command, options.mobility);
}

toolchain::BuildRequest to_build_request(const SourceOptions& options) {
  toolchain::BuildRequest request{.inputs = {options.files.begin(), options.files.end()}, .mobility = to_prep(options.mobility)};
  if (options.optimization) request.extra_flags.push_back("-O" + *options.optimization);
  for (const std::string& folder : options.include_folders) request.extra_flags.push_back("-I" + folder);
  for (const std::string& definition : options.definitions) request.extra_flags.push_back("-D" + definition);
  request.extra_flags.insert(request.extra_flags.end(), options.compiler_flags.begin(), options.compiler_flags.end());
  return request;
}

}  // namespace gw::cli
