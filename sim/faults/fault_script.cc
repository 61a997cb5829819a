#include "faults/fault_script.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <optional>
#include <sstream>

namespace gw::sim {
namespace {

// In the order of FaultKind.
constexpr std::array<std::string_view, 12> kKinds = {"kill",       "power",        "pause", "worker_crash", "clog", "partition",
                                                     "clock_jump", "share_change", "rot",   "disk_full",    "stop", "record_rot"};

std::optional<FaultKind> kind_of(std::string_view name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == name) return static_cast<FaultKind>(i);
  return std::nullopt;
}

bool read_fault(std::istringstream& words, FaultScript& script) {
  std::string kind;
  Fault fault;
  std::int64_t at = 0, lasts = 0;
  if (!(words >> at >> kind >> fault.node >> lasts >> fault.seed) || !kind_of(kind) || at < 0 || lasts < 0) return false;
  fault.at = Time(at);
  fault.lasts = Time(lasts);
  fault.kind = *kind_of(kind);
  script.faults.push_back(fault);
  return true;
}

bool read_mix(std::istringstream& words, FaultScript& script) {
  std::string name;
  double value = 0;
  if (!(words >> name >> value) || !(value >= 0)) return false;
  for (const FaultMix::Field& field : FaultMix::fields()) {
    if (field.name != name) continue;
    script.mix.*field.value = value;
    return true;
  }
  return false;
}

bool read_crash_point(std::istringstream& words, FaultScript& script) {
  std::string kind;
  CrashPoint point;
  if (!(words >> point.node >> point.action >> kind) || (kind != "kill" && kind != "power")) return false;
  point.kind = *kind_of(kind);
  script.crash_point = point;
  return true;
}

bool read_line(const std::string& line, FaultScript& script) {
  std::istringstream words(line);
  std::string key;
  if (!(words >> key)) return true;
  if (key == "scenario") return static_cast<bool>(words >> script.scenario);
  if (key == "seed") return static_cast<bool>(words >> script.seed);
  if (key == "peers") return static_cast<bool>(words >> script.peers);
  if (key == "tasks") return static_cast<bool>(words >> script.tasks);
  if (key == "mix") return read_mix(words, script);
  if (key == "crash_point") return read_crash_point(words, script);
  return key == "fault" && read_fault(words, script);
}

}  // namespace

const std::vector<FaultMix::Field>& FaultMix::fields() {
  static const std::vector<Field> kFields = {
      {"loss", &FaultMix::loss},
      {"duplicate", &FaultMix::duplicate},
      {"damage", &FaultMix::damage},
      {"delay_ms", &FaultMix::delay_ms},
      {"partition", &FaultMix::partition},
      {"clog", &FaultMix::clog},
      {"kill", &FaultMix::kill},
      {"power", &FaultMix::power},
      {"worker_crash", &FaultMix::worker_crash},
      {"pause", &FaultMix::pause},
      {"disk_ms", &FaultMix::disk_ms},
      {"clock_jump", &FaultMix::clock_jump},
      {"share_change", &FaultMix::share_change},
      {"rot", &FaultMix::rot},
      {"disk_full", &FaultMix::disk_full},
      {"stop", &FaultMix::stop},
      {"record_rot", &FaultMix::record_rot},
      {"cpu_us_per_input", &FaultMix::cpu_us_per_input},
      {"cpu_us_per_kib", &FaultMix::cpu_us_per_kib},
      {"wire_us_per_kib", &FaultMix::wire_us_per_kib},
      {"drift_ppm", &FaultMix::drift_ppm},
      {"tiny_limits", &FaultMix::tiny_limits},
  };
  return kFields;
}

FaultMix FaultMix::draw(Rng& rng) {
  FaultMix mix;
  const auto some = [&](double most) { return rng.below(2) == 0 ? 0.0 : most * static_cast<double>(1 + rng.below(100)) / 100; };
  const auto between = [&](double least, double usual, double most) {
    return least + (rng.below(2) == 0 ? usual : most) * static_cast<double>(rng.below(1000)) / 1000;
  };
  mix.loss = some(0.2);
  mix.duplicate = some(0.2);
  mix.damage = some(0.1);
  mix.delay_ms = between(1, 10, 80);
  mix.partition = some(0.05);
  mix.clog = some(0.2);
  mix.kill = some(0.1);
  mix.power = some(0.1);
  mix.worker_crash = some(0.1);
  mix.pause = some(0.1);
  mix.clock_jump = some(0.02);
  mix.share_change = some(0.05);
  mix.cpu_us_per_input = some(2000);
  mix.cpu_us_per_kib = some(500);
  mix.wire_us_per_kib = some(2000);
  mix.drift_ppm = some(1000);
  mix.tiny_limits = static_cast<double>(rng.below(2));
  mix.disk_ms = between(0.1, 0.5, 30);
  return mix;
}

void FaultMix::draw_bad_disks(Rng& rng) {
  rot = 0.1 * static_cast<double>(rng.below(100)) / 100;
  disk_full = 0.05 * static_cast<double>(rng.below(100)) / 100;
}

void FaultMix::draw_bad_records(Rng& rng) { record_rot = 0.05 * static_cast<double>(1 + rng.below(100)) / 100; }

// An answer takes longer than any retry, and nothing is lost.
void FaultMix::draw_slow(Rng& rng) {
  delay_ms = 200 + static_cast<double>(rng.below(600));
  cpu_us_per_input = static_cast<double>(rng.below(5000));
  disk_ms = static_cast<double>(1 + rng.below(300));
}

void FaultMix::draw_shares(Rng& rng) {
  share_change = 0.05 + 0.15 * static_cast<double>(rng.below(100)) / 100;
  stop = 0.2 * static_cast<double>(rng.below(100)) / 100;
}

std::string FaultScript::to_text() const {
  std::string text = fmt::format("scenario {}\nseed {}\n", scenario, seed);
  if (peers != 0) text += fmt::format("peers {}\n", peers);
  if (tasks != 0) text += fmt::format("tasks {}\n", tasks);
  for (const FaultMix::Field& field : FaultMix::fields())
    if (mix.*field.value != FaultMix::none().*field.value) text += fmt::format("mix {} {}\n", field.name, mix.*field.value);
  if (crash_point)
    text +=
        fmt::format("crash_point {} {} {}\n", crash_point->node, crash_point->action, kKinds[static_cast<std::size_t>(crash_point->kind)]);
  for (const Fault& fault : faults)
    text += fmt::format("fault {} {} {} {} {}\n", fault.at.count(), kKinds[static_cast<std::size_t>(fault.kind)], fault.node,
                        fault.lasts.count(), fault.seed);
  return text;
}

Result<FaultScript> FaultScript::parse(std::string_view text) {
  FaultScript script;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number)
    if (!read_line(line, script)) return fail(Kind::invalid, "line {} is no setting and no fault: '{}'", number, line);
  if (script.scenario.empty()) return fail(Kind::invalid, "the script names no scenario");
  return script;
}

Result<FaultScript> FaultScript::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return fail(Kind::not_found, "{} cannot be read", file.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return parse(text.str());
}

}  // namespace gw::sim
