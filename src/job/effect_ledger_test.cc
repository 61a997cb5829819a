#include "job/effect_ledger.h"

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
  EXPECT_EQ(ledger_.stored(kMainThread), 2u);
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

TEST_F(Ledger, AdoptsWhatAnotherHomeHasStored) {
  ASSERT_TRUE(ledger_.adopt(ThreadId{9}, 4, 17));
  Effect effect = output(18, "x", 4);
  effect.set_thread(9);
  EXPECT_EQ(ledger_.accept(effect).value(), Verdict::fresh);
  effect.set_sequence(17);
  EXPECT_EQ(ledger_.accept(effect).value(), Verdict::duplicate);
  ASSERT_TRUE(ledger_.adopt(ThreadId{9}, 1, 0));
  EXPECT_EQ(ledger_.stored(ThreadId{9}), 18u) << "adopting never goes back";
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

TEST_F(Ledger, KnowsAChildFromItsFork) {
  Effect fork = output(1, "");
  fork.mutable_fork()->set_child(42);
  EXPECT_EQ(refusal(fork), Kind::invalid) << "a parent may not choose the name";
  const ThreadId child = child_of(kMainThread, 1);
  fork.mutable_fork()->set_child(child.value());
  EXPECT_EQ(ledger_.accept(fork).value(), Verdict::fresh);
  EXPECT_EQ(ledger_.accept(fork).value(), Verdict::duplicate);
  EXPECT_TRUE(ledger_.knows(child));
  EXPECT_EQ(ledger_.running(), 2u);
}

TEST_F(Ledger, NothingFollowsTheEnd) {
  Effect end = output(1, "");
  end.mutable_end()->set_exit_code(3);
  EXPECT_EQ(ledger_.accept(end).value(), Verdict::fresh);
  EXPECT_TRUE(ledger_.ended(kMainThread));
  EXPECT_EQ(ledger_.running(), 0u);
  EXPECT_EQ(refusal(output(2, "late")), Kind::invalid);
  EXPECT_EQ(ledger_.accept(end).value(), Verdict::duplicate);
}

TEST(EffectLedger, HasALimitOfThreads) {
  EffectLedger ledger({.threads = 1});
  ASSERT_TRUE(ledger.add(kMainThread));
  EXPECT_EQ(ledger.add(ThreadId{2}).error().kind, Kind::overloaded);
  EffectLedger other;
  ASSERT_TRUE(other.add(kMainThread));
  EXPECT_EQ(other.add(kMainThread).error().kind, Kind::invalid);
}

TEST(EffectLedger, IsRebuiltFromHeaders) {
  EffectLedger ledger;
  ASSERT_TRUE(ledger.add(kMainThread));
  ASSERT_TRUE(ledger.restore(entry_of(test::output(1, "a", 2)).header));
  EXPECT_EQ(ledger.restore(entry_of(test::output(3, "c", 2)).header).error().kind, Kind::corrupt) << "a gap";
  EXPECT_EQ(ledger.stored(kMainThread), 1u);
  EXPECT_EQ(ledger.accept(test::output(1, "a", 2)).value(), EffectLedger::Verdict::duplicate);
  EXPECT_EQ(ledger.accept(test::output(1, "b", 2)).error().kind, Kind::guest_fault) << "a replay that diverges is found by its digest";
  EXPECT_EQ(ledger.accept(test::output(2, "b", 2)).value(), EffectLedger::Verdict::fresh);
}

}  // namespace
}  // namespace gw::job
