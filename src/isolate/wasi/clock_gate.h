#pragma once
// The only source of time for a guest.

#include <cstdint>

#include "base/result.h"
#include "isolate/determinants.h"

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

// Gives the host's time to one guest. Each reading is a determinant: recorded, and in a replay taken from the record.
//
// The guest's monotonic clock starts near zero, continues from its value after a move, and never goes back, not even when the host's does.
// Only its value is saved in the image.
//
// Belongs to the isolate's pool thread.
class ClockGate {
 public:
  ClockGate(HostClock& host, Determinants& determinants) : host_(host), determinants_(determinants) {}

  // Every time that the guest reads goes through here. Fails if a replayed guest makes another call than in the recorded run.
  Result<std::uint64_t> read(Clock clock);

  // The guest's monotonic time, for the host: not recorded, so nothing the guest can notice may depend on it.
  std::uint64_t monotonic_now();

  // The host's monotonic time at which the guest's clock will show `guest_time`.
  std::uint64_t host_time_of(std::uint64_t guest_time) const;

  // 0 as long as the guest has never asked for the monotonic time, so that the image of a guest without clocks does not depend on them.
  std::uint64_t saved_monotonic() { return started_ ? monotonic_now() : 0; }
  void restore_monotonic(std::uint64_t guest_time);
  // Begins again with another guest, whose clock shows `guest_time`; 0: it has never asked.
  void restart(std::uint64_t guest_time);

 private:
  HostClock& host_;
  Determinants& determinants_;
  bool started_ = false;            // the monotonic clock has been read, here or before a move
  std::uint64_t host_origin_ = 0;   // host time at which ...
  std::uint64_t guest_origin_ = 0;  // ... the guest's clock showed this
  std::uint64_t last_ = 0;          // latest monotonic value given out
};

}  // namespace gw::isolate
