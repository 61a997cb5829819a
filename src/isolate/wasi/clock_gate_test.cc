#include "isolate/wasi/clock_gate.h"

#include <gtest/gtest.h>

namespace gw::isolate {
namespace {

class FakeGateClock final : public HostClock {
 public:
  std::uint64_t now(Clock clock) override { return clock == Clock::realtime ? realtime : monotonic; }
  std::uint64_t realtime = 1'700'000'000'000'000'000;
  std::uint64_t monotonic = 5'000;
};

// Plays back what it has, then notes what is new.
class GateTape final : public Determinants {
 public:
  Result<std::optional<std::uint64_t>> recorded(DeterminantKind kind, std::uint32_t what) override {
    if (next == readings.size()) return std::optional<std::uint64_t>();
    if (kind != DeterminantKind::clock || readings[next].first != what) return fail(Kind::guest_fault, "something else was asked here");
    return std::optional(readings[next].second);
  }
  Status given(DeterminantKind, std::uint32_t what, std::uint64_t value) override {
    if (next == readings.size()) readings.emplace_back(what, value);
    next++;
    return ok();
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> readings;
  std::size_t next = 0;
};

LiveDeterminants live;

TEST(ClockGate, StartsNearZeroAndFollowsTheHost) {
  FakeGateClock host;
  ClockGate gate(host, live);
  EXPECT_EQ(*gate.read(Clock::monotonic), 1u);
  host.monotonic += 100;
  EXPECT_EQ(*gate.read(Clock::monotonic), 101u);
  EXPECT_EQ(*gate.read(Clock::realtime), host.realtime);
}

TEST(ClockGate, NeverGoesBackAfterAMove) {
  FakeGateClock here;
  ClockGate before(here, live);
  (void)before.read(Clock::monotonic);
  here.monotonic += 1'000'000;
  std::uint64_t saved = before.saved_monotonic();
  EXPECT_EQ(saved, 1'000'001u);

  FakeGateClock there;
  there.monotonic = 7;  // booted just now
  ClockGate after(there, live);
  after.restore_monotonic(saved);
  EXPECT_EQ(*after.read(Clock::monotonic), saved);
  there.monotonic = 3;  // a host clock that misbehaves
  EXPECT_EQ(*after.read(Clock::monotonic), saved);
  there.monotonic = 17;
  EXPECT_EQ(*after.read(Clock::monotonic), saved + 10);
  EXPECT_EQ(after.host_time_of(saved + 100), 107u);
}

TEST(ClockGate, SavesNothingForAGuestWithoutClocks) {
  FakeGateClock host;
  ClockGate gate(host, live);
  (void)gate.read(Clock::realtime);
  EXPECT_EQ(gate.saved_monotonic(), 0u);
}

TEST(ClockGate, ReplaysTheRecordThenReadsTheClock) {
  FakeGateClock host;
  GateTape tape;
  ClockGate first(host, tape);
  std::vector<std::uint64_t> seen;
  for (Clock clock : {Clock::monotonic, Clock::realtime, Clock::monotonic}) {
    seen.push_back(*first.read(clock));
    host.monotonic += 11, host.realtime += 13;
  }

  tape.next = 0;
  FakeGateClock later;
  later.monotonic = 999, later.realtime = 1;
  ClockGate again(later, tape);
  EXPECT_EQ(*again.read(Clock::monotonic), seen[0]);
  EXPECT_EQ(*again.read(Clock::realtime), seen[1]);
  EXPECT_EQ(*again.read(Clock::monotonic), seen[2]);
  later.monotonic += 5;
  EXPECT_EQ(*again.read(Clock::monotonic), seen[2] + 5);
  EXPECT_EQ(tape.readings.size(), 4u);
}

TEST(ClockGate, RefusesAReplayThatTakesAnotherPath) {
  FakeGateClock host;
  GateTape tape;
  tape.readings = {{0, 5}};
  ClockGate gate(host, tape);
  EXPECT_FALSE(gate.read(Clock::monotonic));
}

TEST(ClockGate, DoesNotRecordWhatOnlyTheHostLooksAt) {
  FakeGateClock host;
  GateTape tape;
  ClockGate gate(host, tape);
  EXPECT_EQ(gate.monotonic_now(), 1u);
  EXPECT_TRUE(tape.readings.empty());
}

}  // namespace
}  // namespace gw::isolate
