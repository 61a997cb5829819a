#include "isolate/clock_gate.h"

#include <algorithm>

#include "os/clock.h"

namespace gw::isolate {

std::uint64_t SystemClock::now(Clock clock) {
  auto time = clock == Clock::realtime ? os::wall_now() : os::monotonic_now();
  return static_cast<std::uint64_t>(time.count());
}

Result<std::uint64_t> ClockGate::read(Clock clock) {
  if (replay_ != nullptr) return replay(clock);
  std::uint64_t value = clock == Clock::monotonic ? guest_monotonic() : host_.now(clock);
  if (record_ != nullptr) {
    if (record_->size() >= kMaxReadings)
      return fail(Kind::overloaded, "the recording of clock readings is full ({} readings)", kMaxReadings);
    record_->push_back({clock, value});
  }
  return value;
}

Result<std::uint64_t> ClockGate::replay(Clock clock) {
  if (replayed_ == replay_->size()) return fail(Kind::invalid, "the guest reads a clock more often than when it was recorded");
  const ClockReading& reading = (*replay_)[replayed_++];
  if (reading.clock != clock) return fail(Kind::invalid, "the guest reads another clock than when it was recorded");
  if (clock == Clock::monotonic) restore_monotonic(reading.value);
  return reading.value;
}

std::uint64_t ClockGate::guest_monotonic() {
  std::uint64_t host = host_.now(Clock::monotonic);
  if (!started_) {
    started_ = true;
    host_origin_ = host;
    guest_origin_ = last_ = 1;  // not 0, which means never read
  }
  std::uint64_t elapsed = host > host_origin_ ? host - host_origin_ : 0;
  last_ = std::max(last_, guest_origin_ + elapsed);
  return last_;
}

std::uint64_t ClockGate::host_time_of(std::uint64_t guest_time) const {
  return guest_time > guest_origin_ ? host_origin_ + (guest_time - guest_origin_) : host_origin_;
}

std::uint64_t ClockGate::saved_monotonic() {
  if (!started_) return 0;
  return replay_ != nullptr ? last_ : guest_monotonic();
}

void ClockGate::restore_monotonic(std::uint64_t guest_time) {
  if (guest_time == 0) return;
  started_ = true;
  host_origin_ = host_.now(Clock::monotonic);
  guest_origin_ = last_ = std::max(last_, guest_time);
}

}  // namespace gw::isolate
