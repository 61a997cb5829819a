#include "node/driver/machine_names.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

job::PeerId numbered_peer(std::size_t number) {
  job::PeerId peer;
  for (std::size_t i = 0; i < sizeof number; ++i) peer.hash.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return peer;
}

TEST(MachineNames, RemembersTheLastNameOfEachPeer) {
  MachineNames names;
  names.note(numbered_peer(1), "lab-1");
  names.note(numbered_peer(1), "");
  EXPECT_EQ(names.name_of(numbered_peer(1)), "lab-1") << "a peer that is gone has none";
  names.note(numbered_peer(1), "lab-one");
  EXPECT_EQ(names.name_of(numbered_peer(1)), "lab-one");
  EXPECT_EQ(names.name_of(numbered_peer(2)), "");
}

TEST(MachineNames, ForgetsThePeerThatWasFirstSeenWhenThereAreTooMany) {
  MachineNames names;
  for (std::size_t i = 0; i <= MachineNames::kMost; ++i) names.note(numbered_peer(i), "m");
  EXPECT_EQ(names.name_of(numbered_peer(0)), "");
  EXPECT_EQ(names.name_of(numbered_peer(1)), "m");
  EXPECT_EQ(names.name_of(numbered_peer(MachineNames::kMost)), "m");
}

}  // namespace
}  // namespace gw::node
