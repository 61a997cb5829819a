#include "overlay/overlay.h"

#include <gtest/gtest.h>

#include "overlay/test/test_grid.h"

namespace gw::overlay {
namespace {

using std::chrono::seconds;

TEST(Overlay, AFewPeersAllKnowEachOther) {
  TestGrid grid(20);
  grid.run(seconds(10));
  for (std::size_t i = 0; i < grid.size(); ++i) {
    EXPECT_EQ(grid[i].all().size(), 19u) << i;
    for (const Event& event : grid.events(i)) EXPECT_FALSE(std::holds_alternative<Refused>(event)) << i;
  }
}

TEST(Overlay, ADeathIsKnownToAllWithinSeconds) {
  TestGrid grid(10);
  grid.run(seconds(70));  // a round is five seconds by now
  grid.kill(7);
  grid.run(seconds(15));
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (i == 7) continue;
    EXPECT_FALSE(grid[i].alive(test_id(7))) << i;
    EXPECT_EQ(grid[i].detector().tombstones().size(), 1u) << i;
  }
}

TEST(Overlay, AKeyHasOneRootAndFreeSlotsAreFound) {
  TestGrid grid(12);
  grid.run(seconds(10));
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i].set_slots(4, i == 11 ? 1 : 0);
  grid.run(seconds(20));
  std::set<PeerId> roots;
  const auto last = [&](std::size_t asker) {
    for (const Event& event : grid.events(asker))
      if (const auto* located = std::get_if<Located>(&event)) return *located;
    return Located{};
  };
  for (std::size_t i = 0; i < 10; ++i) {
    grid.collect(i, [&](Output& out) { grid[i].locate(grid.now(), test_id(5000).hash, out); });
    grid.run(seconds(2));
    EXPECT_TRUE(last(i).found);
    roots.insert(last(i).host.id);
  }
  EXPECT_EQ(roots.size(), 1u);
  grid.collect(10, [&](Output& out) { grid[10].place(grid.now(), test_id(5000).hash, 1, out); });
  grid.run(seconds(2));
  EXPECT_EQ(last(10).host.id, test_id(11));
}

TEST(Overlay, AWatchedPeerThatDiesIsLostAtOnce) {
  TestGrid grid(3);
  grid.run(seconds(90));
  grid.collect(0, [&](Output& out) { grid[0].watch_peer(grid.now(), test_id(1), out); });
  grid.kill(1);
  grid.run(seconds(2));
  EXPECT_FALSE(grid[0].alive(test_id(1)));
  EXPECT_TRUE(grid[0].alive(test_id(2)));
}

// A peer that spoke to this one and was never described is in no table, so no machine would ping it.
TEST(Overlay, AStrangerIsBelievedForAMinute) {
  TestGrid grid(3);
  const auto hear = [&] { grid.collect(0, [&](Output& out) { grid[0].on_seen(grid.now(), test_id(99), out); }); };
  hear();
  grid.run(seconds(50));
  EXPECT_TRUE(grid[0].alive(test_id(99)));
  hear();
  grid.run(seconds(50));
  EXPECT_TRUE(grid[0].alive(test_id(99)));
  grid.run(seconds(50));  // it is looked for twice a minute
  EXPECT_FALSE(grid[0].alive(test_id(99)));
  EXPECT_TRUE(grid[0].alive(test_id(1)));
}

// A neighbour on the ring that no peer has described: it has sent this peer a request, so this peer can ask for its descriptor.
TEST(Overlay, AnUndescribedNeighbourIsAskedForItsDescriptor) {
  TestGrid grid(30);
  grid.run(seconds(10));
  const auto pings_to = [&](const PeerId& asker) {
    Message message;
    message.set_grid(GridId{}.bytes());
    message.mutable_ping()->set_number(7);
    Output out;
    grid[0].on_message(grid.now(), asker, message, out);
    return std::ranges::count_if(out.sends, [&](const Send& send) {
      return send.to == asker && send.message.has_ping() && send.message.ping().suspected_boot() > 0;
    });
  };
  std::uint64_t wanted = 100;
  while (!grid[0].ring().leafset().wants(test_id(wanted), {})) ++wanted;
  std::uint64_t unwanted = 100;
  while (grid[0].ring().leafset().wants(test_id(unwanted), {})) ++unwanted;
  EXPECT_EQ(pings_to(test_id(wanted)), 1);
  EXPECT_EQ(pings_to(test_id(wanted)), 0) << "once is enough for a while";
  EXPECT_EQ(pings_to(test_id(unwanted)), 0);
}

class CountingSigner final : public TestSigner {
 public:
  using TestSigner::TestSigner;
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override {
    ++checked;
    return TestSigner::is_signed(key, text, signature);
  }
  mutable std::size_t checked = 0;
};

// A check of a signature costs a tenth of a millisecond: a peer that sends answers unasked could keep this one busy.
TEST(Overlay, AnswersThatNobodyWaitsForAreNotVerified) {
  const CountingSigner signer(test_key(1));
  Overlay overlay({.address = "self:1"}, {test_id(1), test_key(1), 1}, signer, Rng(1));
  const Time now = seconds(100);
  Output out;
  overlay.start(now, {}, out);
  wire::pb::Descriptor sender;
  write(test_peer(9), sender);
  const auto checked = [&](const auto& fill) {
    signer.checked = 0;
    for (int i = 0; i < 100; ++i) {
      Message message;
      message.set_grid(GridId{}.bytes());
      fill(message);
      overlay.on_message(now, test_id(9), message, out);
    }
    return signer.checked;
  };
  EXPECT_EQ(checked([&](Message& message) { *message.mutable_gossip_reply()->mutable_self() = sender; }), 0u);
  EXPECT_EQ(checked([&](Message& message) { *message.mutable_ring_reply()->mutable_self() = sender; }), 0u);
  EXPECT_EQ(checked([&](Message& message) { *message.mutable_found()->mutable_host() = sender; }), 0u);
  EXPECT_LE(checked([&](Message& message) { *message.mutable_pong()->mutable_self() = sender; }), 8u);
  EXPECT_LE(checked([&](Message& message) {
              *message.mutable_ping_for()->mutable_self() = sender;
              message.mutable_ping_for()->set_peer(test_id(9).bytes());
            }),
            8u);
}

}  // namespace
}  // namespace gw::overlay
