#include "job/claim_table.h"

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

TEST_F(Claims, WhoIsToBeAvoidedComesLastButComes) {
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
  table_.set_ahead(id_of(1), 1);
  EXPECT_EQ(table_.with_room_ahead({}), id_of(1));
  table_.attach(id_of(1), ThreadId{3});
  EXPECT_EQ(table_.with_room_ahead({}), std::nullopt);
  table_.set_ahead(id_of(1), 0);
  table_.detach(id_of(1), ThreadId{1});
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt) << "two threads in two slots";
  table_.detach(id_of(1), ThreadId{2});
  EXPECT_EQ(table_.with_free_slot({}), id_of(1));
}

TEST_F(Claims, ThatAreGoneLoseNothingMore) {
  table_.attach(id_of(1), ThreadId{1});
  table_.remove(id_of(1));
  table_.detach(id_of(1), ThreadId{1});
  EXPECT_EQ(table_.find(id_of(1)), nullptr);
  table_.clear();
  EXPECT_EQ(table_.slots(), 0u);
  EXPECT_EQ(table_.with_free_slot({}), std::nullopt);
}

}  // namespace claim_table_test
}  // namespace gw::job
