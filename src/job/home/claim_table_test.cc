#include "job/home/claim_table.h"

#include <gtest/gtest.h>

#include <array>

#include "job/test/signers.h"

namespace gw::job {
namespace claim_table_test {

using test::id_of;

class Claims : public testing::Test {
 protected:
  Claims() {
    table_.add(id_of(1), {.claim = 1, .slots = 2});
    table_.add(id_of(2), {.claim = 2, .slots = 3});
  }

  ClaimTable table_;
};

TEST_F(Claims, TheOneWithTheMostFreeSlotsComesFirst) {
  EXPECT_EQ(table_.slots(), 5u);
  EXPECT_EQ(table_.with_free_slot({}), id_of(2));
  table_.attach(id_of(2), ThreadId{1});
  table_.attach(id_of(2), ThreadId{2});
  EXPECT_EQ(table_.with_free_slot({}), id_of(1));
  table_.detach(id_of(2), ThreadId{1});
  table_.attach(id_of(1), ThreadId{3});
  table_.attach(id_of(1), ThreadId{4});
  EXPECT_EQ(table_.with_free_slot({}), id_of(2));
  table_.remove(id_of(2));
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt);
  EXPECT_EQ(table_.slots(), 2u);
}

TEST_F(Claims, AnAvoidedPeerIsChosenLast) {
  const std::array avoid{id_of(2)};
  EXPECT_EQ(table_.with_free_slot(avoid), id_of(1));
  table_.remove(id_of(1));
  EXPECT_EQ(table_.with_free_slot(avoid), id_of(2));
}

TEST_F(Claims, RoomAheadIsBeyondTheSlots) {
  table_.remove(id_of(2));
  table_.attach(id_of(1), ThreadId{1});
  table_.attach(id_of(1), ThreadId{2});
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt);
  EXPECT_EQ(table_.with_room_ahead({}), std::nullopt);
  table_.set_extra_threads(id_of(1), 1);
  EXPECT_EQ(table_.with_room_ahead({}), id_of(1));
  table_.attach(id_of(1), ThreadId{3});
  EXPECT_EQ(table_.with_room_ahead({}), std::nullopt);
  table_.set_extra_threads(id_of(1), 0);
  table_.detach(id_of(1), ThreadId{1});
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt) << "two threads in two slots";
  table_.detach(id_of(1), ThreadId{2});
  EXPECT_EQ(table_.with_free_slot({}), id_of(1));
}

TEST_F(Claims, AHostThatRefusesGetsNoThreadUntilOneLeaves) {
  table_.remove(id_of(2));
  table_.set_extra_threads(id_of(1), 4);
  table_.attach(id_of(1), ThreadId{1});
  table_.limit(id_of(1));
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt);
  EXPECT_EQ(table_.with_room_ahead({}), std::nullopt);
  EXPECT_EQ(table_.find(id_of(1))->refusals, 0u) << "it has one";
  table_.detach(id_of(1), ThreadId{1});
  EXPECT_EQ(table_.with_free_slot({}), id_of(1));
  table_.limit(id_of(1));
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt) << "not even one";
  EXPECT_EQ(table_.find(id_of(1))->refusals, 1u);
  table_.unlimit(id_of(1));
  EXPECT_EQ(table_.with_free_slot({}), id_of(1));
}

TEST_F(Claims, DetachingFromARemovedClaimHasNoEffect) {
  table_.attach(id_of(1), ThreadId{1});
  table_.remove(id_of(1));
  table_.detach(id_of(1), ThreadId{1});
  EXPECT_EQ(table_.find(id_of(1)), nullptr);
  table_.clear();
  EXPECT_EQ(table_.slots(), 0u);
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt);
}

TEST(DrainedClaim, HasNoRoomAndKeepsItsThreads) {
  ClaimTable claims;
  const PeerId peer{sha256(as_bytes("a peer"))};
  claims.add(peer, {.claim = 1, .slots = 3});
  claims.attach(peer, ThreadId{1});
  claims.drain(peer);
  claims.set_extra_threads(peer, 5);
  EXPECT_EQ(claims.slots(), 0u);
  EXPECT_FALSE(claims.with_free_slot({}));
  EXPECT_FALSE(claims.with_room_ahead({}));
  EXPECT_EQ(claims.find(peer)->threads.size(), 1u);
  claims.remove(peer);
  EXPECT_EQ(claims.slots(), 0u);
}

}  // namespace claim_table_test
}  // namespace gw::job
