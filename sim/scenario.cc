#include "scenario.h"

#include "settings.h"

namespace gw::sim {
namespace {

using std::chrono::milliseconds;

const Settings<Scenario>& settings() {
  static const auto kSettings = Settings<Scenario>()
                                    .count("peers", &Scenario::peers, 100)
                                    .count("slots", &Scenario::slots, 64)
                                    .count("tasks", &Scenario::tasks, 10000)
                                    .count("wanted_slots", &Scenario::wanted_slots, 1000)
                                    .count("min_slots", &Scenario::min_slots, 1000)
                                    .flag("too_large", &Scenario::too_large)
                                    .flag("loss_policies", &Scenario::loss_policies)
                                    .count("steps", &Scenario::steps, 10000)
                                    .time("step_ms", &Scenario::step, milliseconds(1))
                                    .time("promote_after_ms", &Scenario::promote_after, milliseconds(1))
                                    .time("checkpoint_every_ms", &Scenario::checkpoint_every, milliseconds(1))
                                    .time("fault_time_ms", &Scenario::fault_time, milliseconds(1))
                                    .time("heal_time_ms", &Scenario::heal_time, milliseconds(1))
                                    .time("keeper_patience_ms", &Scenario::keeper_patience, milliseconds(1))
                                    .count("flaky", &Scenario::flaky, 10000)
                                    .count("retries", &Scenario::retries, 1000)
                                    .count("stop_after", &Scenario::stop_after, 10000)
                                    .count("jobs", &Scenario::jobs, 100)
                                    .count("liars", &Scenario::liars, 100)
                                    .count("walled", &Scenario::walled, 100)
                                    .count("members", &Scenario::members, 100)
                                    .count("byzantine", &Scenario::byzantine, 100)
                                    .count("saboteurs", &Scenario::saboteurs, 100)
                                    .count("graves", &Scenario::graves, 100)
                                    .count("strangers", &Scenario::strangers, 100)
                                    .count("inputs", &Scenario::inputs, 1000)
                                    .count("rounds", &Scenario::rounds, 1000)
                                    .flag("only_seeders", &Scenario::only_seeders)
                                    .flag("only_relays", &Scenario::only_relays)
                                    .flag("narrow", &Scenario::narrow)
                                    .flag("places", &Scenario::places)
                                    .flag("crafty", &Scenario::crafty)
                                    .flag("only_keepers", &Scenario::only_keepers)
                                    .flag("faults", &Scenario::faults)
                                    .flag("pure", &Scenario::pure)
                                    .flag("childless", &Scenario::childless)
                                    .flag("rows", &Scenario::rows)
                                    .flag("graph", &Scenario::graph)
                                    .flag("input", &Scenario::input)
                                    .flag("cancelled", &Scenario::cancelled)
                                    .flag("suspended", &Scenario::suspended)
                                    .flag("bad_disks", &Scenario::bad_disks)
                                    .flag("bad_records", &Scenario::bad_records)
                                    .flag("only_idlers", &Scenario::only_idlers)
                                    .flag("slow", &Scenario::slow)
                                    .flag("shares", &Scenario::shares)
                                    .flag("users", &Scenario::users)
                                    .flag("owners", &Scenario::owners)
                                    .flag("memory_limited", &Scenario::memory_limited)
                                    .flag("rigid", &Scenario::rigid)
                                    .time("end_by_ms", &Scenario::end_by, milliseconds(1))
                                    .flag("home_dies", &Scenario::home_dies);
  return kSettings;
}

}  // namespace

Result<Scenario> Scenario::read(const std::filesystem::path& file) {
  Scenario scenario;
  GW_TRY(const toml::table table, read_toml(file));
  GW_TRY_VOID(settings().fill(scenario, table, file));
  if (scenario.graph && !scenario.rows) return fail(Kind::invalid, "{}: a graph is in rows", file.string());
  if (scenario.peers_with_parts() > scenario.peers)
    return fail(Kind::invalid,
                "{}: homes, liars, saboteurs, strangers, Byzantine peers and those who die are different peers: there are too few",
                file.string());
  if (scenario.members > 0 && scenario.members < scenario.jobs)
    return fail(Kind::invalid, "{}: homes are members of the private grid", file.string());
  return scenario;
}

}  // namespace gw::sim
