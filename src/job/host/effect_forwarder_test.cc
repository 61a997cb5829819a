#include "job/host/effect_forwarder.h"

#include <gtest/gtest.h>

#include "job/test/effects.h"

namespace gw::job {
namespace forwarder_test {

using std::chrono::seconds;

constexpr auto kAll = [](const Effect&) { return true; };

std::vector<std::uint64_t> numbers(const JobMessage::Effects& message) {
  std::vector<std::uint64_t> list;
  for (const Effect& effect : message.effects()) list.push_back(effect.sequence());
  return list;
}

StreamMarks home(std::uint64_t sequence) { return {{kHomeStream, sequence}}; }

class Forwarder : public testing::Test {
 protected:
  Forwarder() {
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) EXPECT_TRUE(forwarder_.add(test::output(sequence, "x")));
  }
  const Time retry_ = EffectForwarder::Config().retry;
  EffectForwarder forwarder_{{}, {}};
};

TEST_F(Forwarder, SendsEachEffectOnceUntilItIsDueAgain) {
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), kAll)), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(numbers(forwarder_.take(seconds(1), kAll)).empty());
  EXPECT_EQ(forwarder_.due(), seconds(1) + retry_);
  EXPECT_EQ(numbers(forwarder_.take_again(seconds(2), kAll)), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Forwarder, ForgetsWhatIsStored) {
  forwarder_.take(seconds(1), kAll);
  const auto stored = forwarder_.on_stored(seconds(1), home(2));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->streams, home(2));
  EXPECT_FALSE(stored->ended);
  EXPECT_FALSE(forwarder_.on_stored(seconds(1), home(2))) << "said before";
  EXPECT_EQ(numbers(forwarder_.take_again(seconds(2), kAll)), (std::vector<std::uint64_t>{3}));
  ASSERT_TRUE(forwarder_.add(test::end(4, 0, 1)));
  EXPECT_TRUE(forwarder_.on_stored(seconds(2), home(9))->ended);
  EXPECT_EQ(forwarder_.due(), kNever);
}

TEST_F(Forwarder, KnowsAfterWhichEffectAStreamGoesOn) {
  EXPECT_EQ(forwarder_.last(kHomeStream), 3u);
  EXPECT_EQ(forwarder_.last(kLogStream), 0u);
  forwarder_.on_stored(seconds(1), home(3));
  EXPECT_EQ(forwarder_.last(kHomeStream), 3u);
  EffectForwarder replay({}, home(5));
  EXPECT_EQ(replay.last(kHomeStream), 5u);
  ASSERT_TRUE(replay.add(test::output(2, "x")));
  EXPECT_EQ(replay.last(kHomeStream), 2u) << "the earlier run has sent what follows, and this one has not";
}

// --- streams

TEST_F(Forwarder, AStreamThatMayNotLeaveHoldsUpNoOther) {
  ASSERT_TRUE(forwarder_.add(test::spawn(1)));
  ASSERT_TRUE(forwarder_.add(test::output(4, "x")));
  const auto no_forks = [](const Effect& effect) { return !effect.has_spawn(); };
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), no_forks)), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(forwarder_.on_stored(seconds(1), home(4))->streams, home(4));
  EXPECT_FALSE(forwarder_.empty());
  EXPECT_EQ(forwarder_.due(), seconds(1) + retry_) << "looks again whether it may leave";
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), kAll)), (std::vector<std::uint64_t>{1}));
}

TEST_F(Forwarder, AnAcknowledgementIsForItsStreamAlone) {
  ASSERT_TRUE(forwarder_.add(test::spawn(1)));
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), kAll)), (std::vector<std::uint64_t>{1, 2, 3, 1})) << "one message";
  const StreamMarks log{{kLogStream, 1}};
  EXPECT_EQ(forwarder_.on_stored(seconds(1), log)->streams, log);
  EXPECT_EQ(forwarder_.stored(kLogStream), 1u);
  EXPECT_EQ(forwarder_.stored(kHomeStream), 0u);
  EXPECT_EQ(numbers(forwarder_.take_again(seconds(2), kAll)), (std::vector<std::uint64_t>{1, 2, 3}));
}

// A thread that goes on printing does not put off what was lost.
TEST_F(Forwarder, NewEffectsDoNotPutOffOldOnes) {
  forwarder_.take(seconds(1), kAll);
  ASSERT_TRUE(forwarder_.add(test::output(4, "x")));
  EXPECT_EQ(numbers(forwarder_.take(seconds(1) + retry_ / 2, kAll)), (std::vector<std::uint64_t>{4}));
  EXPECT_EQ(forwarder_.due(), seconds(1) + retry_);
  forwarder_.on_stored(seconds(1) + retry_ / 2, home(1));
  EXPECT_EQ(forwarder_.due(), seconds(1) + retry_ / 2 + retry_) << "but progress does";
}

TEST_F(Forwarder, OnlyAStreamThatIsDueOrNearlySoIsRepeated) {
  forwarder_.take(seconds(1), kAll);
  ASSERT_TRUE(forwarder_.add(test::spawn(1)));
  EXPECT_EQ(numbers(forwarder_.take(seconds(1) + retry_ * 3 / 4, kAll)), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(numbers(forwarder_.take_again(seconds(1) + retry_, kAll)), (std::vector<std::uint64_t>{1, 2, 3})) << "not the fork";
  EXPECT_EQ(forwarder_.due(), seconds(1) + retry_ * 3 / 4 + retry_);
  EXPECT_EQ(numbers(forwarder_.take_again(forwarder_.due(), kAll)), (std::vector<std::uint64_t>{1})) << "the fork";
  EXPECT_EQ(forwarder_.due(), seconds(1) + 3 * retry_) << "twice as long after the second attempt";
  EXPECT_EQ(numbers(forwarder_.take_again(forwarder_.due(), kAll)), (std::vector<std::uint64_t>{1, 2, 3, 1})) << "together from now on";
}

// A home that is away for long is asked less and less often, and at once as often as before when it is back.
TEST_F(Forwarder, WaitsLongerWhileNothingIsHeard) {
  forwarder_.take(seconds(1), kAll);
  std::vector<Time> waits;
  for (Time now = forwarder_.due(); waits.size() < 4; now = forwarder_.due()) {
    forwarder_.take_again(now, kAll);
    waits.push_back(forwarder_.due() - now);
  }
  EXPECT_EQ(waits, (std::vector<Time>{2 * retry_, 4 * retry_, 4 * retry_, 4 * retry_}));
  forwarder_.on_stored(seconds(60), home(1));
  EXPECT_EQ(forwarder_.due(), seconds(60) + retry_);
}

TEST_F(Forwarder, NothingOvertakesAnEffectThatMayNotLeave) {
  bool open = false;
  const auto may_leave = [&](const Effect& effect) { return effect.sequence() != 2 || open; };
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), may_leave)), (std::vector<std::uint64_t>{1}));
  open = true;
  EXPECT_EQ(numbers(forwarder_.take(seconds(1), may_leave)), (std::vector<std::uint64_t>{2, 3}));
}

TEST_F(Forwarder, AGapIsTheWorkersFault) {
  const Status status = forwarder_.add(test::output(5, "x"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, Kind::invalid);
}

// Finding N17: a guest that had left its engine filled the daemon's memory with effects that were not stored yet.
TEST_F(Forwarder, MoreThanAGateHoldsIsTheWorkersFault) {
  EffectForwarder few({.effects = 5}, {});
  std::uint64_t sequence = 0;
  while (sequence < 5) ASSERT_TRUE(few.add(test::output(++sequence, "x")));
  EXPECT_EQ(few.add(test::output(6, "x")).error().kind, Kind::invalid);
  EffectForwarder short_of_bytes({.bytes = 1000}, {});
  for (sequence = 1; sequence <= 100; ++sequence) {  // far more than its limit, but home stores it
    ASSERT_TRUE(short_of_bytes.add(test::output(sequence, std::string(400, 'x'))));
    if (sequence > 2) short_of_bytes.on_stored(seconds(1), home(sequence - 2));
  }
  ASSERT_TRUE(short_of_bytes.add(test::output(101, std::string(400, 'x'))));
  EXPECT_EQ(short_of_bytes.add(test::output(102, "x")).error().kind, Kind::invalid);
}

TEST_F(Forwarder, AMessageHasALimitAndAtLeastOneEffect) {
  EffectForwarder small({.bytes_per_message = 8}, {});
  ASSERT_TRUE(small.add(test::output(1, std::string(100, 'x'))));
  ASSERT_TRUE(small.add(test::output(2, "x")));
  EXPECT_EQ(numbers(small.take(seconds(1), kAll)), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(numbers(small.take(seconds(1), kAll)), (std::vector<std::uint64_t>{2}));
}

// A replay sends again what home has: home says so, and nothing else leaves twice.
TEST_F(Forwarder, AReplayBeginsBeforeWhatIsStored) {
  EffectForwarder replay({}, home(5));
  for (std::uint64_t sequence = 3; sequence <= 6; ++sequence) ASSERT_TRUE(replay.add(test::output(sequence, "x", 2)));
  EXPECT_EQ(numbers(replay.take(seconds(1), kAll)), (std::vector<std::uint64_t>{3, 4, 5, 6}));
  EXPECT_TRUE(replay.on_stored(seconds(1), home(5)));
  EXPECT_EQ(numbers(replay.take_again(seconds(2), kAll)), (std::vector<std::uint64_t>{6}));
}

}  // namespace forwarder_test
}  // namespace gw::job
