#include "simulated_overlay.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "os/process/process.h"

namespace gw::bench {
namespace {

// The figures of one scenario: the line of JSON that godwit-sim prints, whether or not they reach their goals.
Result<nlohmann::json> figures_of(const char* scenario) {
  std::error_code error;
  const auto simulator = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "godwit-sim";
  const auto file = std::filesystem::path(GODWIT_BENCH_ROOT) / ".." / "sim" / "scenarios" / "overlay" / scenario;
  GW_TRY(const os::ProcessResult done,
         os::run_process({.argv = {simulator.string(), file.string(), "--json"}, .timeout = std::chrono::minutes(60)}));
  const std::size_t begin = done.out.find('{');
  const auto figures = nlohmann::json::parse(done.out.substr(std::min(begin, done.out.size()), done.out.find('\n', begin) - begin), nullptr,
                                             /*allow_exceptions=*/false);
  if (!figures.is_object()) return fail(Kind::internal, "godwit-sim printed no figures for {}: {}{}", scenario, done.out, done.err);
  return figures;
}

Status add(Report& report, const std::string& name, const nlohmann::json& figures, const char* figure, Metric about) {
  if (!figures.contains(figure)) return fail(Kind::internal, "godwit-sim has no figure '{}'", figure);
  report.add(name, figures.at(figure).get<double>(), about.unit, about.reference);
  return ok();
}

}  // namespace

Status add_simulated_overlay(Report& report) {
  GW_TRY(const auto star, figures_of("star.toml"));
  GW_TRY_VOID(add(report, "leafset_rounds_10k", star, "leafset_rounds", {.unit = "count", .reference = "10,000 peers, star; goal: <= 25"}));
  GW_TRY(const auto traffic, figures_of("traffic.toml"));
  const Metric bytes{.unit = "count", .reference = "sent by each in a minute; goal: within 20 % of each other"};
  GW_TRY_VOID(add(report, "bytes_per_peer_min_100", traffic, "bytes_per_peer_minute_100", bytes));
  GW_TRY_VOID(add(report, "bytes_per_peer_min_1k", traffic, "bytes_per_peer_minute_1000", bytes));
  GW_TRY_VOID(add(report, "bytes_per_peer_min_10k", traffic, "bytes_per_peer_minute_10000", bytes));
  GW_TRY(const auto vivaldi, figures_of("vivaldi.toml"));
  return add(report, "vivaldi_median_error", vivaldi, "coordinate_error",
             {.unit = "ratio", .reference = "of round trips on a synthetic Internet with spikes; goal: <= 0.10"});
}

}  // namespace gw::bench
