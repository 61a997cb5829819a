#include "overlay/membership/membership_filter.h"

#include <gtest/gtest.h>

#include "overlay/overlay.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

constexpr Time kGridStart = std::chrono::seconds(100);
constexpr std::uint64_t kFarAway = 4'000'000'000;

SigningKey private_key() {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(3);
  return SigningKey(secret);
}

MembershipFilter::Config member_config(std::uint64_t number) {
  return {.grid_key = private_key().public_key(), .own = make_membership(private_key(), test_key(number), 0x10000 + number, kFarAway)};
}

// A peer of a private grid that is spoken to by hand.
struct PrivatePeer {
  explicit PrivatePeer(std::uint64_t number, std::optional<MembershipFilter::Config> members)
      : id(test_id(number)),
        signer(test_key(number)),
        overlay({.grid = {sha256(private_key().public_key())}, .members = std::move(members), .address = fmt::format("p{}:1", number)},
                {test_id(number), test_key(number), 1}, signer, Rng(number)) {
    Output out;
    overlay.start(kGridStart, {}, out);
  }

  // The greeting to a peer that it has just dialled.
  Message greet(const PeerId& other) {
    Output out;
    overlay.on_rumoured(kGridStart, "other:1", out);
    overlay.on_connected(kGridStart, other, "other:1", out);
    EXPECT_EQ(out.sends.size(), 1u);
    return out.sends.empty() ? Message() : out.sends.front().message;
  }
  Output hear(const PeerId& from, const Message& message) {
    Output out;
    overlay.on_message(kGridStart, from, message, out);
    return out;
  }

  PeerId id;
  TestSigner signer;
  Overlay overlay;
};

TEST(MembershipFilter, MembersFindEachOther) {
  PrivatePeer one(1, member_config(1)), two(2, member_config(2));
  const Output answer = two.hear(one.id, one.greet(two.id));
  ASSERT_FALSE(answer.sends.empty());
  one.hear(two.id, answer.sends.front().message);
  EXPECT_TRUE(one.overlay.alive(two.id));
  EXPECT_TRUE(two.overlay.alive(one.id));
}

TEST(MembershipFilter, StrangersAreNotAnsweredAndReportedOnce) {
  PrivatePeer one(1, member_config(1)), stranger(2, std::nullopt);
  MembershipFilter::Config stolen = member_config(1);
  PrivatePeer thief(3, stolen);
  for (PrivatePeer* who : {&stranger, &thief}) {
    const Message message = who->greet(one.id);
    const Output first = one.hear(who->id, message), second = one.hear(who->id, message);
    EXPECT_TRUE(first.sends.empty() && second.sends.empty());
    ASSERT_EQ(first.events.size(), 1u);
    EXPECT_NE(std::get<Refused>(first.events.front()).sentence.find("membership"), std::string::npos);
    EXPECT_TRUE(second.events.empty());
    EXPECT_EQ(one.overlay.find(who->id), nullptr);
  }
}

TEST(MembershipFilter, AStrangerLearnsNothingOfOthers) {
  PrivatePeer one(1, member_config(1)), two(2, member_config(2));
  one.hear(two.id, two.hear(one.id, one.greet(two.id)).sends.front().message);
  ASSERT_NE(one.overlay.find(two.id), nullptr);
  const Message to_stranger = one.greet(test_id(9));
  EXPECT_EQ(to_stranger.gossip().others_size(), 0);
  EXPECT_EQ(to_stranger.rumours_size(), 0);
  const Message to_member = one.greet(two.id);
  EXPECT_TRUE(to_member.gossip().self().has_membership());
}

TEST(MembershipFilter, ADescriptorWithoutAMembershipIsNotPassedOff) {
  PrivatePeer one(1, member_config(1)), two(2, member_config(2));
  one.hear(two.id, two.hear(one.id, one.greet(two.id)).sends.front().message);
  Message gossip = two.greet(one.id);
  Descriptor outsider = test_peer(7);
  sign(one.overlay.membership_filter() == nullptr ? GridId{} : GridId{sha256(private_key().public_key())}, TestSigner(test_key(7)),
       outsider);
  write(outsider, *gossip.mutable_gossip()->add_others());
  one.hear(two.id, gossip);
  EXPECT_EQ(one.overlay.find(test_id(7)), nullptr);
  write(make_membership(private_key(), test_key(7), 0x20001, kFarAway), *gossip.mutable_gossip()->mutable_others(0)->mutable_membership());
  Output out;
  one.overlay.on_rumoured(kGridStart, gossip.gossip().others(0), out);
  EXPECT_NE(one.overlay.find(test_id(7)), nullptr) << "with one it is";
}

TEST(MembershipFilter, RevokedMembersAreDroppedAndRefused) {
  PrivatePeer one(1, member_config(1)), two(2, member_config(2));
  one.hear(two.id, two.hear(one.id, one.greet(two.id)).sends.front().message);
  Output out;
  one.overlay.revoke(kGridStart, make_revocations(private_key(), 1, {0x10002}), out);
  EXPECT_TRUE(std::ranges::any_of(out.events, [&](const Event& event) {
    const auto* expelled = std::get_if<Expelled>(&event);
    return expelled != nullptr && expelled->peer == two.id;
  }));
  EXPECT_FALSE(one.overlay.alive(two.id));
  EXPECT_TRUE(one.hear(two.id, two.greet(one.id)).sends.empty());
  EXPECT_FALSE(one.overlay.alive(two.id));
}

}  // namespace
}  // namespace gw::overlay
