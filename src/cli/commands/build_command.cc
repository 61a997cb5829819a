#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/quantity.h"
#include "cli/settings/source_options.h"
#include "toolchain/build.h"

namespace gw::cli {
namespace {

struct BuildOptions {
  SourceOptions source;
  std::string output;
  bool list_unpolled = false;
};

Rows rows_of(const toolchain::BuildOutput& built, const std::filesystem::path& output, const std::string& level) {
  const prep::Report& report = built.report;
  const double growth = report.bytes_before == 0 ? 0 : static_cast<double>(report.bytes_after) / static_cast<double>(report.bytes_before);
  const bool cached = built.origin == toolchain::Origin::cached;
  Rows rows;
  rows.add("output", "output", output.string())
      .add("cached", "cached", cached, cached ? "yes" : "no")
      .add("mobile", "mobile", level)
      .add("bytes_before", "size before", report.bytes_before, human_bytes(report.bytes_before))
      .add("bytes_after", "size after", report.bytes_after, fmt::format("{} (x{:.2f})", human_bytes(report.bytes_after), growth))
      .add("functions", "functions", report.functions)
      .add("instrumented", "  with two bodies", report.instrumented)
      .add("sites", "  suspend points", report.sites)
      .add("loops", "loops", report.loops)
      .add("polled", "  polled", report.polled)
      .add("versioned", "  polled when long", report.versioned)
      .add("unpolled", "  left unpolled", report.unpolled)
      .add("polled_entries", "recursions polled", report.polled_entries)
      .add("nan_points", "NaNs made canonical", report.nan_points)
      .add("direct_calls", "calls made direct", report.direct_calls)
      .add("unrolled", "recursions unrolled", report.unrolled);
  return rows;
}

std::string list_of(const std::vector<prep::LoopReport>& loops) {
  std::string lines;
  for (const prep::LoopReport& loop : loops) lines += fmt::format("unpolled  {}: {}\n", fitted(loop.function, 0), loop.reason);
  return lines;
}

Result<std::filesystem::path> output_of(const BuildOptions& options) {
  std::filesystem::path output = options.output;
  if (output.empty()) output = std::filesystem::path(options.source.files.front()).filename().replace_extension(".wasm");
  for (const std::string& file : options.source.files) {
    std::error_code missing;
    if (std::filesystem::equivalent(file, output, missing))
      return fail(Kind::invalid, "the output {} would overwrite the input: name another one with --output", output.string());
  }
  return output;
}

Result<int> build(const BuildOptions& options, Invocation& invocation) {
  GW_TRY(auto output, output_of(options));
  toolchain::BuildRequest request = to_build_request(options.source, invocation.settings);
  request.output = output;
  invocation.console.progress(fmt::format("building {}...", options.source.files.front()));
  GW_TRY(auto built, toolchain::build(request));
  invocation.console.pass_on(built.warnings);

  const Rows rows = rows_of(built, output, invocation.settings[Key::mobile].text);
  Json json = rows.json();
  json["left_unpolled"] = Json::array();
  for (const prep::LoopReport& loop : built.report.left_unpolled)
    json["left_unpolled"].push_back({{"function", loop.function}, {"reason", loop.reason}});
  std::string text = rows.render(invocation.console.out());
  if (options.list_unpolled) text += list_of(built.report.left_unpolled);
  invocation.console.print({"godwit.build/1", json, text, output.string()});
  return 0;
}

}  // namespace

void add_build_command(CommandTree& tree) {
  Command& command =
      tree.add(tree.root(), "build",
               {.summary = "Build a mobile program from C, C++ or WebAssembly",
                .details = "Writes a wasm module that 'godwit run' starts without building it again. Builds are cached by content.",
                .examples = {"godwit build nbody.c", "godwit build render.cpp scene.cpp -Iinclude -DWIDTH=640 --output render.wasm",
                             "godwit build plugin.wasm --output mobile.wasm --list-unpolled"}});
  auto options = std::make_shared<BuildOptions>();
  add_source_options(tree, command, options->source);
  command.add_option("--output", options->output, "File to write (default: the first input's name with .wasm, in this folder)", "FILE");
  command.add_flag("--list-unpolled", options->list_unpolled, "List the loops that have no poll, and why");
  command.on_selected([options](Invocation& invocation) { return build(*options, invocation); });
}

}  // namespace gw::cli
