#include "group/scenario.h"

#include "settings.h"

namespace gw::sim::group_simulation {
namespace {

using std::chrono::seconds;

const Settings<Scenario>& settings() {
  static const auto kSettings = Settings<Scenario>()
                                    .custom("world", [](Scenario&, const toml::node& node) { return node.value<std::string>() == "group"; })
                                    .count("peers", &Scenario::peers, 20)
                                    .count("members", &Scenario::members, 3)
                                    .flag("changes", &Scenario::changes)
                                    .time("fault_time_s", &Scenario::fault_time, seconds(1))
                                    .time("heal_time_s", &Scenario::heal_time, seconds(1));
  return kSettings;
}

}  // namespace

Result<Scenario> Scenario::read(const std::filesystem::path& file) {
  Scenario scenario;
  GW_TRY(const toml::table table, read_toml(file));
  GW_TRY_VOID(settings().fill(scenario, table, file));
  if (scenario.peers < scenario.members) return fail(Kind::invalid, "{}: fewer peers than members", file.string());
  return scenario;
}

}  // namespace gw::sim::group_simulation
