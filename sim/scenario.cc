#include "scenario.h"

#include <toml++/toml.h>

#include <functional>
#include <map>

namespace gw::sim {
namespace {

using std::chrono::milliseconds;

using Setter = std::function<bool(Scenario&, const toml::node&)>;

Setter flag(bool Scenario::* field) {
  return [=](Scenario& scenario, const toml::node& node) {
    const auto value = node.value<bool>();
    if (value) scenario.*field = *value;
    return value.has_value();
  };
}

Setter number(std::uint32_t Scenario::* field, std::int64_t limit) {
  return [=](Scenario& scenario, const toml::node& node) {
    const auto value = node.value<std::int64_t>();
    if (!value || *value < 1 || *value > limit) return false;
    scenario.*field = static_cast<std::uint32_t>(*value);
    return true;
  };
}

Setter time(Time Scenario::* field) {
  return [=](Scenario& scenario, const toml::node& node) {
    const auto value = node.value<std::int64_t>();
    if (!value || *value < 1 || *value > 3'600'000) return false;
    scenario.*field = milliseconds(*value);
    return true;
  };
}

const std::map<std::string, Setter, std::less<>>& setters() {
  static const std::map<std::string, Setter, std::less<>> kSetters = {
      {"peers", number(&Scenario::peers, 100)},
      {"slots", number(&Scenario::slots, 64)},
      {"tasks", number(&Scenario::tasks, 1000)},
      {"wanted_slots", number(&Scenario::wanted_slots, 1000)},
      {"steps", number(&Scenario::steps, 10000)},
      {"step_ms", time(&Scenario::step)},
      {"checkpoint_every_ms", time(&Scenario::checkpoint_every)},
      {"fault_time_ms", time(&Scenario::fault_time)},
      {"heal_time_ms", time(&Scenario::heal_time)},
      {"keeper_patience_ms", time(&Scenario::keeper_patience)},
      {"jobs", number(&Scenario::jobs, 100)},
      {"liars", number(&Scenario::liars, 100)},
      {"graves", number(&Scenario::graves, 100)},
      {"faults", flag(&Scenario::faults)},
      {"pure", flag(&Scenario::pure)},
      {"cancelled", flag(&Scenario::cancelled)},
      {"home_dies", flag(&Scenario::home_dies)},
  };
  return kSetters;
}

}  // namespace

Result<Scenario> Scenario::read(const std::filesystem::path& file) {
  Scenario scenario;
  toml::table table;
  // The one place where the library's exceptions end.
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    return fail(Kind::invalid, "{}: {} (line {})", file.string(), error.description(), error.source().begin.line);
  }
  for (const auto& [key, node] : table) {
    const auto found = setters().find(key.str());
    if (found == setters().end()) return fail(Kind::invalid, "{}: there is no setting '{}'", file.string(), key.str());
    if (!found->second(scenario, node)) return fail(Kind::invalid, "{}: '{}' is out of range", file.string(), key.str());
  }
  if (scenario.jobs + scenario.graves + scenario.liars > scenario.peers)
    return fail(Kind::invalid, "{}: homes, liars and those who die are different peers: there are too few", file.string());
  return scenario;
}

FaultMix FaultMix::draw(Rng& rng) {
  FaultMix mix;
  const auto some = [&](double most) { return rng.below(2) == 0 ? 0.0 : most * static_cast<double>(1 + rng.below(100)) / 100; };
  mix.loss = some(0.2);
  mix.duplicate = some(0.2);
  mix.damage = some(0.1);
  mix.delay = milliseconds(1 + rng.below(rng.below(2) == 0 ? 10 : 80));
  mix.partition = some(0.05);
  mix.clog = some(0.2);
  mix.crash = some(0.15);
  mix.worker_crash = some(0.1);
  mix.pause = some(0.1);
  mix.disk = std::chrono::microseconds(100 + rng.below(rng.below(2) == 0 ? 500 : 30'000));
  return mix;
}

}  // namespace gw::sim
