// Failure detectors among themselves, in virtual time: what a grid of them finds out, and what it must not.

#include <gtest/gtest.h>

#include <deque>

#include "overlay/failures/failure_detector.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = FailureDetector::State;

// All peers know each other. A peer answers pings, raises its stamp when it is in doubt, and sends its descriptor only on request.
class Grid {
 public:
  explicit Grid(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) nodes_.emplace_back(i, rng_);
    for (Node& node : nodes_)
      for (const Node& other : nodes_)
        if (other.self.id != node.self.id) node.peers[other.self.id] = other.self;
  }

  void run(Time time) {
    const Time end = now + time;
    while (now < end) {
      now += milliseconds(50);
      deliver();
      for (Node& node : nodes_) {
        if (!runs(node)) continue;
        Output out;
        if (now >= node.round_at) {
          node.round_at = now + seconds(5);
          node.detector.on_round(now, out);
        }
        if (node.detector.next_deadline() <= now) node.detector.on_tick(now, out);
        take(node, out);
      }
    }
  }
  void kill(std::uint64_t number) { nodes_[number].killed = true; }
  void pause(std::uint64_t number, Time time) { nodes_[number].paused_until = now + time; }
  State state(std::uint64_t of, std::uint64_t at) const { return nodes_[at].detector.state(test_id(of)); }
  std::size_t count(State state_wanted, std::uint64_t of) const {
    std::size_t count = 0;
    for (const Node& node : nodes_)
      if (!node.killed && node.self.id != test_id(of) && node.detector.state(test_id(of)) == state_wanted) ++count;
    return count;
  }

  Time now = seconds(100);
  unsigned loss_percent = 0;
  std::size_t deaths = 0;

 private:
  struct Node : Contacts {
    Node(std::uint64_t number, Rng& rng)
        : self(test_peer(number)), round_at(seconds(100) + milliseconds(rng.below(5000))), detector({}, self.id, *this, Rng(rng.next())) {
      self.reach = Reach::open;
    }
    const Descriptor* find(const PeerId& peer) const override {
      const auto found = peers.find(peer);
      return found != peers.end() ? &found->second : nullptr;
    }
    std::vector<PeerId> all() const override {
      std::vector<PeerId> list;
      for (const auto& [id, peer] : peers) list.push_back(id);
      return list;
    }
    bool is_suspected(const PeerId& peer) const override { return detector.state(peer) == State::suspected; }
    bool was_seen(const PeerId&) const override { return true; }

    Descriptor self;
    std::map<PeerId, Descriptor> peers;
    Time round_at;
    Time paused_until{0};
    bool killed = false;
    FailureDetector detector;
  };
  struct Flight {
    Time at;
    PeerId from;
    Send send;
  };

  bool runs(const Node& node) const { return !node.killed && now >= node.paused_until; }
  Node* node_of(const PeerId& id) {
    for (Node& node : nodes_)
      if (node.self.id == id) return &node;
    return nullptr;
  }
  void take(Node& node, Output& out) {
    for (Send& send : out.sends) {
      node.detector.add_rumours(send.message);
      if (rng_.below(100) >= loss_percent) flights_.push_back({now + milliseconds(50 + rng_.below(200)), node.self.id, std::move(send)});
    }
    for (const PeerId& dead : node.detector.take_dead()) {
      deaths += !node_of(dead)->killed;
      node.peers.erase(dead);
    }
    out = {};
  }
  void deliver() {
    std::deque<Flight> later;
    for (std::deque<Flight> flights = std::exchange(flights_, {}); Flight & flight : flights) {
      Node* to = node_of(flight.send.to);
      if (to->killed) continue;
      if (flight.at > now || !runs(*to)) {
        later.push_back(std::move(flight));
      } else {
        Output out;
        receive(*to, flight.from, flight.send.message, out);
        take(*to, out);
      }
    }
    for (Flight& flight : later) flights_.push_back(std::move(flight));
  }
  void learn(Node& node, const wire::pb::Descriptor& said, Output& out) {
    const Descriptor peer = read(said, TestSigner());
    if (peer.id == node.self.id || !node.detector.admits(peer)) return;
    node.detector.on_descriptor(now, peer, out);
    Descriptor& known = node.peers[peer.id];
    if (known.incarnation < peer.incarnation) known = peer;
  }
  void receive(Node& node, const PeerId& from, const Message& message, Output& out) {
    node.detector.on_seen(now, from, out);
    if (node.detector.on_rumours(now, from, message, node.self.incarnation, out) == FailureDetector::Accused::yes)
      ++node.self.incarnation.stamp;
    if (message.has_ping()) {
      Message answer;
      answer.mutable_pong()->set_number(message.ping().number());
      const Incarnation doubted{message.ping().suspected_boot(), message.ping().suspected_stamp()};
      if (doubted >= node.self.incarnation) ++node.self.incarnation.stamp;
      if (doubted.boot != 0) write(node.self, *answer.mutable_pong()->mutable_self());
      out.sends.push_back({from, {}, std::move(answer)});
    }
    if (message.has_pong() && message.pong().has_self()) learn(node, message.pong().self(), out);
    if (message.has_pong_for() && message.pong_for().has_self()) learn(node, message.pong_for().self(), out);
    if (message.has_ping_for())
      node.detector.on_ping_for(now, from, message.ping_for(), read(message.ping_for().self(), TestSigner()), out);
  }

  Rng rng_{11};
  std::deque<Node> nodes_;
  std::deque<Flight> flights_;
};

TEST(Detection, ASilentDeathIsKnownToAll) {
  Grid grid(20);
  grid.run(seconds(20));
  grid.kill(7);
  grid.run(seconds(60));
  EXPECT_EQ(grid.count(State::dead, 7), 19u);
  EXPECT_EQ(grid.deaths, 0u);
}

TEST(Detection, NoPeerStaysDeadAfterLossAndPauses) {
  Grid grid(16);
  grid.loss_percent = 20;
  for (int i = 0; i < 32; ++i) {
    grid.pause(static_cast<std::uint64_t>(i) % 16, seconds(5));
    grid.run(seconds(10));
  }
  EXPECT_EQ(grid.deaths, 0u);
}

TEST(Detection, APausedPeerRefutesWhenItWakesUp) {
  Grid grid(10);
  grid.run(seconds(20));
  grid.pause(3, seconds(13));
  grid.run(seconds(12));
  EXPECT_GT(grid.count(State::suspected, 3), 5u);
  EXPECT_EQ(grid.count(State::dead, 3), 0u);
  grid.run(seconds(10));
  EXPECT_EQ(grid.count(State::alive, 3), 9u);
}

TEST(Detection, ASlowObserverDeclaresNoPeerDead) {
  Grid grid(10);
  for (int i = 0; i < 20; ++i) {  // runs for a second out of ten
    grid.pause(0, seconds(9));
    grid.run(seconds(10));
  }
  EXPECT_EQ(grid.deaths, 0u);
  grid.run(seconds(60));
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_EQ(grid.state(i, 0), State::alive);
}

TEST(Detection, ALongPauseLooksLikeDeathAndIsForgiven) {
  Grid grid(8);
  grid.pause(3, seconds(120));
  grid.run(seconds(110));
  EXPECT_EQ(grid.count(State::dead, 3), 7u);
  grid.run(seconds(90));
  EXPECT_EQ(grid.count(State::alive, 3), 7u);
  for (std::uint64_t i = 0; i < 8; ++i)
    if (i != 3) EXPECT_EQ(grid.state(i, 3), State::alive) << "nor has it taken the others for dead";
}

}  // namespace
}  // namespace gw::overlay
