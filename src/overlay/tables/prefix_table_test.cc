#include "overlay/tables/prefix_table.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "overlay/routing/key_space.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

// An id that begins with these two bytes.
Descriptor with(std::uint8_t first, std::uint8_t second, std::uint8_t last = 0) {
  Descriptor peer;
  peer.id.hash.bytes[0] = first;
  peer.id.hash.bytes[1] = second;
  peer.id.hash.bytes[31] = last;
  peer.address = "there:1";
  peer.incarnation = {1, 1};
  return peer;
}

TEST(PrefixTable, SortsByTheFirstDigitThatDiffers) {
  PrefixTable table(with(0x12, 0x34).id);
  EXPECT_EQ(table.offer(with(0x52, 0), 1), PrefixTable::Offered::filled);
  EXPECT_EQ(table.offer(with(0x15, 0), 1), PrefixTable::Offered::filled);
  ASSERT_EQ(table.next(with(0x5f, 0xff).id.hash).size(), 1u);
  EXPECT_EQ(table.next(with(0x5f, 0xff).id.hash)[0].peer.id, with(0x52, 0).id);
  EXPECT_EQ(table.next(with(0x15, 0xff).id.hash)[0].peer.id, with(0x15, 0).id);
  EXPECT_TRUE(table.next(with(0x12, 0x35).id.hash).empty());
}

TEST(PrefixTable, KeepsTheTwoNearestOfASlot) {
  PrefixTable table(with(0, 0).id);
  EXPECT_EQ(table.offer(with(0x51, 0), 0.3F), PrefixTable::Offered::filled);
  EXPECT_EQ(table.offer(with(0x52, 0), 0.1F), PrefixTable::Offered::added);
  EXPECT_EQ(table.offer(with(0x53, 0), 0.4F), PrefixTable::Offered::ignored);
  EXPECT_EQ(table.offer(with(0x54, 0), 0.2F), PrefixTable::Offered::added);
  ASSERT_EQ(table.entries().size(), 2u);
  EXPECT_EQ(table.entries()[0].peer.id, with(0x52, 0).id);
  EXPECT_EQ(table.entries()[1].peer.id, with(0x54, 0).id);
}

TEST(PrefixTable, TakesOnlyNewerDescriptorsAndUpdatesDistances) {
  PrefixTable table(with(0, 0).id);
  table.offer(with(0x51, 0), 0.1F);
  table.offer(with(0x52, 0), 0.2F);
  Descriptor moved = with(0x51, 0);
  EXPECT_EQ(table.offer(moved, 0.9F), PrefixTable::Offered::ignored);
  moved.incarnation.stamp = 2;
  EXPECT_EQ(table.offer(moved, 0.9F), PrefixTable::Offered::renewed);
  EXPECT_EQ(table.entries()[1].peer.incarnation.stamp, 2u);
  EXPECT_EQ(table.entries()[0].peer.id, with(0x52, 0).id);
}

TEST(PrefixTable, RefusesPeersThatCannotBeDialled) {
  PrefixTable table(with(0, 0).id);
  Descriptor hidden = with(0x51, 0);
  hidden.address.clear();
  EXPECT_EQ(table.offer(hidden, 0.1F), PrefixTable::Offered::ignored);
  table.offer(with(0x51, 0), 0.1F);
  hidden.incarnation.stamp = 2;
  table.offer(hidden, 0.1F);
  EXPECT_TRUE(table.entries().empty()) << "it said itself that it cannot be dialled any more";
}

TEST(PrefixTable, StaysBoundedAndInOrderUnderAnyOffers) {
  Rng rng(3);
  PrefixTable table(with(0, 0).id);
  for (int i = 0; i < 20000; ++i) {
    Descriptor peer = with(0, 0);
    // Long prefixes, as of an attacker that searches for ids.
    const std::size_t from = rng.below(12);
    for (std::size_t byte = from; byte < 32; ++byte) peer.id.hash.bytes[byte] = static_cast<std::uint8_t>(rng.next());
    table.offer(peer, static_cast<float>(rng.below(100)) / 100);
    if (rng.below(10) == 0 && !table.entries().empty()) table.remove(PeerId(table.entries()[rng.below(table.entries().size())].peer.id));
  }
  EXPECT_LE(table.entries().size(), PrefixTable::kRows * 15 * PrefixTable::kPerSlot);
  EXPECT_GT(table.entries().size(), 200u);
  for (std::size_t i = 1; i < table.entries().size(); ++i) {
    const PrefixTable::Entry& a = table.entries()[i - 1];
    const PrefixTable::Entry& b = table.entries()[i];
    EXPECT_LE(std::pair(a.slot, a.distance), std::pair(b.slot, b.distance));
    EXPECT_EQ(b.slot, PrefixTable::slot_of(with(0, 0).id, b.peer.id.hash));
    EXPECT_EQ(table.find(b.peer.id), &b.peer);
    if (i > 1) EXPECT_FALSE(table.entries()[i - 2].slot == b.slot) << "three in a slot";
  }
}

TEST(PrefixTable, NeverHoldsItsOwner) {
  PrefixTable table(with(1, 2).id);
  EXPECT_EQ(table.offer(with(1, 2), 0), PrefixTable::Offered::ignored);
  EXPECT_EQ(table.find(with(1, 2).id), nullptr);
  EXPECT_FALSE(table.remove(with(1, 2).id));
}

}  // namespace
}  // namespace gw::overlay
