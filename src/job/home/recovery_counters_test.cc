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

// Each peer of a large grid that had no slot for the job was written to the disk with all others, and displaced one that worked.
TEST(RecoveryCounters, PeersThatOnlyRefuseAreFewAndNotWritten) {
  RecoveryCounters counters;
  counters.on_finished(peer_of(0));
  EXPECT_TRUE(counters.take_changed());
  for (std::size_t i = 0; i < 2 * RecoveryCounters::kMostPeers; ++i) counters.on_refused(peer_of(i), std::string(512, 'x'));
  EXPECT_FALSE(counters.take_changed());
  EXPECT_EQ(counters.peers().size(), RecoveryCounters::kMostRefusing);
  EXPECT_EQ(counters.peers().at(peer_of(0)).finished, 1u);
  EXPECT_EQ(counters.peers().at(peer_of(1)).failure.size(), 300u);
  counters.on_finished(peer_of(1));
  EXPECT_TRUE(counters.take_changed()) << "it is known after a restart, when what has finished is counted again";
}

}  // namespace
}  // namespace gw::job
