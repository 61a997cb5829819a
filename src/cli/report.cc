#include "cli/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/commands.h"

namespace gw::cli {

void add_format_option(CLI::App& command, Format& format) {
  static const std::map<std::string, Format> names{{"text", Format::text}, {"json", Format::json}};
  command.add_option("-o,--format", format, "How to print the result: text or json")
      ->transform(CLI::CheckedTransformer(names).description(""))
      ->option_text("FORMAT");
}

void add_mobility_options(CLI::App& command, MobilityOptions& options) {
  command.add_option("--mobile", options.level, "Where it can be suspended: off, coarse (blocking calls only) or fine (anywhere)")
      ->check(CLI::IsMember({"off", "coarse", "fine"}))
      ->option_text("LEVEL [fine]");
  command.add_option("--poll", options.poll, "How it notices a request: auto, or counter (stops at exact points, slower)")
      ->check(CLI::IsMember({"auto", "counter"}))
      ->option_text("KIND [auto]");
  command.add_flag("--verify", options.verify, "Make NaN bits canonical, so that results can be compared between machines");
}

int report_error(const Error& error) {
  fmt::print(stderr, "godwit: {}\n", error.detail);
  switch (error.kind) {
    case Kind::invalid:
    case Kind::corrupt:
    case Kind::unsupported:
    case Kind::not_found:
      return kExitUsage;
    default:
      return kExitFailed;
  }
}

void print_rows(const std::vector<Row>& rows, Format format) {
  if (format == Format::json) {
    nlohmann::ordered_json object;
    for (const Row& row : rows) object[row.key] = row.value;
    fmt::print("{}\n", object.dump(2));
    return;
  }
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.label.size());
  for (const Row& row : rows) {
    const std::string value = row.value.is_string() ? row.value.get<std::string>() : row.value.dump();
    fmt::print("{:<{}}  {}\n", row.label, width, row.text.empty() ? value : row.text);
  }
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace gw::cli
