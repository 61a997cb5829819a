// Routing, placing and lookups together: on a small grid that knows what a quiet one would.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "overlay/routing/key_space.h"
#include "overlay/routing/lookup.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Suspects : public Contacts {
 public:
  const Descriptor* find(const PeerId&) const override { return nullptr; }
  std::vector<PeerId> all() const override { return {}; }
  bool is_suspected(const PeerId& peer) const override { return peers.contains(peer); }
  bool was_seen(const PeerId&) const override { return true; }
  std::set<PeerId> peers;
};

// Peers that know what a quiet grid would make them know, and a network that carries at once.
class Web {
 public:
  explicit Web(std::uint64_t count, std::uint32_t free_slots = 0) {
    for (std::uint64_t i = 1; i <= count; ++i) nodes_.emplace(test_id(i), std::make_unique<Node>(i, signer_, free_slots));
    for (auto& [id, node] : nodes_)
      for (auto& [other, peer] : nodes_) node->ring.learn(peer->self, static_cast<float>(rng_.below(1000)));
  }

  struct Outcome {
    bool answered = false;
    Located located{};
  };
  Outcome ask(const PeerId& from, const Hash256& key, std::uint32_t demand = 0) {
    Output out;
    Node& node = *nodes_.at(from);
    outcome_ = {};
    number_ = node.lookup.ask(now, key, demand, out);
    handle(node, out);
    for (int i = 0; i < 600 && !outcome_.answered; ++i) {
      now += milliseconds(100);
      for (auto& [id, other] : nodes_) {
        if (dead.contains(id) || other->lookup.next_deadline() > now) continue;
        Output later;
        other->lookup.on_tick(now, later);
        handle(*other, later);
      }
    }
    return outcome_;
  }
  PeerId root(const Hash256& key) const {
    const PeerId* best = nullptr;
    for (const auto& [id, node] : nodes_)
      if (!dead.contains(id) && (best == nullptr || is_closer(key, id.hash, best->hash))) best = &id;
    return *best;
  }
  PeerId any() { return std::next(nodes_.begin(), static_cast<std::ptrdiff_t>(rng_.below(nodes_.size())))->first; }
  PeerId any_alive() {
    for (;;)
      if (const PeerId id = any(); !dead.contains(id)) return id;
  }
  Hash256 any_key() {
    Hash256 key;
    for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(rng_.next());
    return key;
  }
  void set_free(const PeerId& peer, std::uint32_t slots) {
    Node& node = *nodes_.at(peer);
    node.self.slots = node.self.free_slots = slots;
    ++node.self.incarnation.stamp;
    for (auto& [id, other] : nodes_) other->ring.learn(node.self, 0);
  }
  // Other peers keep the old number.
  void set_free_secretly(const PeerId& peer, std::uint32_t slots) { nodes_.at(peer)->self.free_slots = slots; }
  Suspects& suspects_of(const PeerId& peer) { return nodes_.at(peer)->suspects; }
  std::vector<PeerId> ids() const {
    std::vector<PeerId> list;
    for (const auto& [id, node] : nodes_) list.push_back(id);
    return list;
  }

  std::set<PeerId> dead;
  Time now = seconds(100);
  std::size_t messages = 0;

 private:
  struct Node {
    Node(std::uint64_t number, const Signer& signer, std::uint32_t slots)
        : self(test_peer(number)), ring({}, self.id, suspects, Rng(number)), lookup({}, self, signer, ring, suspects, Rng(number)) {
      self.slots = self.free_slots = slots;
    }
    Descriptor self;
    Suspects suspects;
    Ring ring;
    Lookup lookup;
  };

  void handle(Node& node, Output& out) {
    for (const Event& event : out.events)
      if (const auto* located = std::get_if<Located>(&event); located != nullptr && located->number == number_) outcome_ = {true, *located};
    for (Send& send : std::exchange(out.sends, {})) {
      ++messages;
      if (dead.contains(send.to)) continue;
      Node& to = *nodes_.at(send.to);
      Output answer;
      if (send.message.has_route()) to.lookup.on_route(now, send.message.route(), answer);
      if (send.message.has_found()) {
        const Message::Found& found = send.message.found();
        to.lookup.on_found(now, found, found.has_host() ? read(found.host(), signer_) : Descriptor(), answer);
      }
      if (send.message.has_ping()) node.lookup.on_seen(send.to);
      handle(to, answer);
    }
  }

  TestSigner signer_;
  Rng rng_{3};
  std::map<PeerId, std::unique_ptr<Node>> nodes_;
  std::uint64_t number_ = 0;
  Outcome outcome_;
};

TEST(Routing, FindsTheRootInFewHops) {
  Web web(150);
  std::uint64_t hops = 0;
  for (int i = 0; i < 200; ++i) {
    const Hash256 key = web.any_key();
    const Web::Outcome outcome = web.ask(web.any(), key);
    ASSERT_TRUE(outcome.answered && outcome.located.found);
    EXPECT_EQ(outcome.located.host.id, web.root(key));
    hops += outcome.located.hops;
  }
  EXPECT_LE(static_cast<double>(hops) / 200, 1.81 + 1) << "log16 of 150, and one";
}

TEST(Routing, OnesOwnIdIsOnesOwn) {
  Web web(40);
  for (const PeerId& id : web.ids()) {
    const Web::Outcome outcome = web.ask(id, id.hash);
    EXPECT_EQ(outcome.located.host.id, id);
    EXPECT_EQ(outcome.located.hops, 0u);
  }
}

TEST(Routing, APeerAloneIsResponsibleForAllKeys) {
  Web web(1);
  const Web::Outcome outcome = web.ask(web.any(), web.any_key());
  EXPECT_TRUE(outcome.located.found);
  EXPECT_EQ(web.messages, 0u);
}

TEST(Routing, SilentHopsAreAvoidedAndReported) {
  Web web(100);
  for (int i = 0; i < 15; ++i) web.dead.insert(web.any());  // not detected yet
  int right = 0;
  for (int i = 0; i < 100; ++i) {
    const Hash256 key = web.any_key();
    const Web::Outcome outcome = web.ask(web.any_alive(), key);
    right += outcome.located.found && outcome.located.host.id == web.root(key);
  }
  EXPECT_EQ(right, 100);
}

TEST(Routing, SuspectedPeersAreBypassed) {
  Web web(60);
  const Hash256 key = web.any_key();
  const PeerId first = web.root(key);
  for (const PeerId& id : web.ids()) web.suspects_of(id).peers.insert(first);
  PeerId from = web.any();
  while (from == first) from = web.any();
  web.dead.insert(first);
  web.messages = 0;
  const Web::Outcome outcome = web.ask(from, key);
  EXPECT_EQ(outcome.located.host.id, web.root(key));
  EXPECT_EQ(web.now, seconds(100)) << "no time was lost on it";
}

TEST(Routing, EndsInFewerThan32HopsWhateverTheTables) {
  // Each peer knows some random others and nothing else; whom it gets closest to is not asked for, only that it ends.
  Rng rng(8);
  Suspects none;
  std::map<PeerId, std::unique_ptr<Ring>> rings;
  std::map<PeerId, Descriptor> peers;
  for (std::uint64_t i = 1; i <= 64; ++i) peers[test_id(i)] = test_peer(i);
  for (const auto& [id, self] : peers) {
    rings[id] = std::make_unique<Ring>(Ring::Config{}, id, none, Rng(1));
    for (int i = 0; i < 20; ++i) rings[id]->learn(test_peer(1 + rng.below(64)), 0);
  }
  for (int i = 0; i < 2000; ++i) {
    Hash256 key;
    for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(rng.next());
    Message::Route request;
    request.set_key(wire::bytes_of(key));
    PeerId at = test_id(1 + rng.below(64));
    for (int hop = 0;; ++hop) {
      ASSERT_LT(hop, 32);
      Router router({}, peers[at], *rings[at], none, Rng(1));
      Output out;
      const Descriptor* next = router.send(Time(0), request, {}, out);
      if (next == nullptr) break;
      request = out.sends.at(0).message.route();
      at = next->id;
    }
  }
}

TEST(Routing, APeerThatCannotBeDialledIsNotARoot) {
  Suspects none;
  Descriptor self = test_peer(1);
  Ring ring({}, self.id, none, Rng(1));
  Descriptor other = test_peer(2);
  ring.learn(other, 0);
  self.reach = Reach::outbound;
  EXPECT_EQ(next_hop(self.id.hash, self, ring, none, {})->id, other.id);
  self.reach = Reach::open;
  EXPECT_EQ(next_hop(self.id.hash, self, ring, none, {}), nullptr);
  other.reach = Reach::outbound;
  ++other.incarnation.stamp;
  ring.learn(other, 0);
  EXPECT_EQ(next_hop(other.id.hash, self, ring, none, {}), nullptr);
}

TEST(Lookup, EveryRequestEndsEvenIfAllPeersAreDead) {
  Web web(30);
  const PeerId from = web.any();
  for (const PeerId& id : web.ids())
    if (id != from) web.dead.insert(id);
  Hash256 key = web.any_key();
  const Web::Outcome outcome = web.ask(from, key);
  EXPECT_TRUE(outcome.answered);
}

TEST(Lookup, RequestsAreBounded) {
  Suspects none;
  TestSigner signer;
  const Descriptor self = test_peer(1);
  Ring ring({}, self.id, none, Rng(1));
  for (std::uint64_t i = 2; i < 40; ++i) ring.learn(test_peer(i), 0);
  Lookup lookup({}, self, signer, ring, none, Rng(1));
  Output out;
  for (int i = 0; i < 1000; ++i) lookup.ask(seconds(1), test_id(2).hash, 0, out);
  EXPECT_EQ(lookup.size(), 256u);
  EXPECT_EQ(out.events.size(), 744u) << "the others were answered at once";
  for (int i = 1; i < 100; ++i) lookup.on_tick(seconds(i), out);
  EXPECT_EQ(lookup.size(), 0u);
  EXPECT_EQ(out.events.size(), 1000u);
  EXPECT_EQ(lookup.next_deadline(), kNever);
}

TEST(Lookup, UnrequestedAnswersAreIgnored) {
  Suspects none;
  TestSigner signer;
  const Descriptor self = test_peer(1);
  Ring ring({}, self.id, none, Rng(1));
  Lookup lookup({}, self, signer, ring, none, Rng(1));
  Message::Found found;
  found.set_number(5);
  Output out;
  lookup.on_found(seconds(1), found, test_peer(9), out);
  EXPECT_TRUE(out.events.empty());
}

TEST(Placing, TheRootTakesItIfItHasRoom) {
  Web web(50, 4);
  const Hash256 key = web.any_key();
  const Web::Outcome outcome = web.ask(web.any(), key, 2);
  EXPECT_EQ(outcome.located.host.id, web.root(key));
}

TEST(Placing, ALeafWithRoomIsFoundAlsoWithAnOldDescriptor) {
  Web web(50);
  const Hash256 key = web.any_key();
  const PeerId root = web.root(key);
  const std::vector<PeerId> ids = web.ids();
  const auto place = static_cast<std::size_t>(std::ranges::find(ids, root) - ids.begin());
  const PeerId& near = ids[(place + 1) % ids.size()];
  const PeerId& far = ids[(place + 5) % ids.size()];
  web.set_free(near, 3);
  web.set_free(far, 1);
  EXPECT_EQ(web.ask(web.any(), key, 1).located.host.id, near) << "the most free slots";
  web.set_free_secretly(near, 0);
  EXPECT_EQ(web.ask(web.any(), key, 1).located.host.id, far) << "the root sends it to the wrong one, who knows better";
}

TEST(Placing, AlmostEveryRequestFindsTheLastFreeSlots) {
  Web web(200);
  const std::vector<PeerId> ids = web.ids();
  for (int i = 0; i < 10; ++i) web.set_free(web.any(), 1);  // 95 % are busy
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    const Web::Outcome outcome = web.ask(web.any(), web.any_key(), 1);
    found += outcome.located.found && outcome.located.host.free_slots >= 1;
    web.now += seconds(10);
  }
  EXPECT_GE(found, 98);
}

TEST(Placing, WhenNothingIsFreeItSaysSoInTheEnd) {
  Web web(50);
  const Web::Outcome outcome = web.ask(web.any(), web.any_key(), 1);
  EXPECT_TRUE(outcome.answered);
  EXPECT_FALSE(outcome.located.found);
  EXPECT_GT(web.now, seconds(102)) << "other salts, after a pause each";
}

TEST(Placing, ABurstIsSpread) {
  Suspects none;
  Descriptor self = test_peer(1);
  self.free_slots = 2;
  Leafset leafset(self.id);
  Descriptor leaf = test_peer(2);
  leaf.free_slots = 1;
  leafset.offer(leaf);
  Placer placer({}, self, leafset, none);
  EXPECT_TRUE(std::holds_alternative<Placer::Accept>(placer.decide(seconds(1), {{}, 1, 0})));
  EXPECT_TRUE(std::holds_alternative<Placer::Accept>(placer.decide(seconds(1), {{}, 1, 0})));
  EXPECT_TRUE(std::holds_alternative<Placer::Divert>(placer.decide(seconds(1), {{}, 1, 0})));
  EXPECT_TRUE(std::holds_alternative<Placer::Refuse>(placer.decide(seconds(1), {{}, 1, 0})));
  EXPECT_TRUE(std::holds_alternative<Placer::Accept>(placer.decide(seconds(10), {{}, 1, 0}))) << "nobody came for them";
}

}  // namespace
}  // namespace gw::overlay
