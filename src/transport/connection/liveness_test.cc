#include "transport/connection/liveness.h"

#include <gtest/gtest.h>

#include "transport/connection/request_table.h"

namespace gw::transport {
namespace {

using std::chrono::milliseconds;

constexpr Time kStart{std::chrono::hours(1)};
constexpr Liveness::Config kConfig{.handshake = milliseconds(100),
                                   .ping_after = milliseconds(10),
                                   .silence = milliseconds(30),
                                   .idle = milliseconds(200),
                                   .fast_ping = milliseconds(3),
                                   .fast_silence = milliseconds(8),
                                   .late = milliseconds(4),
                                   .message = milliseconds(60),
                                   .write = milliseconds(25),
                                   .probe = milliseconds(5),
                                   .linger = milliseconds(20)};

Time at(int ms) { return kStart + milliseconds(ms); }

Liveness ready() {
  Liveness liveness(kConfig, kStart);
  liveness.on_ready(kStart);
  return liveness;
}

TEST(Liveness, EndsASlowHandshakeAndNothingBefore) {
  Liveness liveness(kConfig, kStart);
  EXPECT_EQ(liveness.next_deadline(), at(100));
  EXPECT_TRUE(liveness.on_tick(at(99)));
  EXPECT_EQ(liveness.on_tick(at(100)).error().kind, Kind::timeout);
}

TEST(Liveness, PingsAPeerThatDoesNotAnswerThenGivesItUp) {
  Liveness liveness = ready();
  liveness.on_sent(kStart);
  EXPECT_EQ(liveness.on_tick(at(9)).value(), Liveness::Need::nothing);
  EXPECT_EQ(liveness.on_tick(at(10)).value(), Liveness::Need::ping);
  EXPECT_EQ(liveness.on_tick(at(11)).value(), Liveness::Need::nothing) << "one ping at a time";
  liveness.on_sent(at(12));
  EXPECT_TRUE(liveness.on_tick(at(29))) << "what is sent meanwhile changes nothing";
  EXPECT_FALSE(liveness.on_tick(at(30)));
}

TEST(Liveness, AfterAPauseReceivedBytesAreReadBeforeTheConnectionIsLost) {
  Liveness liveness = ready();
  liveness.on_sent(kStart);
  EXPECT_TRUE(liveness.on_tick(at(50)));
  EXPECT_EQ(liveness.next_deadline(), at(54));
  EXPECT_FALSE(liveness.on_tick(at(54))) << "nothing had come";
}

TEST(Liveness, AFrameIsASignOfLife) {
  Liveness liveness = ready();
  liveness.on_sent(kStart);
  liveness.on_frame(at(25));
  EXPECT_EQ(liveness.next_deadline(), at(225)) << "nothing is expected any more";
  liveness.on_sent(at(26));
  EXPECT_TRUE(liveness.on_tick(at(55)));
  EXPECT_FALSE(liveness.on_tick(at(56)));
}

TEST(Liveness, TheEndOfAConnectionThatOthersDependOnIsNoticedSoon) {
  Liveness liveness = ready();
  liveness.set_loss_detection(kStart, Liveness::LossDetection::fast);
  EXPECT_EQ(liveness.on_tick(at(2)).value(), Liveness::Need::nothing);
  EXPECT_EQ(liveness.on_tick(at(3)).value(), Liveness::Need::ping) << "though nothing was sent";
  liveness.on_frame(at(4));
  EXPECT_EQ(liveness.on_tick(at(7)).value(), Liveness::Need::ping);
  EXPECT_TRUE(liveness.on_tick(at(11)));
  EXPECT_FALSE(liveness.on_tick(at(12)));
  Liveness relaxed = ready();
  relaxed.set_loss_detection(kStart, Liveness::LossDetection::fast);
  relaxed.set_loss_detection(at(1), Liveness::LossDetection::normal);
  relaxed.on_frame(at(2));
  EXPECT_EQ(relaxed.next_deadline(), at(202));
}

TEST(Liveness, AnIdleConnectionIsAskedSeldomAndMustAnswer) {
  Liveness liveness = ready();
  EXPECT_EQ(liveness.on_tick(at(199)).value(), Liveness::Need::nothing);
  EXPECT_EQ(liveness.on_tick(at(200)).value(), Liveness::Need::ping);
  EXPECT_TRUE(liveness.on_tick(at(219)));
  EXPECT_FALSE(liveness.on_tick(at(220)));
}

TEST(Liveness, AMessageThatNeverEndsEndsTheConnectionThoughFramesCome) {
  Liveness liveness = ready();
  for (int ms = 1; ms < 60; ++ms) {
    liveness.on_frame(at(ms));
    liveness.on_lane(at(ms), Lane::bulk, true);
    ASSERT_TRUE(liveness.on_tick(at(ms)));
  }
  liveness.on_frame(at(61));
  EXPECT_FALSE(liveness.on_tick(at(61)));
  liveness.on_lane(at(61), Lane::bulk, false);
  EXPECT_TRUE(liveness.on_tick(at(61)));
}

TEST(Liveness, EndsAPeerThatDoesNotRead) {
  Liveness liveness = ready();
  liveness.on_write_started(at(1));
  liveness.on_frame(at(24));
  EXPECT_TRUE(liveness.on_tick(at(25)));
  EXPECT_FALSE(liveness.on_tick(at(26)));
}

TEST(Liveness, ADoubtfulPeerMustAnswerAtOnce) {
  Liveness liveness = ready();
  liveness.doubt(at(1));
  EXPECT_EQ(liveness.on_tick(at(1)).value(), Liveness::Need::ping);
  EXPECT_FALSE(liveness.on_tick(at(6)));
  Liveness answered = ready();
  answered.doubt(at(1));
  answered.on_frame(at(5));
  EXPECT_TRUE(answered.on_tick(at(6)));
}

TEST(Liveness, AfterTheGoodbyeOnlyTheLingerCounts) {
  Liveness liveness = ready();
  liveness.on_goodbye(at(1));
  liveness.on_frame(at(2));
  EXPECT_EQ(liveness.next_deadline(), at(21));
}

TEST(RequestTable, EachRequestEndsOnce) {
  RequestTable table(3);
  std::vector<std::string> ends;
  auto note = [&](std::string name) {
    return [&ends, name](Result<Bytes> answer) {
      ends.push_back(name + (answer ? " answered" : fmt::format(" {}", gw::name(answer.error().kind))));
    };
  };
  auto answered = table.open(at(10), note("first")).value();
  auto late = table.open(at(5), note("second")).value();
  ASSERT_TRUE(table.open(at(20), note("third")));
  EXPECT_EQ(table.open(at(20), note("fourth")).error().kind, Kind::overloaded);
  EXPECT_EQ(table.next_deadline(), at(5));
  table.on_answer(answered, Bytes{1});
  table.on_answer(answered, Bytes{1});
  table.on_tick(at(5));
  table.on_answer(late, Bytes{1});
  table.fail_all(fail(Kind::disconnected, "gone"));
  EXPECT_EQ(ends, (std::vector<std::string>{"first answered", "second timeout", "third disconnected"}));
  EXPECT_EQ(table.next_deadline(), Time::max());
}

}  // namespace
}  // namespace gw::transport
