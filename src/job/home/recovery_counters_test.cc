#include "job/home/recovery_counters.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace gw::job {
namespace {

PeerId peer_of(std::size_t number) { return {sha256(as_bytes(std::to_string(number)))}; }

// The record of the counters is written again with each change, and a job may meet any number of peers.
TEST(RecoveryCounters, RemembersThePeersThatChangedLast) {
  RecoveryCounters counters;
  for (std::size_t i = 0; i < RecoveryCounters::kMostPeers; ++i) counters.on_lost(peer_of(i), {});
  counters.on_finished(peer_of(0));
  counters.on_taken(peer_of(RecoveryCounters::kMostPeers), RecoveryCounters::From::image);
  EXPECT_EQ(counters.peers().size(), RecoveryCounters::kMostPeers);
  EXPECT_TRUE(counters.peers().contains(peer_of(0)));
  EXPECT_FALSE(counters.peers().contains(peer_of(1)));
  EXPECT_EQ(counters.record().lost(), RecoveryCounters::kMostPeers) << "the sums are of all";
  EXPECT_EQ(RecoveryCounters(counters.record()).peers().size(), RecoveryCounters::kMostPeers);
}

}  // namespace
}  // namespace gw::job
