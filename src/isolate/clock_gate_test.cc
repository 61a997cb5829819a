#include "isolate/clock_gate.h"

#include <gtest/gtest.h>

namespace gw::isolate {
namespace {

class FakeClock final : public HostClock {
 public:
  std::uint64_t now(Clock clock) override { return clock == Clock::realtime ? realtime : monotonic; }
  std::uint64_t realtime = 1'700'000'000'000'000'000;
  std::uint64_t monotonic = 5'000;
};

TEST(ClockGate, StartsNearZeroAndFollowsTheHost) {
  FakeClock host;
  ClockGate gate(host);
  EXPECT_EQ(*gate.read(Clock::monotonic), 1u);
  host.monotonic += 100;
  EXPECT_EQ(*gate.read(Clock::monotonic), 101u);
  EXPECT_EQ(*gate.read(Clock::realtime), host.realtime);
}

TEST(ClockGate, NeverGoesBackAfterAMove) {
  FakeClock here;
  ClockGate before(here);
  (void)before.read(Clock::monotonic);
  here.monotonic += 1'000'000;
  std::uint64_t saved = before.saved_monotonic();
  EXPECT_EQ(saved, 1'000'001u);

  FakeClock there;
  there.monotonic = 7;  // booted just now
  ClockGate after(there);
  after.restore_monotonic(saved);
  EXPECT_EQ(*after.read(Clock::monotonic), saved);
  there.monotonic = 3;  // a host clock that misbehaves
  EXPECT_EQ(*after.read(Clock::monotonic), saved);
  there.monotonic = 17;
  EXPECT_EQ(*after.read(Clock::monotonic), saved + 10);
  EXPECT_EQ(after.host_time_of(saved + 100), 107u);
}

TEST(ClockGate, SavesNothingForAGuestWithoutClocks) {
  FakeClock host;
  ClockGate gate(host);
  (void)gate.read(Clock::realtime);
  EXPECT_EQ(gate.saved_monotonic(), 0u);
}

TEST(ClockGate, ReplaysWhatItRecorded) {
  FakeClock host;
  ClockLog log;
  ClockGate recorder(host);
  recorder.record_to(log);
  std::vector<std::uint64_t> seen;
  for (Clock clock : {Clock::monotonic, Clock::realtime, Clock::monotonic}) {
    seen.push_back(*recorder.read(clock));
    host.monotonic += 11, host.realtime += 13;
  }

  FakeClock later;
  later.monotonic = 999, later.realtime = 1;
  ClockGate player(later);
  player.replay_from(log);
  EXPECT_EQ(*player.read(Clock::monotonic), seen[0]);
  EXPECT_EQ(*player.read(Clock::realtime), seen[1]);
  EXPECT_EQ(*player.read(Clock::monotonic), seen[2]);
  EXPECT_EQ(player.read(Clock::monotonic).error().detail, "the guest reads a clock more often than when it was recorded");
}

TEST(ClockGate, RefusesAReplayThatTakesAnotherPath) {
  FakeClock host;
  ClockLog log = {{Clock::realtime, 5}};
  ClockGate player(host);
  player.replay_from(log);
  EXPECT_FALSE(player.read(Clock::monotonic));
}

TEST(ClockGate, BoundsARecording) {
  FakeClock host;
  ClockLog log(ClockGate::kMaxReadings, ClockReading{Clock::realtime, 0});
  ClockGate recorder(host);
  recorder.record_to(log);
  EXPECT_EQ(recorder.read(Clock::realtime).error().kind, Kind::overloaded);
}

}  // namespace
}  // namespace gw::isolate
