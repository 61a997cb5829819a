#include "overlay/failures/link_watch.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using LinkState = LinkWatch::State;

class NoContacts : public Contacts {
 public:
  const Descriptor* find(const PeerId&) const override { return nullptr; }
  std::vector<PeerId> all() const override { return {}; }
  bool is_suspected(const PeerId&) const override { return false; }
  bool was_seen(const PeerId&) const override { return true; }
};

class Links : public testing::Test {
 protected:
  void tick_until(Time end) {
    while (watch.next_deadline() <= end) {
      now = watch.next_deadline();
      watch.on_tick(now, out);
    }
    now = end;
  }

  NoContacts contacts;
  LinkWatch watch{{}, contacts, Rng(1)};
  Output out;
  Time now = seconds(100);
  const PeerId peer = test_id(1);
};

TEST_F(Links, SilenceForFiveSecondsIsALoss) {
  watch.watch_peer(now, peer);
  tick_until(now + milliseconds(4500));
  EXPECT_EQ(watch.state(peer), LinkState::there);
  EXPECT_EQ(out.sends.size(), 4u) << "a ping every second";
  tick_until(now + milliseconds(600));
  EXPECT_EQ(watch.state(peer), LinkState::lost);
  ASSERT_EQ(watch.take_changes().size(), 1u);
  watch.on_seen(now, peer);
  EXPECT_EQ(watch.state(peer), LinkState::there);
  EXPECT_EQ(watch.take_changes().at(0).state, LinkState::there);
}

TEST_F(Links, WhoSpeaksIsNeitherPingedNorLost) {
  watch.watch_peer(now, peer);
  for (int i = 0; i < 60; ++i) {
    watch.on_seen(watch.next_deadline() - milliseconds(1), peer);
    tick_until(watch.next_deadline());
  }
  EXPECT_TRUE(out.sends.empty());
  EXPECT_EQ(watch.state(peer), LinkState::there);
}

TEST_F(Links, AResetAndADialThatFailsIsALossAtOnce) {
  watch.watch_peer(now, peer);
  watch.on_unreachable(now, peer, Failure::no_answer, out);
  EXPECT_EQ(watch.state(peer), LinkState::there);
  watch.on_reset(now, peer, out);
  EXPECT_EQ(out.sends.size(), 1u);
  EXPECT_EQ(watch.state(peer), LinkState::there);
  watch.on_unreachable(now, peer, Failure::no_answer, out);
  EXPECT_EQ(watch.state(peer), LinkState::lost);
}

TEST_F(Links, AResetOfAConnectionThatIsMadeAgainIsNothing) {
  watch.watch_peer(now, peer);
  watch.on_reset(now, peer, out);
  watch.on_seen(now, peer);
  watch.on_unreachable(now, peer, Failure::no_answer, out);
  EXPECT_EQ(watch.state(peer), LinkState::there);
}

TEST_F(Links, WatchingEndsAfterTheLastUse) {
  watch.watch_peer(now, peer);
  tick_until(now + seconds(50));
  EXPECT_EQ(watch.state(peer), LinkState::lost);
  watch.watch_peer(now, peer);
  tick_until(now + seconds(50));
  EXPECT_EQ(watch.size(), 1u);
  tick_until(now + seconds(15));
  EXPECT_EQ(watch.state(peer), LinkState::not_watched);
  EXPECT_EQ(watch.next_deadline(), kNever);
}

TEST_F(Links, AnOwnPauseDoesNotCountAgainstOthers) {
  watch.watch_peer(now, peer);
  tick_until(now + seconds(2));
  now += seconds(30);  // stopped
  watch.on_tick(now, out);
  EXPECT_EQ(watch.state(peer), LinkState::there);
  tick_until(now + seconds(6));
  EXPECT_EQ(watch.state(peer), LinkState::lost) << "but silence afterwards does";
}

TEST_F(Links, IsBoundedAndIgnoresStrangers) {
  for (std::uint64_t i = 0; i < 2000; ++i) watch.watch_peer(now, test_id(i));
  EXPECT_EQ(watch.size(), 1024u);
  watch.on_seen(now, test_id(5000));
  watch.on_reset(now, test_id(5000), out);
  EXPECT_EQ(watch.state(test_id(5000)), LinkState::not_watched);
}

}  // namespace
}  // namespace gw::overlay
