#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/source_options.h"
#include "toolchain/build.h"

namespace gw::cli {
namespace {

struct BuildOptions {
  SourceOptions source;
  std::string output;
  bool list_unpolled = false;
  Format format = Format::text;
};

void print_report(const BuildOptions& options, const std::filesystem::path& output, const toolchain::BuildOutput& built) {
  const prep::Report& report = built.report;
  const double growth = report.bytes_before == 0 ? 0 : static_cast<double>(report.bytes_after) / static_cast<double>(report.bytes_before);
  std::vector<Row> rows{
      {"output", "output", output.string(), ""},
      {"cached", "cached", built.origin == toolchain::Origin::cached, built.origin == toolchain::Origin::cached ? "yes" : "no"},
      {"mobile", "mobile", options.source.mobility.level, ""},
      {"bytes_before", "size before", report.bytes_before, human_bytes(report.bytes_before)},
      {"bytes_after", "size after", report.bytes_after, fmt::format("{} (x{:.2f})", human_bytes(report.bytes_after), growth)},
      {"functions", "functions", report.functions, ""},
      {"instrumented", "  with two bodies", report.instrumented, ""},
      {"sites", "  places to suspend", report.sites, ""},
      {"loops", "loops", report.loops, ""},
      {"polled", "  polled", report.polled, ""},
      {"versioned", "  polled when long", report.versioned, ""},
      {"unpolled", "  left unpolled", report.unpolled, ""},
      {"polled_entries", "recursions polled", report.polled_entries, ""},
      {"nan_points", "NaNs made canonical", report.nan_points, ""},
  };
  if (options.format == Format::json) {
    auto list = nlohmann::ordered_json::array();
    for (const prep::LoopReport& loop : report.left_unpolled) list.push_back({{"function", loop.function}, {"reason", loop.reason}});
    rows.push_back({"left_unpolled", "", std::move(list), ""});
  }
  print_rows(rows, options.format);
  if (options.format == Format::text && options.list_unpolled)
    for (const prep::LoopReport& loop : report.left_unpolled) fmt::print("unpolled  {}: {}\n", loop.function, loop.reason);
}

int build(const BuildOptions& options) {
  const std::string& first = options.source.files.front();
  std::filesystem::path output = options.output;
  if (output.empty()) output = std::filesystem::path(first).filename().replace_extension(".wasm");
  for (const std::string& file : options.source.files) {
    std::error_code failure;
    if (std::filesystem::equivalent(file, output, failure))
      return report_error(fail(Kind::invalid, "the output {} would overwrite the input: name another one with --output", output.string()));
  }
  toolchain::BuildRequest request = to_build_request(options.source);
  request.output = output;
  auto built = toolchain::build(request);
  if (!built) return report_error(built.error());
  if (!built->warnings.empty()) fmt::print(stderr, "{}", built->warnings);
  print_report(options, output, *built);
  return 0;
}

}  // namespace

void add_build_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("build", "Make a mobile program of C, C++ or WebAssembly");
  auto options = std::make_shared<BuildOptions>();
  add_source_options(*command, options->source);
  command->add_option("--output", options->output, "File to write; default: the first input's name with .wasm, in this folder")
      ->option_text("FILE");
  command->add_flag("--list-unpolled", options->list_unpolled, "List the loops that were left without a poll, and why");
  add_format_option(*command, options->format);
  command->footer(
      "Examples:\n"
      "  godwit build nbody.c\n"
      "  godwit build render.cpp scene.cpp -Iinclude -DWIDTH=640 --output render.wasm\n"
      "  godwit build plugin.wasm --output mobile.wasm --list-unpolled");
  command->callback([options, &outcome] { outcome.exit_code = build(*options); });
}

}  // namespace gw::cli
