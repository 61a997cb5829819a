#include "faults/shrinker.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gw::sim {
namespace {

FaultScript script_of(std::size_t faults) {
  FaultScript script{.scenario = "x.toml", .seed = 7, .peers = 8, .tasks = 16};
  script.mix.loss = 0.1;
  script.mix.power = 0.25;
  for (std::size_t i = 0; i < faults; ++i)
    script.faults.push_back(
        {.at = Time(i), .kind = FaultKind::power, .node = static_cast<std::uint32_t>(i % 8), .lasts = Time(5), .seed = i});
  return script;
}

bool has_fault(const FaultScript& script, std::uint64_t seed) {
  return std::ranges::any_of(script.faults, [&](const Fault& fault) { return fault.seed == seed; });
}

TEST(Shrinker, LeavesTheFaultsThatTheFailureNeeds) {
  const FaultScript small = shrink(script_of(50), 1000, [](const FaultScript& script) {
    return has_fault(script, 3) && has_fault(script, 41) && script.peers >= 3 && script.mix.power > 0;
  });
  EXPECT_EQ(small.faults.size(), 2u);
  EXPECT_EQ(small.peers, 3u);
  EXPECT_EQ(small.tasks, 1u);
  EXPECT_EQ(small.mix.loss, 0);
  EXPECT_EQ(small.mix.power, 0.25);
}

TEST(Shrinker, StopsAfterTheGivenRuns) {
  std::size_t runs = 0;
  shrink(script_of(50), 10, [&](const FaultScript&) {
    ++runs;
    return false;  // nothing can be left out, so every attempt costs a run
  });
  EXPECT_EQ(runs, 10u);
}

TEST(FaultScript, IsReadBackAsItWasWritten) {
  const FaultScript script = script_of(3);
  const auto read = FaultScript::parse(script.to_text());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->to_text(), script.to_text());
  EXPECT_EQ(read->faults[2].at, Time(2));
  EXPECT_FALSE(FaultScript::parse("scenario x\nfault 1 earthquake 0 0 0\n").has_value());
  EXPECT_FALSE(FaultScript::parse("seed 1\n").has_value());
}

}  // namespace
}  // namespace gw::sim
