#include "job/placing/peer_history.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace {

using test::id_of;

TEST(PeerHistory, ASpeedFollowsItsMeasurements) {
  PeerHistory history({});
  EXPECT_EQ(history.speed_of(id_of(1)), 0);
  history.note_speed(id_of(1), 2);
  EXPECT_EQ(history.speed_of(id_of(1)), 2);
  history.note_speed(id_of(1), 1);
  EXPECT_NEAR(history.speed_of(id_of(1)), 1.8, 1e-9);
}

TEST(PeerHistory, WorkThatWasLostCountsAgainstAPeer) {
  PeerHistory history({});
  EXPECT_EQ(history.success_of(id_of(1)), 1);
  history.note_work(id_of(1), 99, 0);
  history.note_work(id_of(2), 0, 3);
  EXPECT_EQ(history.success_of(id_of(1)), 1);
  EXPECT_EQ(history.success_of(id_of(2)), 0.25);
}

TEST(PeerHistory, ThePeerOfWhichNothingWasNotedForLongestIsForgotten) {
  PeerHistory history({.peers = 2});
  history.note_speed(id_of(1), 1);
  history.note_speed(id_of(2), 1);
  history.note_work(id_of(1), 1, 0);
  history.note_speed(id_of(3), 1);
  EXPECT_EQ(history.size(), 2u);
  EXPECT_EQ(history.speed_of(id_of(1)), 1);
  EXPECT_EQ(history.speed_of(id_of(2)), 0);
}

}  // namespace
}  // namespace gw::job
