#pragma once
// The faults of one run: the probability of each kind, and the list of those that happened.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "outcome.h"

namespace gw::sim {

// The kinds of faults of a run and their rates. Each run leaves some kinds out, so that others have their effect (swarm testing).
struct FaultMix {
  // Probabilities per message.
  double loss = 0;
  double duplicate = 0;
  double damage = 0;  // of a blob on its way
  double delay_ms = 1;
  // Probabilities per node and second.
  double partition = 0;
  double clog = 0;
  double kill = 0;
  double power = 0;
  double worker_crash = 0;
  double pause = 0;
  double clock_jump = 0;
  double share_change = 0;
  double rot = 0;  // this and the next: only in scenarios with bad disks
  double disk_full = 0;
  double record_rot = 0;  // only in scenarios with bad records
  double stop = 0;        // of some node, per second: only in scenarios in which owners change their shares
  // Per machine: processor time, time on the wire, and clock drift.
  double cpu_us_per_input = 0;
  double cpu_us_per_kib = 0;
  double wire_us_per_kib = 0;
  double drift_ppm = 0;
  // The slowest operation of a disk.
  double disk_ms = 0.2;

  // If not 0, each node has its own limits, some of them tiny.
  double tiny_limits = 0;

  static FaultMix draw(Rng& rng);
  void draw_bad_disks(Rng& rng);
  void draw_bad_records(Rng& rng);
  void draw_slow(Rng& rng);
  void draw_shares(Rng& rng);
  // The mix after everything is healed.
  static FaultMix none() { return {}; }

  struct Field {
    std::string_view name;
    double FaultMix::* value;
  };
  static const std::vector<Field>& fields();
};

enum class FaultKind : std::uint8_t {
  kill,
  power,
  pause,
  worker_crash,
  clog,
  partition,
  clock_jump,
  share_change,
  rot,
  disk_full,
  stop,
  record_rot
};

// A fault. Its random choices follow from `seed`, so that it stays the same when earlier faults are left out.
struct Fault {
  Time at{0};
  FaultKind kind = FaultKind::kill;
  std::uint32_t node = 0;
  Time lasts{0};
  std::uint64_t seed = 0;
};

// A node crashes right after its action number `action` (gossip does not count), and starts again half a second later.
struct CrashPoint {
  std::uint32_t node = 0;
  std::uint64_t action = 0;
  FaultKind kind = FaultKind::kill;  // or power
};

// A run that can be repeated without its faults, or with some of them. As text: a line for each setting and each fault.
struct FaultScript {
  std::string scenario;  // a file
  std::uint64_t seed = 0;
  std::uint32_t peers = 0;  // 0: those of the scenario
  std::uint32_t tasks = 0;
  FaultMix mix;
  std::vector<Fault> faults;
  std::optional<CrashPoint> crash_point;

  std::string to_text() const;
  static Result<FaultScript> parse(std::string_view text);
  static Result<FaultScript> read(const std::filesystem::path& file);
};

}  // namespace gw::sim
