#include "overlay/membership/membership.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

constexpr WallSeconds kToday = std::chrono::days(20'000);
constexpr std::uint64_t kSerial = 0x00ab'0000'0000'0007;

SigningKey grid_key(std::uint8_t seed = 1) {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(seed);
  return SigningKey(secret);
}

std::uint64_t until(WallSeconds time) { return static_cast<std::uint64_t>(time.count()); }

Membership good(std::uint64_t serial = kSerial) { return make_membership(grid_key(), test_key(1), serial, until(kToday)); }

std::string complaint(KnownMembers& known_members, WallSeconds now, const Membership& membership) {
  const Status status = known_members.admit(now, test_id(1), test_key(1), membership);
  return status ? "" : status.error().detail;
}

TEST(Membership, LetsInWhoWasLetIn) {
  KnownMembers known_members({}, grid_key().public_key());
  EXPECT_FALSE(known_members.has(kToday, test_id(1)));
  EXPECT_EQ(complaint(known_members, kToday, good()), "");
  EXPECT_TRUE(known_members.has(kToday, test_id(1)));
  EXPECT_EQ(*known_members.find(test_id(1)), good());
}

TEST(Membership, IsForOnePeerOfOneGrid) {
  KnownMembers known_members({}, grid_key().public_key());
  EXPECT_FALSE(known_members.admit(kToday, test_id(2), test_key(2), good()));
  EXPECT_NE(complaint(known_members, kToday, make_membership(grid_key(2), test_key(1), kSerial, until(kToday))).find("not signed"),
            std::string::npos);
  EXPECT_NE(complaint(known_members, kToday, {}).find("no membership"), std::string::npos);
  for (const auto change :
       {+[](Membership& m) { ++m.serial; }, +[](Membership& m) { ++m.until; }, +[](Membership& m) { m.signature[9] ^= 1; }}) {
    Membership altered = good();
    change(altered);
    EXPECT_NE(complaint(known_members, kToday, altered), "");
  }
  EXPECT_EQ(known_members.size(), 0u);
}

TEST(Membership, OutlivesItsEndByTheSkewOfClocks) {
  KnownMembers known_members({}, grid_key().public_key());
  EXPECT_EQ(complaint(known_members, kToday + kClockSkew, good()), "");
  EXPECT_TRUE(known_members.has(kToday + kClockSkew, test_id(1)));
  EXPECT_FALSE(known_members.has(kToday + kClockSkew + WallSeconds(1), test_id(1)));
  EXPECT_NE(complaint(known_members, kToday + kClockSkew + WallSeconds(1), good()).find("expired"), std::string::npos);
}

TEST(Revocations, EndMembershipsAndWhateverCameOfAnInvitation) {
  for (const std::uint64_t named : {kSerial, invitation_of(kSerial)}) {
    KnownMembers known_members({}, grid_key().public_key());
    ASSERT_EQ(complaint(known_members, kToday, good()), "");
    EXPECT_TRUE(known_members.revoke(make_revocations(grid_key(), 1, {invitation_of(kSerial) + (1u << 16)})).empty())
        << "another invitation";
    EXPECT_EQ(known_members.revoke(make_revocations(grid_key(), 2, {named})), std::vector{test_id(1)});
    EXPECT_FALSE(known_members.has(kToday, test_id(1)));
    EXPECT_NE(complaint(known_members, kToday, good()).find("revoked"), std::string::npos);
  }
}

TEST(Revocations, AreThoseOfTheGrid) {
  const PublicKey key = grid_key().public_key();
  EXPECT_TRUE(check(key, make_revocations(grid_key(), 3, {1, 2, 9})));
  EXPECT_FALSE(check(key, make_revocations(grid_key(2), 3, {1, 2, 9})));
  Revocations altered = make_revocations(grid_key(), 3, {1, 2, 9});
  altered.serials.pop_back();
  EXPECT_FALSE(check(key, altered));
  altered = make_revocations(grid_key(), 3, {1, 2, 9});
  ++altered.version;
  EXPECT_FALSE(check(key, altered));
  EXPECT_FALSE(check(key, make_revocations(grid_key(), 3, {2, 1})));
  EXPECT_FALSE(check(key, make_revocations(grid_key(), 3, {2, 2})));
  EXPECT_FALSE(check(key, Revocations{}));
  Revocations endless = make_revocations(grid_key(), 3, {});
  for (std::uint64_t serial = 1; serial <= Revocations::kMost + 1; ++serial) endless.serials.push_back(serial);
  EXPECT_NE(check(key, endless).error().detail.find("4096"), std::string::npos);
}

TEST(KnownMembers, ForgetsWhoCameFirstWhenItIsFull) {
  KnownMembers known_members({.members = 2}, grid_key().public_key());
  for (const std::uint64_t peer : {1, 2, 3})
    ASSERT_TRUE(known_members.admit(kToday, test_id(peer), test_key(peer),
                                    make_membership(grid_key(), test_key(peer), kSerial + peer, until(kToday))));
  EXPECT_EQ(known_members.size(), 2u);
  EXPECT_FALSE(known_members.has(kToday, test_id(1)));
  EXPECT_TRUE(known_members.has(kToday, test_id(3)));
}

}  // namespace
}  // namespace gw::overlay
