#pragma once
// The only door through which time reaches a guest.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace gw::isolate {

enum class Clock : std::uint8_t { realtime = 0, monotonic = 1 };

// Nanoseconds, as WASI counts them.
class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual std::uint64_t now(Clock clock) = 0;
};

// The clocks of this machine.
class SystemClock final : public HostClock {
 public:
  std::uint64_t now(Clock clock) override;
};

struct ClockReading {
  Clock clock;
  std::uint64_t value;
  bool operator==(const ClockReading&) const = default;
};
using ClockLog = std::vector<ClockReading>;

// Hands the host's time to one guest, and can record every reading or give back recorded ones, so that a run can be repeated exactly.
//
// The guest's monotonic clock starts near zero, goes on from where it was after a move, and never goes back, not even when the host's does.
// Its value is the one thing of the gate that moves with the image.
//
// Belongs to the isolate's pool thread. A recording holds at most kMaxReadings; the reading after that fails.
class ClockGate {
 public:
  static constexpr std::size_t kMaxReadings = 1u << 20;

  explicit ClockGate(HostClock& host) : host_(host) {}

  // REQUIRES: nothing has been read yet. `log` outlives the gate.
  void record_to(ClockLog& log) { record_ = &log; }
  void replay_from(const ClockLog& log) { replay_ = &log; }

  // Every reading goes through here. Fails if a replayed guest asks something else than it did when it was recorded.
  Result<std::uint64_t> read(Clock clock);

  // The host's monotonic time at which the guest's clock will show `guest_time`.
  std::uint64_t host_time_of(std::uint64_t guest_time) const;

  // 0 as long as the guest has never asked for the monotonic time, so that the image of a guest without clocks does not depend on them.
  std::uint64_t saved_monotonic();
  void restore_monotonic(std::uint64_t guest_time);

 private:
  std::uint64_t guest_monotonic();
  Result<std::uint64_t> replay(Clock clock);

  HostClock& host_;
  ClockLog* record_ = nullptr;
  const ClockLog* replay_ = nullptr;
  std::size_t replayed_ = 0;
  bool started_ = false;            // the monotonic clock has been read, here or before a move
  std::uint64_t host_origin_ = 0;   // host time at which ...
  std::uint64_t guest_origin_ = 0;  // ... the guest's clock showed this
  std::uint64_t last_ = 0;          // latest monotonic value given out
};

}  // namespace gw::isolate
