#include "node/disk/spare_room.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

TEST(SpareRoom, TakesRoomAndGivesItBack) {
  const os::TempDir folder = os::TempDir::make().value();
  SpareRoom spare(folder.path() / "spare");
  EXPECT_FALSE(spare.reserved());
  EXPECT_FALSE(spare.release()) << "there is nothing yet";
  ASSERT_TRUE(spare.reserve());
  EXPECT_TRUE(spare.reserved());
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "spare"), SpareRoom::kBytes);
  EXPECT_TRUE(spare.reserve()) << "it has it";
  EXPECT_TRUE(spare.release());
  EXPECT_FALSE(spare.reserved());
  EXPECT_GT(spare.free_bytes().value(), 0u);
}

TEST(SpareRoom, AnInterruptedStartLeavesNoReservation) {
  const os::TempDir folder = os::TempDir::make().value();
  ASSERT_TRUE(os::write_file_atomic(folder.path() / "spare", as_bytes("half")));
  SpareRoom spare(folder.path() / "spare");
  EXPECT_FALSE(spare.reserved());
  ASSERT_TRUE(spare.reserve());
  EXPECT_TRUE(spare.reserved());
}

}  // namespace
}  // namespace gw::node
