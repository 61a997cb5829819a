#include "peer/grid_administration.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/hash.h"

namespace gw::peer {
namespace {

constexpr Time kNow = std::chrono::seconds(1000);

// Real keys: memberships are always checked with Ed25519, not with the test signer.
class KeySigner : public overlay::Signer {
 public:
  explicit KeySigner(const SigningKey& key) : key_(key) {}
  PeerId id_of(const PublicKey& key) const override { return {sha256(key)}; }
  Signature sign(ByteView text) const override { return key_.sign(text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override {
    return verify(key, text, signature).has_value();
  }

 private:
  const SigningKey key_;
};

GridCredentials::Secret secret(std::uint8_t seed) {
  GridCredentials::Secret bytes;
  bytes.fill(seed);
  return bytes;
}

// A grid administration and its grids, with an address and no other part of a peer.
struct Administrator {
  explicit Administrator(std::uint8_t number)
      : key(secret(number)),
        signer(key),
        id{sha256(key.public_key())},
        address(fmt::format("host{}:1", number)),
        rng(number),
        grids({.overlay = {.address = address}}, {id, key.public_key(), 1}, signer, rng),
        administration({}, {id, key.public_key(), Time(0), grids, rng}) {
    Actions out;
    EXPECT_TRUE(grids.restore({.records = {}}));
    grids.start(kNow, {}, out);
  }

  // Answers to users; all other output is for other peers.
  Result<std::string> ask(GridRequest request, const std::set<GridId>& in_use = {}) {
    Actions out;
    administration.on_request(now, std::move(request), in_use, out);
    return answer_in(out);
  }
  static Result<std::string> answer_in(const Actions& out) {
    for (const job::Action& action : out.later)
      if (const auto* notify = std::get_if<job::Notify>(&action))
        if (const auto* answered = std::get_if<job::GridAnswered>(&notify->event))
          return answered->error ? Result<std::string>(*answered->error) : Result<std::string>(answered->text);
    return fail(Kind::internal, "no answer");
  }
  GridId create() { return {parse_hash(ask({1, CreateGrid{"lab", secret(90)}}).value()).value()}; }
  Result<std::string> invite(const GridId& grid, std::uint16_t uses = 1, std::chrono::seconds lasts = std::chrono::hours(1)) {
    return ask({2, Invite{grid, {.uses = uses, .lasts = lasts, .addresses = {address}}}});
  }

  SigningKey key;
  KeySigner signer;
  PeerId id;
  std::string address;
  Rng rng;
  Grids grids;
  GridAdministration administration;
  Time now = kNow;
};

// The whole exchange between a peer that shows an invitation and the holder that made it.
Result<std::string> join(Administrator& guest, Administrator& host, const std::string& invitation) {
  const auto parsed = wire::parse_invitation(invitation);
  if (!parsed) return parsed.error();
  Actions asked, answered, settled;
  guest.administration.on_request(guest.now, {7, Joining::JoinRequest{*parsed, parsed->name, "machine", 7}}, {}, asked);
  if (auto refused = Administrator::answer_in(asked); !refused && refused.error().detail != "no answer") return refused;
  guest.administration.on_connected(guest.now, host.id, host.address, asked);
  for (const job::Action& action : asked.now)
    if (const auto* send = std::get_if<job::Send>(&action))
      host.administration.on_admit(host.now, guest.id, send->message.admit(), answered);
  for (const job::Action& action : answered.later)
    if (const auto* send = std::get_if<job::Send>(&action))
      guest.administration.on_admitted(guest.now, host.id, send->message.admitted(), settled);
  return Administrator::answer_in(settled);
}

TEST(GridAdministration, AnInvitationLetsOneIn) {
  Administrator host(1), guest(2), late(3);
  const GridId grid = host.create();
  const std::string invitation = host.invite(grid).value();
  EXPECT_EQ(join(guest, host, invitation).value(), grid.hash.hex());
  ASSERT_NE(guest.grids.find(grid), nullptr);
  EXPECT_FALSE(guest.grids.find(grid)->credentials.secret);
  const auto refused = join(late, host, invitation);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find("already been used"), std::string::npos);
  EXPECT_EQ(late.grids.find(grid), nullptr);
}

TEST(GridAdministration, AnAnswerThatGotLostIsGivenAgain) {
  Administrator host(1), guest(2), again(2);
  const GridId grid = host.create();
  const std::string invitation = host.invite(grid).value();
  ASSERT_TRUE(join(guest, host, invitation));
  ASSERT_TRUE(join(again, host, invitation)) << "the same peer, whose disk was lost";
  EXPECT_EQ(guest.grids.find(grid)->credentials.membership, again.grids.find(grid)->credentials.membership);
}

TEST(GridAdministration, ExpiredRevokedAndForeignInvitationsAreRefusedWithTheirReason) {
  Administrator host(1), guest(2), other(4);
  const GridId grid = host.create();
  const std::string brief = host.invite(grid, 1, std::chrono::seconds(10)).value();
  host.now += std::chrono::seconds(10);
  EXPECT_TRUE(join(guest, host, brief));
  host.now += std::chrono::seconds(1);
  Administrator third(3);
  EXPECT_NE(join(third, host, brief).error().detail.find("expired"), std::string::npos);

  const std::string revoked = host.invite(grid, 5).value();
  ASSERT_TRUE(host.ask({3, Revoke{grid, {wire::parse_invitation(revoked)->serial}, {}}}));
  EXPECT_NE(join(third, host, revoked).error().detail.find("revoked"), std::string::npos);
  EXPECT_FALSE(other.invite(grid)) << "it does not hold the key";
  EXPECT_FALSE(guest.invite(grid));
}

TEST(GridAdministration, AnAdminHoldsTheKey) {
  Administrator host(1), admin(2), guest(3);
  const GridId grid = host.create();
  const auto invitation = host.ask({2, Invite{grid, {.role = wire::Invitation::Role::holder, .addresses = {host.address}}}});
  ASSERT_TRUE(join(admin, host, invitation.value()));
  EXPECT_TRUE(join(guest, admin, admin.invite(grid).value()));
}

TEST(GridAdministration, ListsOfTwoHoldersBecomeOne) {
  Administrator host(1), admin(2);
  const GridId grid = host.create();
  ASSERT_TRUE(
      join(admin, host, host.ask({2, Invite{grid, {.role = wire::Invitation::Role::holder, .addresses = {host.address}}}}).value()));
  ASSERT_TRUE(host.ask({3, Revoke{grid, {0x70000}, {}}}));
  ASSERT_TRUE(admin.ask({3, Revoke{grid, {0x80000}, {}}}));
  const auto tell = [&](Administrator& from, Administrator& to) {
    job::PeerMessage::Revocations message;
    const overlay::Revocations& list = from.grids.find(grid)->credentials.revocations;
    message.set_grid(grid.bytes());
    message.set_version(list.version);
    message.mutable_serials()->Assign(list.serials.begin(), list.serials.end());
    message.set_signature(list.signature.data(), list.signature.size());
    Actions out;
    to.administration.on_revocations(kNow, from.id, message, out);
  };
  tell(host, admin);
  tell(admin, host);
  EXPECT_EQ(host.grids.find(grid)->credentials.revocations, admin.grids.find(grid)->credentials.revocations);
  EXPECT_EQ(host.grids.find(grid)->credentials.revocations.serials, (std::vector<std::uint64_t>{0x70000, 0x80000}));
}

// Any peer may bring a list, and the check of its signature costs a tenth of a millisecond.
TEST(GridAdministration, ForgedListsAreVerifiedAtALimitedRate) {
  Administrator host(1), guest(2);
  const GridId grid = host.create();
  ASSERT_TRUE(join(guest, host, host.invite(grid).value()));
  ASSERT_TRUE(host.ask({3, Revoke{grid, {}, {guest.id}}}));
  const auto refused = [&](std::uint64_t version) {
    job::PeerMessage::Revocations message;
    message.set_grid(grid.bytes());
    message.set_version(version);
    message.set_signature(std::string(64, 'f'));
    Actions out;
    for (int i = 0; i < 100; ++i) host.administration.on_revocations(kNow, guest.id, message, out);
    return out.now.size();
  };
  const std::uint64_t version = host.grids.find(grid)->credentials.revocations.version;
  EXPECT_EQ(refused(version - 1), 0u) << "an older list that revokes no more brings nothing";
  EXPECT_EQ(refused(version + 1), GridAdministration::Config().lists.per_peer);
}

TEST(GridAdministration, ARevokedMemberLearnsItAndIsOut) {
  Administrator host(1), guest(2);
  const GridId grid = host.create();
  ASSERT_TRUE(join(guest, host, host.invite(grid).value()));
  ASSERT_TRUE(host.ask({3, Revoke{grid, {}, {guest.id}}})) << "by what it was given, although it was never met";
  job::PeerMessage::Revocations message;
  const overlay::Revocations& list = host.grids.find(grid)->credentials.revocations;
  message.set_grid(grid.bytes());
  message.set_version(list.version);
  message.mutable_serials()->Assign(list.serials.begin(), list.serials.end());
  message.set_signature(list.signature.data(), list.signature.size());
  Actions out;
  guest.administration.on_revocations(kNow, host.id, message, out);
  EXPECT_TRUE(guest.grids.find(grid)->credentials.revoked());
  EXPECT_FALSE(host.ask({4, Revoke{grid, {host.grids.find(grid)->credentials.membership.serial}, {}}})) << "nobody revokes itself";
}

TEST(GridAdministration, GridsSurviveARestart) {
  Administrator host(1), guest(2);
  const GridId grid = host.create();
  ASSERT_TRUE(join(guest, host, host.invite(grid, 3).value()));
  for (const Administrator* administration : {&host, &guest}) {
    const GridCredentials& credentials = administration->grids.find(grid)->credentials;
    const GridCredentials back = GridCredentials::read(credentials.record()).value();
    EXPECT_EQ(back.record().SerializeAsString(), credentials.record().SerializeAsString());
    EXPECT_EQ(back.id, grid);
    EXPECT_EQ(back.members.size(), credentials.members.size());
  }
  wire::pb::GridRecord damaged = host.grids.find(grid)->credentials.record();
  damaged.set_grid_key("short");
  EXPECT_EQ(GridCredentials::read(damaged).error().kind, Kind::corrupt);
}

TEST(GridAdministration, LeavingWaitsForJobs) {
  Administrator host(1);
  const GridId grid = host.create();
  EXPECT_FALSE(host.ask({5, LeaveGrid{grid}}, {grid}));
  EXPECT_TRUE(host.ask({5, LeaveGrid{grid}}));
  EXPECT_EQ(host.grids.find(grid), nullptr);
  EXPECT_FALSE(host.ask({5, LeaveGrid{grid}}));
}

TEST(GridAdministration, AJoinWithoutAnAnswerFailsInTime) {
  Administrator host(1), guest(2);
  const auto invitation = wire::parse_invitation(host.invite(host.create()).value());
  Actions out;
  guest.administration.on_request(kNow, {7, Joining::JoinRequest{*invitation, "lab", "machine", 7}}, {}, out);
  guest.administration.on_tick(kNow + std::chrono::seconds(21), out);
  EXPECT_NE(Administrator::answer_in(out).error().detail.find("host1:1"), std::string::npos);
}

}  // namespace
}  // namespace gw::peer
