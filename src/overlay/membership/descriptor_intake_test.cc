#include "overlay/membership/descriptor_intake.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

constexpr Time kIntakeTime = std::chrono::seconds(100);

class DescriptorIntakeTest : public testing::Test {
 protected:
  wire::pb::Descriptor message_of(const Descriptor& descriptor) {
    wire::pb::Descriptor message;
    write(descriptor, message);
    return message;
  }

  const GridId grid_{};
  const PeerId self_ = test_id(1);
  const TestSigner signer_;
  const std::optional<MembershipFilter> open_;
  Rng rng_{7};
  PeerTables tables_{{}, self_, rng_};
  Rejoin rejoin_{{}, "", {}, rng_};
  DescriptorIntake intake_{{grid_, self_, signer_, open_, tables_, rejoin_}};
  Output out_;
};

TEST_F(DescriptorIntakeTest, StoresADescriptorThatItsOwnerSigned) {
  intake_.learn(kIntakeTime, message_of(test_peer(2)), out_);
  EXPECT_NE(tables_.find(test_id(2)), nullptr);
}

TEST_F(DescriptorIntakeTest, RefusesForgedDescriptorsWithoutBlamingTheirCarrier) {
  Descriptor forged = test_peer(2);
  forged.address = "elsewhere:1";
  intake_.learn(kIntakeTime, message_of(forged), out_);
  EXPECT_EQ(tables_.find(test_id(2)), nullptr);
  EXPECT_TRUE(out_.events.empty());
}

TEST_F(DescriptorIntakeTest, StoresNoDescriptorOfThisPeer) {
  intake_.learn(kIntakeTime, message_of(test_peer(1)), out_);
  EXPECT_TRUE(tables_.all().empty());
}

TEST_F(DescriptorIntakeTest, ReportsASenderThatDescribesItselfWrongly) {
  EXPECT_FALSE(intake_.learn_sender(kIntakeTime, test_id(3), message_of(test_peer(2)), out_));
  ASSERT_EQ(out_.events.size(), 1u);
  EXPECT_EQ(std::get<Refused>(out_.events.front()).peer, test_id(3));
  EXPECT_EQ(tables_.find(test_id(2)), nullptr);
}

TEST_F(DescriptorIntakeTest, TakesTheSendersOwnDescriptorAsFresh) {
  Descriptor old = test_peer(2);
  old.age = 9;
  const auto sender = intake_.learn_sender(kIntakeTime, test_id(2), message_of(old), out_);
  ASSERT_TRUE(sender);
  EXPECT_EQ(sender->age, 0);
  EXPECT_NE(tables_.find(test_id(2)), nullptr);
}

}  // namespace
}  // namespace gw::overlay
