#include "job/effects/effect_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/test/effects.h"

namespace gw::job {
namespace {

using test::output;
using Verdict = EffectLedger::Verdict;

class Ledger : public testing::Test {
 protected:
  Ledger() { GW_ASSERT(ledger_.add(kMainThread).has_value()); }
  Kind refusal(const Effect& effect) { return ledger_.accept(effect).error().kind; }
  EffectLedger ledger_;
};

TEST_F(Ledger, TakesEachEffectOnce) {
  EXPECT_EQ(ledger_.accept(output(1, "a")).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(output(1, "a")).value(), Verdict::duplicate);
  EXPECT_EQ(ledger_.accept(output(2, "b")).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(output(1, "a")).value(), Verdict::duplicate);
  EXPECT_EQ(ledger_.stored(kMainThread, kHomeStream), 2u);
}

TEST_F(Ledger, RefusesGapsAndStrangers) {
  EXPECT_EQ(refusal(output(2, "a")), Kind::invalid);
  EXPECT_EQ(refusal(output(0, "a")), Kind::invalid);
  Effect stranger = output(1, "a");
  stranger.set_thread(77);
  EXPECT_EQ(refusal(stranger), Kind::not_found);
  Effect nothing = output(1, "a");
  nothing.clear_output();
  EXPECT_EQ(refusal(nothing), Kind::invalid);
}

TEST_F(Ledger, RefusesAZombie) {
  ASSERT_TRUE(ledger_.accept(output(1, "a")));
  EXPECT_EQ(ledger_.next_epoch(kMainThread).value(), 2u);
  EXPECT_EQ(refusal(output(2, "b", 1)), Kind::disconnected);
  EXPECT_EQ(ledger_.accept(output(1, "a", 2)).value(), Verdict::duplicate);
  EXPECT_EQ(ledger_.accept(output(2, "b", 2)).value(), Verdict::fresh);
}

TEST_F(Ledger, CountsEachStreamAlone) {
  EXPECT_TRUE(ledger_.stored(kMainThread).empty());
  EXPECT_EQ(ledger_.accept(output(1, "a")).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(test::spawn(1)).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(test::spawn(2)).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(test::spawn(1)).value(), Verdict::duplicate);
  EXPECT_EQ(refusal(output(3, "c")), Kind::invalid) << "a gap here is no gap there";
  EXPECT_EQ(ledger_.stored(kMainThread), (StreamMarks{{kHomeStream, 1}, {kLogStream, 2}}));
}

TEST_F(Ledger, RefusesAnEffectInAnotherStream) {
  Effect fork = test::spawn(1);
  wire::write(kHomeStream, *fork.mutable_stream());
  EXPECT_EQ(refusal(fork), Kind::invalid);
  Effect text = output(1, "a");
  wire::write(kLogStream, *text.mutable_stream());
  EXPECT_EQ(refusal(text), Kind::invalid);
  text.clear_stream();
  EXPECT_EQ(refusal(text), Kind::invalid);
}

TEST_F(Ledger, AnEpochNeverGoesBack) {
  ASSERT_TRUE(ledger_.adopt(ThreadId{9}, 4));
  ASSERT_TRUE(ledger_.adopt(ThreadId{9}, 1));
  Effect effect = output(1, "x", 4);
  effect.set_thread(9);
  EXPECT_EQ(ledger_.accept(effect).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.running(), 2u);
}

TEST_F(Ledger, NamesBothEffectsOfADivergence) {
  ASSERT_TRUE(ledger_.accept(output(1, "four")));
  auto other = ledger_.accept(output(1, "seventy"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, Kind::guest_fault);
  EXPECT_THAT(other.error().detail, testing::AllOf(testing::HasSubstr("7 bytes"), testing::HasSubstr("4 bytes")));
}

TEST_F(Ledger, ForgetsTheTextOfOldEffectsButNotTheirNumbers) {
  for (std::uint64_t i = 1; i <= EffectLedger::kRemembered + 10; ++i) ASSERT_EQ(ledger_.accept(output(i, "x")).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(output(1, "other")).value(), Verdict::duplicate);
  EXPECT_FALSE(ledger_.accept(output(11, "other")));
}

// A program that never stops printing costs home no more than one that has printed for a while, and many programs together likewise.
TEST(EffectLedger, RemembersABoundedNumberOfEffects) {
  EffectLedger ledger({.remembered = 100});
  for (std::uint64_t thread = 1; thread <= 10; ++thread) ASSERT_TRUE(ledger.add(ThreadId{thread}));
  for (std::uint64_t i = 1; i <= 50; ++i) {
    for (std::uint64_t thread = 1; thread <= 10; ++thread) {
      Effect effect = output(i, "x");
      effect.set_thread(thread);
      ASSERT_EQ(ledger.accept(effect).value(), Verdict::fresh);
      ASSERT_LE(ledger.remembered(), 100u);
    }
  }
  for (std::uint64_t thread = 1; thread <= 10; ++thread) {
    Effect diverged = output(50, "other");
    diverged.set_thread(thread);
    EXPECT_EQ(ledger.accept(diverged).error().kind, Kind::guest_fault) << "each keeps its last ones";
    Effect ended = test::end(51, 0, 1);
    ended.set_thread(thread);
    ASSERT_EQ(ledger.accept(ended).value(), Verdict::fresh);
  }
  EXPECT_EQ(ledger.remembered(), 0u) << "nobody replays a thread that has ended";
}

// A command that keeps no output suspends its threads; an image may still have an effect in its outbox that home has stored.
TEST_F(Ledger, AnEffectIsNotComparedWithOneWhoseContentWasNotKept) {
  StoredEffect forgotten = entry_of(output(1, "")).header;
  forgotten.digest = kNoDigest;
  ASSERT_TRUE(ledger_.restore(forgotten));
  EXPECT_EQ(ledger_.accept(output(1, "sent again")).value(), Verdict::duplicate);
}

TEST_F(Ledger, KnowsAChildFromItsSpawn) {
  Effect spawn = test::spawn(1);
  spawn.mutable_spawn()->set_child(42);
  EXPECT_EQ(refusal(spawn), Kind::invalid) << "a parent may not choose the name";
  spawn = test::spawn(1);
  EXPECT_EQ(ledger_.accept(spawn).value(), Verdict::fresh);
  spawn.mutable_spawn()->set_image(std::string(32, 'i'));
  EXPECT_EQ(ledger_.accept(spawn).value(), Verdict::duplicate) << "the image differs from run to run";
  EXPECT_TRUE(ledger_.knows(child_of(kMainThread, 1)));
  EXPECT_EQ(ledger_.running(), 2u);
}

TEST_F(Ledger, NothingFollowsTheEndInAnyStream) {
  ASSERT_TRUE(ledger_.accept(test::spawn(1)));
  const Effect end = test::end(1, 3, 1);
  EXPECT_EQ(ledger_.accept(end).value(), Verdict::fresh);
  EXPECT_TRUE(ledger_.ended(kMainThread));
  EXPECT_EQ(ledger_.running(), 1u) << "the child";
  EXPECT_EQ(refusal(output(2, "late")), Kind::invalid);
  EXPECT_EQ(refusal(test::spawn(2)), Kind::invalid);
  EXPECT_EQ(ledger_.accept(end).value(), Verdict::duplicate);
  EXPECT_EQ(ledger_.accept(test::spawn(1)).value(), Verdict::duplicate);
}

TEST(EffectLedger, HasALimitOfChildren) {
  EffectLedger ledger({.children = 1});
  ASSERT_TRUE(ledger.add(kMainThread));
  ASSERT_TRUE(ledger.accept(test::spawn(1)));
  EXPECT_EQ(ledger.accept(test::spawn(2)).error().kind, Kind::overloaded);
  EXPECT_TRUE(ledger.add(ThreadId{2})) << "a task that becomes a thread is no child";
  EffectLedger other;
  ASSERT_TRUE(other.add(kMainThread));
  EXPECT_EQ(other.add(kMainThread).error().kind, Kind::invalid);
}

TEST(EffectLedger, IsRebuiltFromHeaders) {
  EffectLedger ledger;
  ASSERT_TRUE(ledger.add(kMainThread));
  ASSERT_TRUE(ledger.restore(entry_of(test::output(1, "a", 2)).header));
  EXPECT_EQ(ledger.restore(entry_of(test::output(3, "c", 2)).header).error().kind, Kind::corrupt) << "a gap";
  ASSERT_TRUE(ledger.restore(entry_of(test::spawn(1, 2)).header));
  EXPECT_TRUE(ledger.knows(child_of(kMainThread, 1)));
  StoredEffect misplaced = entry_of(test::spawn(2, 2)).header;
  misplaced.stream = kHomeStream;
  EXPECT_EQ(ledger.restore(misplaced).error().kind, Kind::corrupt) << "a fork in the stream to home";
  EXPECT_EQ(ledger.stored(kMainThread), (StreamMarks{{kHomeStream, 1}, {kLogStream, 1}}));
  EXPECT_EQ(ledger.accept(test::output(1, "a", 2)).value(), EffectLedger::Verdict::duplicate);
  EXPECT_EQ(ledger.accept(test::output(1, "b", 2)).error().kind, Kind::guest_fault) << "a replay that diverges is found by its digest";
  EXPECT_EQ(ledger.accept(test::output(2, "b", 2)).value(), EffectLedger::Verdict::fresh);
}

}  // namespace
}  // namespace gw::job
