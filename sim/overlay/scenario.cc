#include "overlay/scenario.h"

#include "settings.h"

namespace gw::sim::overlay_simulation {
namespace {

using std::chrono::seconds;

// { at_most = 25 } or { at_least = 0.95 }
bool read_goal(Scenario& scenario, std::string_view figure, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr || table->size() != 1) return false;
  const auto& [side, limit] = *table->begin();
  if (side.str() != "at_most" && side.str() != "at_least") return false;
  const auto value = limit.value<double>();
  if (value) scenario.goals.push_back({std::string(figure), side.str() == "at_most" ? Goal::Side::at_most : Goal::Side::at_least, *value});
  return value.has_value();
}

bool read_goals(Scenario& scenario, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return false;
  for (const auto& [figure, goal] : *table)
    if (!read_goal(scenario, figure.str(), goal)) return false;
  return true;
}

bool read_sizes(Scenario& scenario, const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return false;
  for (const toml::node& entry : *array) {
    const auto size = entry.value<std::int64_t>();
    if (!size || *size < 2 || *size > 20'000) return false;
    scenario.sizes.push_back(static_cast<std::uint32_t>(*size));
  }
  return true;
}

const Settings<Scenario>& settings() {
  static const auto kSettings =
      Settings<Scenario>()
          .custom("world", [](Scenario&, const toml::node& node) { return node.value<std::string>() == "overlay"; })
          .count("peers", &Scenario::peers, 20'000)
          .time("duration_s", &Scenario::duration, seconds(1))
          .time("start_s", &Scenario::start, seconds(1))
          .number("loss", &Scenario::loss, 1)
          .number("duplicate", &Scenario::duplicate, 1)
          .number("spikes", &Scenario::spikes, 1)
          .number("outbound", &Scenario::outbound, 1)
          .number("liars", &Scenario::liars, 1)
          .number("churn_per_minute", &Scenario::churn_per_minute, 1)
          .number("killed", &Scenario::killed, 1)
          .time("killed_at_s", &Scenario::killed_at, seconds(1))
          .time("split_at_s", &Scenario::split_at, seconds(1))
          .time("split_for_s", &Scenario::split_for, seconds(1))
          .number("busy", &Scenario::busy, 1)
          .number("requests_per_second", &Scenario::requests_per_second, 1000)
          .time("requests_from_s", &Scenario::requests_from, seconds(1))
          .time("bytes_from_s", &Scenario::bytes_from, seconds(1))
          .flag("swarm", &Scenario::swarm)
          .flag("until_good", &Scenario::until_good)
          .flag("beside_honest", &Scenario::beside_honest)
          .custom("sizes", read_sizes)
          .custom("goals", read_goals)
          .custom("churn_trace", [](Scenario& scenario, const toml::node& node) {
            scenario.churn_trace = node.value_or(std::string());
            return !scenario.churn_trace.empty();
          });
  return kSettings;
}

}  // namespace

bool meets(const Goal& goal, const Figures& figures) {
  const auto figure = figures.find(goal.figure);
  if (figure == figures.end()) return false;
  return goal.side == Goal::Side::at_most ? figure->second <= goal.limit : figure->second >= goal.limit;
}

Result<Scenario> Scenario::read(const std::filesystem::path& file) {
  Scenario scenario;
  GW_TRY(const toml::table table, read_toml(file));
  GW_TRY_VOID(settings().fill(scenario, table, file));
  if (scenario.peers < 2) return fail(Kind::invalid, "{}: an overlay needs at least two peers", file.string());
  if (!scenario.churn_trace.empty()) scenario.churn_trace = (file.parent_path() / scenario.churn_trace).string();
  return scenario;
}

FaultMix FaultMix::draw(Rng& rng) {
  FaultMix mix;
  const auto some = [&](double most) { return rng.below(2) == 0 ? 0.0 : most * static_cast<double>(1 + rng.below(100)) / 100; };
  mix.loss = some(0.3);
  mix.duplicate = some(0.2);
  mix.outbound = some(0.6);
  mix.liars = some(0.15);
  mix.slow = some(0.2);
  mix.drift = some(0.5);
  mix.crash = some(0.01);
  mix.power_cut = some(0.005);
  mix.pause = some(0.01);
  mix.cut = some(0.03);
  return mix;
}

}  // namespace gw::sim::overlay_simulation
