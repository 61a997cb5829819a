#include "overlay/tables/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "overlay/routing/key_space.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

// No peer is suspected or was seen unless a test says so.
class FewContacts : public Contacts {
 public:
  const Descriptor* find(const PeerId&) const override { return nullptr; }
  std::vector<PeerId> all() const override { return {}; }
  bool is_suspected(const PeerId& peer) const override { return suspected.contains(peer); }
  bool was_seen(const PeerId& peer) const override { return seen.contains(peer); }
  std::set<PeerId> suspected;
  std::set<PeerId> seen;
};

// Peers in lock step: in a round every peer exchanges once, and all messages arrive. Samples are random peers, as a sampler would give.
class Rounds {
 public:
  explicit Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      const Descriptor self = test_peer(static_cast<std::uint64_t>(i) + 1);
      members_.emplace(self.id, Member{self, Ring({}, self.id, contacts_, Rng(rng_.next())), {}});
      order_.push_back(self.id);
    }
  }

  // All peers know only the first one.
  void star() {
    for (auto& [id, member] : members_) member.ring.learn(members_.at(order_[0]).self, 0);
  }
  void sample(std::size_t count) {
    for (auto& [id, member] : members_) {
      member.samples.clear();
      for (std::size_t i = 0; i < count; ++i) {
        const Descriptor& other = members_.at(order_[rng_.below(order_.size())]).self;
        if (other.id != id) member.samples.push_back(other);
      }
    }
  }
  void round(unsigned loss_percent = 0) {
    for (auto& [id, member] : members_) {
      Output out;
      member.ring.on_round(member.self, member.samples, out);
      for (const Send& send : out.sends) {
        ++exchanges;
        if (rng_.below(100) >= loss_percent) deliver(member, send, loss_percent);
      }
    }
  }
  // The others are told at once.
  void kill(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t chosen = rng_.below(order_.size());
      members_.erase(order_[chosen]);
      for (auto& [id, member] : members_) {
        member.ring.forget(order_[chosen]);
        std::erase_if(member.samples, [&](const Descriptor& sample) { return sample.id == order_[chosen]; });
      }
      order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  // How many leaves are missing.
  std::size_t missing() const {
    std::size_t count = 0;
    std::vector<const Descriptor*> ring;
    for (const auto& [id, member] : members_) ring.push_back(&member.self);  // the order of ids is the order of places
    const std::size_t half = std::min<std::size_t>(8, (ring.size() - 1) / 2);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Leafset& leafset = members_.at(ring[i]->id).ring.leafset();
      for (std::size_t step = 1; step <= half; ++step) {
        count += leafset.find(ring[(i + step) % ring.size()]->id) == nullptr;
        count += leafset.find(ring[(i + ring.size() - step) % ring.size()]->id) == nullptr;
      }
    }
    return count;
  }
  int rounds_until_exact(std::size_t samples, unsigned loss_percent = 0) {
    for (int count = 1; count <= 60; ++count) {
      sample(samples);
      round(loss_percent);
      if (missing() == 0) return count;
    }
    return 61;
  }
  // Empty slots for which there is a fitting peer.
  std::size_t empty_slots() const {
    std::size_t count = 0;
    for (const auto& [id, member] : members_) {
      std::set<std::uint16_t> all;
      for (const auto& [other, ignored] : members_)
        if (other != id) all.insert(PrefixTable::slot_of(id, other.hash));
      for (const PrefixTable::Entry& entry : member.ring.table().entries()) all.erase(entry.slot);
      count += all.size();
    }
    return count;
  }
  const Ring& any() const { return members_.begin()->second.ring; }

  std::size_t exchanges = 0;
  std::size_t longest = 0;

 private:
  struct Member {
    Descriptor self;
    Ring ring;
    std::vector<Descriptor> samples;
  };

  void deliver(Member& from, const Send& send, unsigned loss_percent) {
    const auto found = members_.find(send.to);
    if (found == members_.end()) return;
    Member& to = found->second;
    const std::vector<Descriptor> said = all_in(send.message.ring());
    Output out;
    to.ring.on_request(from.self, to.self, {to.samples, said}, out);
    learn(to, from, said);
    if (rng_.below(100) < loss_percent) return;
    learn(from, to, all_in(out.sends.at(0).message.ring_reply()));
    from.ring.on_reply(to.self.id);
  }
  std::vector<Descriptor> all_in(const Message::Gossip& gossip) {
    std::vector<Descriptor> list;
    for (const auto& other : gossip.others()) list.push_back(read(other, TestSigner()));
    longest = std::max(longest, list.size());
    return list;
  }
  static void learn(Member& member, const Member& partner, const std::vector<Descriptor>& said) {
    member.ring.learn(partner.self, 0);
    for (const Descriptor& peer : said) member.ring.learn(peer, 0);
  }

  Rng rng_{7};
  FewContacts contacts_;
  std::map<PeerId, Member> members_;
  std::vector<PeerId> order_;
};

TEST(Ring, AStarBecomesExactLeafsetsAndFullTables) {
  Rounds peers(100);
  peers.star();
  EXPECT_LE(peers.rounds_until_exact(10), 12);
  for (int i = 0; i < 8; ++i) peers.round();
  EXPECT_EQ(peers.empty_slots(), 0u);
  EXPECT_LE(peers.longest, 48u);
}

TEST(Ring, LossOnlySlowsItDown) {
  Rounds peers(80);
  peers.star();
  EXPECT_LE(peers.rounds_until_exact(10, 20), 18);
}

TEST(Ring, LeafsetsAreExactAgainAfterHalfHaveDied) {
  Rounds peers(100);
  peers.star();
  ASSERT_LE(peers.rounds_until_exact(10), 12);
  peers.kill(50);
  EXPECT_GT(peers.missing(), 0u);
  EXPECT_LE(peers.rounds_until_exact(10), 10);
}

TEST(Ring, IsQuietWhenNothingChangesAndWakesUp) {
  Rounds peers(40);
  peers.star();
  ASSERT_LE(peers.rounds_until_exact(10), 10);
  for (int i = 0; i < 30; ++i) peers.round();
  EXPECT_TRUE(peers.any().is_quiet());
  peers.exchanges = 0;
  for (int i = 0; i < 20; ++i) peers.round();
  EXPECT_LE(peers.exchanges, 40u * 3) << "every tenth round";
  peers.kill(10);
  peers.exchanges = 0;
  peers.round();
  EXPECT_GT(peers.exchanges, 20u) << "whoever lost a leaf is awake";
}

TEST(Ring, DoesNotRecommendTheSuspectedNorWhatThePartnerSaid) {
  FewContacts contacts;
  const Descriptor self = test_peer(1);
  const Descriptor partner = test_peer(2);
  Ring ring({}, self.id, contacts, Rng(1));
  for (std::uint64_t i = 2; i < 9; ++i) ring.learn(test_peer(i), 0);
  contacts.suspected.insert(test_id(3));
  const std::vector<Descriptor> said = {test_peer(4), test_peer(5, 0)};
  Output out;
  ring.on_request(partner, self, {{}, said}, out);
  std::set<PeerId> sent;
  for (const auto& other : out.sends.at(0).message.ring_reply().others()) sent.insert(read(other, TestSigner()).id);
  EXPECT_EQ(sent, (std::set<PeerId>{test_id(5), test_id(6), test_id(7), test_id(8)})) << "5 was said of, but older";
}

TEST(Ring, ReportsAPartnerThatDidNotAnswer) {
  FewContacts contacts;
  const Descriptor self = test_peer(1);
  Ring ring({}, self.id, contacts, Rng(1));
  ring.learn(test_peer(2), 0);
  Output out;
  EXPECT_EQ(ring.on_round(self, {}, out), std::nullopt);
  EXPECT_EQ(ring.on_round(self, {}, out), test_id(2));
  EXPECT_TRUE(ring.on_reply(test_id(2)));
  EXPECT_EQ(ring.on_round(self, {}, out), std::nullopt);
  EXPECT_FALSE(ring.on_reply(test_id(3))) << "nobody has asked it";
}

// Behind a wall, with neighbours behind walls: only few can be asked at all.
TEST(Ring, AfterSilenceItAsksAPeerSeenBefore) {
  FewContacts contacts;
  const Descriptor self = test_peer(1);
  Ring ring({}, self.id, contacts, Rng(1));
  for (std::uint64_t i = 2; i <= 17; ++i) ring.learn(test_peer(i), 0);
  const PeerId outer = ring.leafset().members()[7].id;  // not of those asked otherwise
  const auto next_partner = [&](std::span<const Descriptor> samples) -> std::optional<PeerId> {
    Output out;
    ring.on_round(self, samples, out);
    return out.sends.empty() ? std::nullopt : std::optional(out.sends.at(0).to);
  };
  while (const std::optional<PeerId> asked = next_partner({})) ring.on_reply(*asked);
  EXPECT_TRUE(ring.is_quiet());
  std::optional<PeerId> partner;
  while (!partner) partner = next_partner({});
  EXPECT_NE(partner, outer);
  contacts.seen = {outer};
  EXPECT_EQ(next_partner({}), outer) << "in the very next round, although it is quiet";
  contacts.seen = {test_id(30)};
  EXPECT_EQ(next_partner(std::vector{test_peer(30)}), test_id(30)) << "no leaf was heard";
  contacts.seen.clear();
  partner = next_partner({});
  EXPECT_TRUE(partner);
  EXPECT_NE(partner, outer) << "nobody was heard: as before";
  ring.on_reply(*partner);
  EXPECT_FALSE(next_partner({}));
}

TEST(Ring, AnOldDescriptorAloneMakesNoLeaf) {
  FewContacts contacts;
  Ring ring({}, test_id(1), contacts, Rng(1));
  Descriptor old = test_peer(2);
  old.age = 30;
  EXPECT_EQ(ring.learn(old, 0), Ring::Learned::hearsay);
  EXPECT_TRUE(ring.leafset().members().empty());
  EXPECT_EQ(ring.learn(test_peer(2, 2), 0), Ring::Learned::new_leaf);
  EXPECT_EQ(ring.stale_leaf(), nullptr);
  for (int i = 0; i < 13; ++i) ring.grow_older();
  ASSERT_NE(ring.stale_leaf(), nullptr);
  EXPECT_EQ(ring.stale_leaf()->id, test_id(2));
}

TEST(Ring, ServesEachPartnerOnceInAWhile) {
  FewContacts contacts;
  Ring ring({}, test_id(1), contacts, Rng(1));
  const Time now = std::chrono::seconds(5);
  EXPECT_TRUE(ring.admits(now, test_id(2)));
  EXPECT_FALSE(ring.admits(now, test_id(2)));
  EXPECT_TRUE(ring.admits(now, test_id(3)));
  EXPECT_TRUE(ring.admits(now + std::chrono::milliseconds(500), test_id(2)));
  std::uint64_t served = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) served += ring.admits(now + std::chrono::seconds(2), test_id(10 + i));
  EXPECT_EQ(served, 2048u);
}

TEST(Ring, WithoutLeavesItAsksASample) {
  FewContacts contacts;
  const Descriptor self = test_peer(1);
  Ring ring({}, self.id, contacts, Rng(1));
  Output out;
  ring.on_round(self, {}, out);
  EXPECT_TRUE(out.sends.empty());
  const std::vector<Descriptor> samples = {test_peer(2)};
  ring.on_round(self, samples, out);
  ASSERT_EQ(out.sends.size(), 1u);
  EXPECT_EQ(out.sends[0].to, test_id(2));
}

}  // namespace
}  // namespace gw::overlay
