#include "node/probe.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

TEST(Probe, TellsVersionAndClock) {
  const auto answer = answer_probe(make_probe(), "1.2");
  ASSERT_TRUE(answer) << answer.error().detail;
  const auto view = read_probe_answer(*answer, std::chrono::milliseconds(3));
  ASSERT_TRUE(view) << view.error().detail;
  EXPECT_EQ(view->round_trip, std::chrono::milliseconds(3));
  EXPECT_EQ(view->version, "1.2");
  EXPECT_LT(std::chrono::abs(view->clock_ahead), std::chrono::hours(1)) << "both are this machine's clock";
}

TEST(Probe, NothingElseIsAnswered) {
  EXPECT_EQ(answer_probe({}, "1").error().kind, Kind::unsupported);
  EXPECT_EQ(answer_probe(as_bytes("godwit probe 2"), "1").error().kind, Kind::unsupported);
}

TEST(Probe, NonsenseIsNoAnswer) {
  EXPECT_EQ(read_probe_answer(as_bytes("\xff\xff"), {}).error().kind, Kind::corrupt);
  const auto wordy = answer_probe(make_probe(), std::string(1000, 'v'));
  EXPECT_EQ(read_probe_answer(*wordy, {}).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::node
