#include "transport/admission.h"

#include <gtest/gtest.h>

#include "transport/connection/duplicate.h"

namespace gw::transport {
namespace {

using Stage = Admission::Stage;

TEST(Admission, LimitsOneAddressNotTheOthers) {
  Admission admission({.per_address = 2});
  ASSERT_TRUE(admission.admit("a"));
  ASSERT_TRUE(admission.admit("a"));
  EXPECT_EQ(admission.admit("a").error().kind, Kind::overloaded);
  EXPECT_TRUE(admission.admit("b"));
  admission.release("a", Stage::handshake);
  EXPECT_TRUE(admission.admit("a"));
}

TEST(Admission, LimitsConnectionsInTheHandshake) {
  Admission admission({.handshakes = 1});
  ASSERT_TRUE(admission.admit("a"));
  EXPECT_FALSE(admission.admit("b"));
  admission.on_authenticated("a");
  EXPECT_TRUE(admission.admit("b"));
  admission.release("a", Stage::authenticated);
  EXPECT_FALSE(admission.admit("c")) << "b is still in its handshake";
}

TEST(Admission, OneAddressCannotKeepOthersFromTheirHandshakes) {
  Admission admission({.handshakes = 3, .handshakes_per_address = 2});
  ASSERT_TRUE(admission.admit("a"));
  ASSERT_TRUE(admission.admit("a"));
  EXPECT_FALSE(admission.admit("a"));
  EXPECT_TRUE(admission.admit("b"));
  EXPECT_TRUE(admission.full_of_handshakes());
  admission.on_authenticated("a");
  EXPECT_TRUE(admission.admit("a"));
}

TEST(Admission, LimitsAll) {
  Admission admission({.connections = 1});
  ASSERT_TRUE(admission.admit("a"));
  admission.on_authenticated("a");
  EXPECT_FALSE(admission.admit("b"));
  admission.release("a", Stage::authenticated);
  EXPECT_TRUE(admission.admit("b"));
}

TEST(Duplicate, BothSidesKeepTheSameOne) {
  PeerId small{}, large{};
  large.bytes[0] = 1;
  Candidate by_small{small, 1, Way::direct}, by_large{large, 1, Way::direct};
  // In any order, which may differ between the two sides, the connection dialled by the smaller id stays.
  EXPECT_TRUE(replaces(by_small, by_large));
  EXPECT_FALSE(replaces(by_large, by_small));
}

TEST(Duplicate, ASecondDialOfTheSameSideReplacesTheFirst) {
  PeerId small{}, large{};
  large.bytes[0] = 1;
  EXPECT_TRUE(replaces({large, 1, Way::direct}, {large, 1, Way::direct}));
  EXPECT_TRUE(replaces({large, 2, Way::direct}, {small, 1, Way::direct})) << "a later life of the peer";
  EXPECT_FALSE(replaces({small, 1, Way::direct}, {large, 2, Way::direct})) << "something late from an earlier life";
}

TEST(Duplicate, ADirectConnectionReplacesARelayedOneOfEitherSide) {
  PeerId small{}, large{};
  large.bytes[0] = 1;
  EXPECT_TRUE(replaces({large, 1, Way::direct}, {small, 1, Way::relayed}));
  EXPECT_FALSE(replaces({small, 1, Way::relayed}, {large, 1, Way::reverse}));
  EXPECT_TRUE(replaces({large, 2, Way::relayed}, {small, 1, Way::direct})) << "a later life has lost everything";
  EXPECT_TRUE(replaces({small, 1, Way::reverse}, {large, 1, Way::direct})) << "both are one connection";
}

}  // namespace
}  // namespace gw::transport
