#include "overlay/failures/failure_detector.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = FailureDetector::State;

class Book : public Contacts {
 public:
  const Descriptor* find(const PeerId& peer) const override {
    const auto found = peers.find(peer);
    return found != peers.end() ? &found->second : nullptr;
  }
  std::vector<PeerId> all() const override {
    std::vector<PeerId> list;
    for (const auto& [id, peer] : peers) list.push_back(id);
    return list;
  }
  bool is_suspected(const PeerId&) const override { return false; }
  bool was_seen(const PeerId&) const override { return true; }
  std::map<PeerId, Descriptor> peers;
};

Descriptor open_peer(std::uint64_t number, std::uint32_t stamp = 1) {
  Descriptor peer = test_peer(number, stamp);
  peer.reach = Reach::open;
  return peer;
}

// A detector at peer 0, among peers 1 to 9.
class Detector : public testing::Test {
 protected:
  Detector() {
    for (std::uint64_t i = 1; i < 10; ++i) book.peers[test_id(i)] = open_peer(i);
  }

  // Advances time; every peer that is not silent sends a message once a second.
  void pass(Time time, const std::vector<std::uint64_t>& silent) {
    const Time end = now + time;
    while (now < end) {
      now += milliseconds(100);
      if (now % seconds(1) == Time(0)) {
        for (std::uint64_t i = 1; i < 10; ++i)
          if (std::ranges::find(silent, i) == silent.end()) detector.on_seen(now, test_id(i), out);
      }
      if (now % seconds(5) == Time(0)) detector.on_round(now, out);
      if (detector.next_deadline() <= now) detector.on_tick(now, out);
      for (const PeerId& dead : detector.take_dead()) book.peers.erase(dead);
    }
  }
  std::size_t pings_to(std::uint64_t peer) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(out.sends, [&](const Send& send) { return send.to == test_id(peer) && send.message.has_ping(); }));
  }
  Message rumour(std::uint64_t about, Incarnation incarnation) const {
    Message message;
    Message::Rumour& rumour = *message.add_rumours();
    rumour.set_peer(test_id(about).bytes());
    rumour.set_boot(incarnation.boot);
    rumour.set_stamp(incarnation.stamp);
    return message;
  }
  void hear_rumour(std::uint64_t from, std::uint64_t about, Incarnation incarnation = {1, 1}) {
    detector.on_rumours(now, test_id(from), rumour(about, incarnation), {1, 1}, out);
  }
  State state(std::uint64_t peer) const { return detector.state(test_id(peer)); }

  Rng rng_{9};

  Book book;
  Output out;
  Time now = seconds(100);
  FailureDetector detector{{}, test_id(0), book, Rng(5)};
};

TEST_F(Detector, PingsAllPeersInTurn) {
  for (int i = 0; i < 9; ++i) {
    now += seconds(5);
    detector.on_round(now, out);
  }
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_EQ(pings_to(i), 1u);
}

TEST_F(Detector, OfManyPeersItPingsThoseWithOldDescriptors) {
  for (std::uint64_t i = 10; i < 200; ++i) book.peers[test_id(i)] = open_peer(i);
  book.peers.at(test_id(3)).age = 13;
  for (int i = 0; i < 39; ++i) {  // one turn, of five a round
    now += seconds(5);
    detector.on_round(now, out);
    for (std::uint64_t peer = 1; peer < 200; ++peer) detector.on_seen(now, test_id(peer), out);
  }
  EXPECT_EQ(pings_to(3), 1u);
  EXPECT_GE(out.sends.size(), 39u) << "one of each round";
  EXPECT_LE(out.sends.size(), 40u);
}

TEST_F(Detector, SuspectsThenBuriesWhoIsSilentToItAndToOthers) {
  detector.on_silence(now, test_id(3), out);
  pass(milliseconds(1600), {3});
  EXPECT_EQ(std::ranges::count_if(out.sends, [](const Send& send) { return send.message.has_ping_for(); }), 3);
  EXPECT_EQ(state(3), State::alive);
  pass(milliseconds(1600), {3});
  EXPECT_EQ(state(3), State::suspected);
  pass(seconds(25), {3});
  EXPECT_EQ(state(3), State::suspected);
  pass(seconds(10), {3});
  EXPECT_EQ(state(3), State::dead);
  for (std::uint64_t i = 1; i < 10; ++i)
    if (i != 3) EXPECT_EQ(state(i), State::alive);
}

TEST_F(Detector, ASuspectCanRefuteItsIncarnation) {
  detector.on_silence(now, test_id(3), out);
  pass(seconds(4), {3});
  ASSERT_EQ(state(3), State::suspected);
  out = {};
  pass(seconds(2), {3});
  const auto ping = std::ranges::find_if(out.sends, [](const Send& send) { return send.to == test_id(3) && send.message.has_ping(); });
  ASSERT_NE(ping, out.sends.end());
  EXPECT_EQ(ping->message.ping().suspected_boot(), 1u);
  EXPECT_EQ(ping->message.ping().suspected_stamp(), 1u);
  detector.on_descriptor(now, open_peer(3, 1), out);
  EXPECT_EQ(state(3), State::suspected) << "a replay refutes nothing";
  Descriptor old = open_peer(3, 2);
  old.age = 9;
  detector.on_descriptor(now, old, out);
  EXPECT_EQ(state(3), State::suspected) << "newer, but perhaps made before it died";
  detector.on_descriptor(now, open_peer(3, 3), out);
  EXPECT_EQ(state(3), State::alive);
}

TEST_F(Detector, RumoursShortenASuspicionButDecideNothing) {
  for (std::uint64_t from = 4; from < 10; ++from) hear_rumour(from, 3);
  EXPECT_EQ(pings_to(3), 1u);
  EXPECT_EQ(state(3), State::alive);
  detector.on_seen(now, test_id(3), out);
  pass(seconds(60), {});
  EXPECT_EQ(state(3), State::alive) << "it answered, whatever the others say";

  for (std::uint64_t from = 4; from < 10; ++from) hear_rumour(from, 3);
  pass(seconds(14), {3});
  EXPECT_EQ(state(3), State::dead) << "silent to this peer as well: no need to wait for half a minute";
}

TEST_F(Detector, OneLiarsRumoursCostFewPings) {
  for (int i = 0; i < 1000; ++i) {
    now += milliseconds(10);
    hear_rumour(9, 1 + rng_.below(8), {1, 1 + static_cast<std::uint32_t>(rng_.below(100))});
    for (std::uint64_t peer = 1; peer < 10; ++peer) detector.on_seen(now, test_id(peer), out);
  }
  EXPECT_LE(out.sends.size(), 8u) << "each of eight peers once in half a minute";
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_EQ(state(i), State::alive);
}

TEST_F(Detector, RumoursOfOlderIncarnationsAndOfStrangersCostNothing) {
  book.peers[test_id(3)] = open_peer(3, 50);
  hear_rumour(4, 3, {1, 30});
  hear_rumour(4, 3, {0, 99});
  hear_rumour(4, 77);
  EXPECT_TRUE(out.sends.empty());
}

TEST_F(Detector, ARumourAboutThisPeerIsReported) {
  using Accused = FailureDetector::Accused;
  EXPECT_EQ(detector.on_rumours(now, test_id(1), rumour(0, {1, 5}), {1, 5}, out), Accused::yes);
  EXPECT_EQ(detector.on_rumours(now, test_id(1), rumour(0, {1, 4}), {1, 5}, out), Accused::no);
}

TEST_F(Detector, APeerThatHearsFromNoOtherSuspectsItself) {
  for (std::uint64_t i = 1; i < 10; ++i) detector.on_silence(now, test_id(i), out);
  pass(seconds(600), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_NE(state(i), State::dead);
}

TEST_F(Detector, AnOwnPauseDoesNotCountAgainstOthers) {
  for (std::uint64_t i = 1; i < 10; ++i) detector.on_silence(now, test_id(i), out);
  pass(seconds(4), {3});
  ASSERT_EQ(state(3), State::suspected);
  detector.on_seen(now, test_id(4), out);
  now += seconds(300);  // stopped
  detector.on_tick(now, out);
  EXPECT_EQ(state(3), State::suspected);
  detector.on_seen(now, test_id(3), out);
  EXPECT_EQ(state(3), State::alive);
}

TEST_F(Detector, AResetAndADialThatFailsIsDeath) {
  detector.on_reset(now, test_id(3), out);
  EXPECT_EQ(pings_to(3), 1u);
  EXPECT_EQ(state(3), State::alive);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  EXPECT_EQ(state(3), State::dead);
}

TEST_F(Detector, ARefusalIsTriedOnceMore) {
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  EXPECT_EQ(pings_to(3), 1u);
  EXPECT_EQ(state(3), State::alive);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  EXPECT_EQ(state(3), State::dead);
}

TEST_F(Detector, AResetFollowedByAnAnswerIsNothing) {
  detector.on_reset(now, test_id(3), out);
  detector.on_seen(now, test_id(3), out);
  detector.on_unreachable(now, test_id(3), Failure::no_answer, out);
  EXPECT_EQ(state(3), State::alive);
}

TEST_F(Detector, NoAnswerAfterAResetIsDeathOnlyIfOthersAnswer) {
  detector.on_reset(now, test_id(3), out);
  detector.on_unreachable(now + seconds(3), test_id(3), Failure::no_answer, out);
  EXPECT_EQ(state(3), State::alive) << "perhaps the own network is gone";
  now += seconds(4);
  detector.on_reset(now, test_id(4), out);
  detector.on_seen(now + seconds(1), test_id(5), out);
  detector.on_unreachable(now + seconds(3), test_id(4), Failure::no_answer, out);
  EXPECT_EQ(state(4), State::dead);
}

TEST_F(Detector, APeerThatOnlyDialsIsJudgedByTheAgeOfItsDescriptor) {
  book.peers[test_id(3)].reach = Reach::outbound;
  for (int i = 0; i < 5; ++i) {
    detector.on_silence(now, test_id(3), out);
    detector.on_unreachable(now, test_id(3), Failure::refused, out);
    pass(seconds(60), {3});
    EXPECT_EQ(state(3), State::alive);
  }
  book.peers[test_id(3)].age = 100;
  detector.on_silence(now, test_id(3), out);
  pass(seconds(60), {3});
  EXPECT_EQ(state(3), State::dead);
}

TEST_F(Detector, APeerOfUnknownReachIsDeadIfOthersMissItAndItsMachineRefuses) {
  book.peers[test_id(3)].reach = Reach::unknown;
  book.peers[test_id(4)].reach = Reach::unknown;
  hear_rumour(5, 3);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  hear_rumour(5, 4);
  detector.on_unreachable(now, test_id(4), Failure::no_answer, out);
  pass(seconds(25), {3, 4});
  EXPECT_EQ(state(3), State::dead);
  EXPECT_EQ(state(4), State::alive) << "there may be a wall";
}

TEST_F(Detector, OnlyAFreshDescriptorOrANewBootRevivesADeadPeer) {
  detector.on_reset(now, test_id(3), out);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  ASSERT_EQ(state(3), State::dead);
  EXPECT_FALSE(detector.admits(open_peer(3, 1)));
  Descriptor late = open_peer(3, 5);
  late.age = 3;
  EXPECT_FALSE(detector.admits(late)) << "made three rounds ago, and it died in this one";
  EXPECT_TRUE(detector.admits(open_peer(3, 5)));
  Descriptor reborn = late;
  reborn.incarnation.boot = 2;
  EXPECT_TRUE(detector.admits(reborn));
  detector.on_descriptor(now, late, out);
  EXPECT_EQ(state(3), State::dead);
  detector.on_descriptor(now, open_peer(3, 5), out);
  EXPECT_EQ(state(3), State::alive);
}

TEST_F(Detector, AMessageOfADeadPeerRevivesItAndAsksForANewDescriptor) {
  detector.on_reset(now, test_id(3), out);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  out = {};
  detector.on_seen(now, test_id(3), out);
  EXPECT_EQ(state(3), State::alive);
  ASSERT_EQ(out.sends.size(), 1u);
  EXPECT_EQ(out.sends[0].message.ping().suspected_stamp(), 1u);
}

TEST_F(Detector, TombstonesExpire) {
  detector.on_reset(now, test_id(3), out);
  detector.on_unreachable(now, test_id(3), Failure::refused, out);
  pass(std::chrono::minutes(14), {3});
  EXPECT_EQ(detector.tombstones().size(), 1u);
  pass(std::chrono::minutes(2), {3});
  EXPECT_EQ(detector.tombstones().size(), 0u);
}

TEST_F(Detector, APeerThatLeavesIsDeadAtOnce) {
  detector.on_leave(now, test_id(3), {1, 4});
  EXPECT_EQ(state(3), State::dead);
  EXPECT_FALSE(detector.admits(open_peer(3, 4)));
}

TEST_F(Detector, SpreadsARumourSoManyTimesAndNoMore) {
  detector.on_round(now, out);
  detector.on_leave(now, test_id(3), {1, 4});
  int told = 0;
  for (int i = 0; i < 100; ++i) {
    Message message;
    detector.add_rumours(message);
    told += message.rumours_size();
  }
  EXPECT_GT(told, 2);
  EXPECT_LT(told, 10);
}

TEST_F(Detector, PingsForOthersAndHandsOnOnlyASignedAnswer) {
  Message::PingFor request;
  request.set_number(42);
  detector.on_ping_for(now, test_id(1), request, open_peer(50, 4), out);
  ASSERT_EQ(out.sends.size(), 1u);
  EXPECT_EQ(out.sends[0].to, test_id(50));
  EXPECT_EQ(out.sends[0].message.ping().suspected_stamp(), 4u);
  out = {};
  detector.on_descriptor(now, open_peer(50, 4), out);
  EXPECT_TRUE(out.sends.empty());
  detector.on_descriptor(now, open_peer(50, 5), out);
  ASSERT_EQ(out.sends.size(), 1u);
  EXPECT_EQ(out.sends[0].to, test_id(1));
  EXPECT_EQ(out.sends[0].message.pong_for().number(), 42u);
  EXPECT_EQ(out.sends[0].message.pong_for().self().stamp(), 5u);
}

TEST_F(Detector, ErrandsForOthersAreBounded) {
  for (std::uint64_t i = 0; i < 1000; ++i) detector.on_ping_for(now, test_id(1), {}, open_peer(50 + i), out);
  EXPECT_LE(out.sends.size(), 4u);
  for (std::uint64_t i = 0; i < 1000; ++i) detector.on_ping_for(now, test_id(100 + i), {}, open_peer(50), out);
  EXPECT_LE(out.sends.size(), 20u);
}

TEST_F(Detector, TablesAreBoundedWhateverDies) {
  for (std::uint64_t i = 1; i < 2000; ++i) {
    book.peers[test_id(i)] = open_peer(i);
    detector.on_reset(now, test_id(i), out);
    detector.on_unreachable(now, test_id(i), Failure::refused, out);
    book.peers.erase(test_id(i));
  }
  EXPECT_EQ(detector.tombstones().size(), 256u);
}

}  // namespace
}  // namespace gw::overlay
