#include "isolate/wasi/clock_gate.h"

#include <algorithm>

#include "os/clock.h"

namespace gw::isolate {

std::uint64_t SystemClock::now(Clock clock) {
  auto time = clock == Clock::realtime ? os::wall_now() : os::monotonic_now();
  return static_cast<std::uint64_t>(time.count());
}

Result<std::uint64_t> ClockGate::read(Clock clock) {
  auto what = static_cast<std::uint32_t>(clock);
  GW_TRY(std::optional<std::uint64_t> recorded, determinants_.recorded(DeterminantKind::clock, what));
  if (recorded && clock == Clock::monotonic) restore_monotonic(*recorded);
  std::uint64_t value = recorded ? *recorded : clock == Clock::monotonic ? monotonic_now() : host_.now(clock);
  GW_TRY_VOID(determinants_.given(DeterminantKind::clock, what, value));
  return value;
}

std::uint64_t ClockGate::monotonic_now() {
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

void ClockGate::restore_monotonic(std::uint64_t guest_time) {
  if (guest_time == 0) return;
  started_ = true;
  host_origin_ = host_.now(Clock::monotonic);
  guest_origin_ = last_ = std::max(last_, guest_time);
}

void ClockGate::restart(std::uint64_t guest_time) {
  started_ = false;
  last_ = 0;
  restore_monotonic(guest_time);
}

}  // namespace gw::isolate
