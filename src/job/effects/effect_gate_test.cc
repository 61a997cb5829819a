#include "job/effects/effect_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "job/test/effects.h"

namespace gw::job {
namespace {

using test::end;
using test::output;
using test::spawn;
std::vector<std::uint64_t> sequences(const std::vector<Effect>& effects) {
  std::vector<std::uint64_t> out;
  for (const Effect& effect : effects) out.push_back(effect.sequence());
  return out;
}

constexpr std::size_t kPlenty = 1u << 20;

TEST(EffectGate, NumbersEffectsWithoutGaps) {
  EffectGate gate(kMainThread);
  EXPECT_EQ(gate.emit(output("a")), 1u);
  EXPECT_EQ(gate.emit(output("b")), 2u);
  EXPECT_THAT(sequences(gate.take_sendable(kPlenty)), testing::ElementsAre(1, 2));
  EXPECT_TRUE(gate.take_sendable(kPlenty).empty());
  EXPECT_EQ(gate.emit(output("c")), 3u);
  EXPECT_THAT(sequences(gate.take_sendable(kPlenty)), testing::ElementsAre(3));
}

TEST(EffectGate, KeepsEffectsUntilTheyAreStored) {
  EffectGate gate(kMainThread);
  gate.emit(output("a"));
  gate.emit(output("b"));
  gate.take_sendable(kPlenty);
  ASSERT_TRUE(gate.on_stored(kHomeStream, 1));
  EXPECT_FALSE(gate.outbox_empty());
  ASSERT_TRUE(gate.on_stored(kHomeStream, 2));
  EXPECT_TRUE(gate.outbox_empty());
  EXPECT_FALSE(gate.on_stored(kHomeStream, 3));
}

// --- streams

TEST(EffectGate, NumbersAndTrimsEachStreamAlone) {
  EffectGate gate(kMainThread);
  EXPECT_EQ(gate.emit(output("a")), 1u);
  EXPECT_EQ(gate.emit(spawn(ThreadId{7})), 1u);
  EXPECT_EQ(gate.emit(output("b")), 2u);
  EXPECT_EQ(gate.next_sequence(kHomeStream), 3u);
  EXPECT_EQ(gate.next_sequence(kLogStream), 2u);
  const auto sent = gate.take_sendable(kPlenty);
  ASSERT_THAT(sequences(sent), testing::ElementsAre(1, 1, 2)) << "as they were emitted";
  for (const Effect& effect : sent) EXPECT_TRUE(wire::is_in_its_stream(effect));
  EXPECT_FALSE(gate.on_stored(kLogStream, 2)) << "never emitted there";
  ASSERT_TRUE(gate.on_stored(kHomeStream, 2));
  EXPECT_FALSE(gate.outbox_empty());
  ASSERT_TRUE(gate.on_stored(kLogStream, 1));
  EXPECT_TRUE(gate.outbox_empty());
}

TEST(EffectGate, AFullStreamIsFullAlone) {
  EffectGate gate(kMainThread, 1, {.outbox_effects = 2, .outbox_spawns = 2});
  gate.emit(output("a"));
  gate.emit(output("b"));
  EXPECT_TRUE(gate.full(kHomeStream));
  EXPECT_FALSE(gate.full(kLogStream));
  gate.emit(spawn(ThreadId{7}));
  gate.emit(spawn(ThreadId{8}));
  EXPECT_TRUE(gate.full(kLogStream));
  ASSERT_TRUE(gate.on_stored(kLogStream, 1));
  EXPECT_TRUE(gate.roomy(kLogStream));
  EXPECT_FALSE(gate.roomy(kHomeStream));
  EXPECT_TRUE(gate.full(kHomeStream));
}

TEST(EffectGate, TheEndLeavesWhenTheOtherStreamsAreStored) {
  EffectGate gate(kMainThread);
  gate.emit(spawn(ThreadId{7}));
  gate.emit(output("last words"));
  gate.emit(end());
  EXPECT_THAT(sequences(gate.take_sendable(kPlenty)), testing::ElementsAre(1, 1)) << "not the end";
  ASSERT_TRUE(gate.on_stored(kHomeStream, 1));
  EXPECT_TRUE(gate.take_sendable(kPlenty).empty());
  auto again = EffectGate::restore(gate.save(), 2, {});
  ASSERT_TRUE(again);
  EXPECT_THAT(sequences(again->take_sendable(kPlenty)), testing::ElementsAre(1)) << "the fork, which nobody has acknowledged";
  ASSERT_TRUE(again->on_stored(kLogStream, 1));
  const auto sent = again->take_sendable(kPlenty);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].has_end());
}

// Many bytes in one stream do not hold up another, and older effects come first where there is room for all.
TEST(EffectGate, StreamsShareABatch) {
  EffectGate gate(kMainThread);
  for (int i = 0; i < 10; ++i) gate.emit(output(std::string(100, 'x')));
  gate.emit(spawn(ThreadId{7}));
  const auto first = gate.take_sendable(500);
  ASSERT_FALSE(first.empty());
  EXPECT_TRUE(std::ranges::any_of(first, &Effect::has_spawn));
  EXPECT_TRUE(first[0].has_output());
  EXPECT_TRUE(first[1].has_output());
}

TEST(EffectGate, AnotherVersionOfTheStateIsRefusedByItsNumber) {
  wire::pb::GateState state;
  state.set_thread(1);
  state.set_version(kGateStateVersion + 1);
  const auto gate = EffectGate::restore(as_bytes(state.SerializeAsString()), 1, {});
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().kind, Kind::unsupported);
}

TEST(EffectGate, HoldsAnEffectUntilTheDeterminantsBeforeItAreStable) {
  EffectGate gate(kMainThread);
  gate.emit(output("before"));
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 1, 42));
  gate.emit(output("after"));
  gate.emit(spawn(ThreadId{7}));
  EXPECT_THAT(sequences(gate.take_sendable(kPlenty)), testing::ElementsAre(1)) << "in no stream";
  ASSERT_EQ(gate.take_new_determinants().size(), 1u);
  ASSERT_TRUE(gate.on_determinants_stable(1));
  EXPECT_THAT(sequences(gate.take_sendable(kPlenty)), testing::ElementsAre(2, 1));
  EXPECT_FALSE(gate.on_determinants_stable(2));
}

TEST(EffectGate, IsFullByBytesAndByCount) {
  EffectGate bytes(kMainThread, 1, {.outbox_bytes = 1000});
  bytes.emit(output(std::string(999, 'x')));
  EXPECT_TRUE(bytes.full(kHomeStream));
  ASSERT_TRUE(bytes.on_stored(kHomeStream, 1));
  EXPECT_FALSE(bytes.full(kHomeStream));
  EffectGate count(kMainThread, 1, {.outbox_effects = 2});
  count.emit(output("x"));
  EXPECT_FALSE(count.full(kHomeStream));
  count.emit(output("x"));
  EXPECT_TRUE(count.full(kHomeStream));
}

TEST(EffectGate, IsFullOfUnstableDeterminantsAtItsLimit) {
  EffectGate gate(kMainThread, 1, {.unstable_determinants = 2});
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, 1));
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, 2));
  EXPECT_TRUE(gate.determinants_full());
  EXPECT_TRUE(gate.given(Determinant::CLOCK, 0, 3)) << "a call may record several";
  ASSERT_TRUE(gate.on_determinants_stable(2));
  EXPECT_FALSE(gate.determinants_full());
  EXPECT_TRUE(gate.determinants_roomy());
}

// The program ended after more determinants than its keeper takes, so it could neither be checkpointed nor end.
TEST(EffectGate, IsFullOfDeterminantsThatNoStableImageContains) {
  EffectGate gate(kMainThread, 1, {.determinants_after_image = 2});
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, 1));
  EXPECT_FALSE(gate.determinants_full());
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, 2));
  ASSERT_TRUE(gate.on_determinants_stable(2));
  EXPECT_TRUE(gate.determinants_full()) << "the keeper has them, but takes no more after its image";
  EXPECT_FALSE(gate.determinants_roomy());
  ASSERT_TRUE(gate.on_image_stable(2));
  EXPECT_FALSE(gate.determinants_full());
  EXPECT_TRUE(gate.determinants_roomy());
  EXPECT_FALSE(gate.on_image_stable(3)) << "no image contains what was not recorded";
}

TEST(EffectGate, AnImageThatItGoesOnFromIsStable) {
  EffectGate gate(kMainThread, 1);
  for (const std::uint64_t reading : {1u, 2u, 3u}) ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, reading));
  auto again = EffectGate::restore(gate.save(), 2, {}, {.determinants_after_image = 1});
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->determinants_full());
}

TEST(EffectGate, IsNotFullWhileItRepeatsWhatItsKeeperHas) {
  std::vector<Determinant> replay(2);
  for (std::size_t i = 0; i < replay.size(); ++i) {
    replay[i].set_index(i);
    replay[i].set_kind(Determinant::CLOCK);
  }
  auto gate = EffectGate::begin(kMainThread, 2, replay, {.determinants_after_image = 1});
  ASSERT_TRUE(gate);
  ASSERT_TRUE(gate->given(Determinant::CLOCK, 0, 0));
  EXPECT_FALSE(gate->determinants_full());
  ASSERT_TRUE(gate->given(Determinant::CLOCK, 0, 0));
  EXPECT_TRUE(gate->determinants_full());
}

TEST(EffectGate, SendsWhatTheImageHeldInTheNewEpoch) {
  EffectGate gate(kMainThread);
  gate.set_job("words");
  gate.emit(output("stored"));
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 0, 7));
  gate.emit(output("lost on its way"));
  gate.on_input_taken(7);
  ASSERT_TRUE(gate.on_stored(kHomeStream, 1));
  auto again = EffectGate::restore(gate.save(), 2, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->job(), "words");
  EXPECT_EQ(again->input_pieces(), 1u);
  EXPECT_EQ(again->next_sequence(kHomeStream), 3u);
  const auto sent = again->take_sendable(kPlenty);
  ASSERT_THAT(sequences(sent), testing::ElementsAre(2));
  EXPECT_EQ(sent[0].epoch(), 2u);
}

TEST(EffectGate, AnswersRecordedDeterminantsAgain) {
  EffectGate gate(kMainThread);
  const Bytes image = gate.save();
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 1, 10));
  ASSERT_TRUE(gate.given(Determinant::INPUT_READY, 0, 1));
  auto again = EffectGate::restore(image, 2, gate.take_new_determinants());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->recorded(Determinant::CLOCK, 1).value(), 10u);
  EXPECT_EQ(again->recorded(Determinant::CLOCK, 1).value(), 10u) << "looking does not use it up";
  EXPECT_FALSE(again->given(Determinant::CLOCK, 1, 9)) << "another value";
  ASSERT_TRUE(again->given(Determinant::CLOCK, 1, 10));
  again->emit(output("between"));
  EXPECT_EQ(again->take_sendable(kPlenty).size(), 1u) << "what comes from the log is stable";
  EXPECT_TRUE(again->replaying());
  EXPECT_EQ(again->recorded(Determinant::INPUT_READY, 0).value(), 1u);
  ASSERT_TRUE(again->given(Determinant::INPUT_READY, 0, 1));
  EXPECT_FALSE(again->replaying());
  EXPECT_EQ(again->recorded(Determinant::CLOCK, 1).value(), std::nullopt);
  EXPECT_TRUE(again->given(Determinant::CLOCK, 1, 11));
  EXPECT_EQ(again->take_new_determinants().at(0).index(), 2u);
}

TEST(EffectGate, NamesBothSidesOfADivergence) {
  EffectGate gate(kMainThread);
  const Bytes image = gate.save();
  ASSERT_TRUE(gate.given(Determinant::CLOCK, 1, 10));
  auto again = EffectGate::restore(image, 2, gate.take_new_determinants());
  auto answer = again->recorded(Determinant::INPUT_READY, 0);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::guest_fault);
  EXPECT_THAT(answer.error().detail, testing::AllOf(testing::HasSubstr("descriptor 0"), testing::HasSubstr("clock 1")));
}

TEST(EffectGate, RefusesDamagedStates) {
  EffectGate gate(kMainThread, 5);
  gate.emit(output("a"));
  const Bytes good = gate.save();
  EXPECT_FALSE(EffectGate::restore(good, 4, {})) << "an older epoch";
  Determinant gap;
  gap.set_index(1);
  EXPECT_FALSE(EffectGate::restore(good, 6, {gap}));
  wire::pb::GateState state;
  ASSERT_TRUE(state.ParseFromArray(good.data(), static_cast<int>(good.size())));
  auto damaged = [&](auto change) {
    wire::pb::GateState copy = state;
    change(copy);
    const std::string bytes = copy.SerializeAsString();
    return !EffectGate::restore(as_bytes(bytes), 6, {}).has_value();
  };
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_outbox(0)->set_thread(9); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_outbox(0)->set_sequence(2); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_outbox(0)->clear_output(); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_outbox(0)->mutable_stream()->set_kind(wire::pb::Stream::LOG); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_outbox(0)->mutable_spawn()->set_child(3); })) << "no place for a fork";
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->mutable_stream()->set_kind(wire::pb::Stream::LOG); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->clear_stream(); }));
  EXPECT_TRUE(damaged([](auto& s) { s.mutable_streams(0)->set_next_sequence(1); }));
  EXPECT_TRUE(damaged([](auto& s) { *s.add_streams() = s.streams(0); })) << "twice";
  EXPECT_TRUE(damaged([](auto& s) { s.clear_version(); }));
  EXPECT_TRUE(damaged([](auto& s) { s.set_thread(0); }));
  EXPECT_FALSE(damaged([](auto&) {}));
  EXPECT_FALSE(EffectGate::restore(as_bytes("garbage"), 6, {}));
}

// Forks before it succeeded, and leave no determinant.
TEST(EffectGate, ARefusedForkIsRefusedAgainAtItsPlace) {
  Determinant refused;
  refused.set_kind(Determinant::FORK_REFUSED);
  refused.set_value(2);
  EffectGate gate = EffectGate::begin(kMainThread, 2, {refused}).value();
  EXPECT_FALSE(gate.fork_was_refused());
  gate.emit(spawn(child_of(kMainThread, 1)));
  EXPECT_TRUE(gate.fork_was_refused());
  EXPECT_TRUE(gate.given(Determinant::FORK_REFUSED, 0, 2));
  EXPECT_FALSE(gate.fork_was_refused()) << "the next attempt succeeded";
}

TEST(EffectGate, FewSpawnsWaitToBeStored) {
  EffectGate gate(kMainThread, 1, {.outbox_spawns = 2});
  gate.emit(spawn(child_of(kMainThread, 1)));
  EXPECT_FALSE(gate.full(kLogStream));
  gate.emit(spawn(child_of(kMainThread, 2)));
  EXPECT_TRUE(gate.full(kLogStream));
  EXPECT_FALSE(gate.full(kHomeStream)) << "there is room for others";
  EffectGate restored = EffectGate::restore(gate.save(), 2, {}, {.outbox_spawns = 2}).value();
  EXPECT_TRUE(restored.full(kLogStream));
  ASSERT_TRUE(restored.on_stored(kLogStream, 1));
  EXPECT_FALSE(restored.full(kLogStream));
}

TEST(EffectGate, AForkedChildStartsWithNothingButTheJob) {
  EffectGate gate(kMainThread);
  gate.set_job("words");
  gate.emit(output("mine"));
  gate.on_input_taken(7);
  EffectGate child = gate.fork(child_of(kMainThread, gate.next_sequence(kLogStream)));
  EXPECT_NE(child.thread(), kMainThread);
  EXPECT_TRUE(child.outbox_empty());
  EXPECT_EQ(child.input_pieces(), 0u);
  EXPECT_EQ(child.next_sequence(kHomeStream), 1u);
  EXPECT_EQ(child.job(), "words");
}

TEST(ThreadId, ChildrenAreNamedByWhereTheyWereForked) {
  EXPECT_EQ(child_of(kMainThread, 3), child_of(kMainThread, 3));
  EXPECT_NE(child_of(kMainThread, 3), child_of(kMainThread, 4));
  EXPECT_NE(child_of(ThreadId{2}, 3), child_of(kMainThread, 3));
}

}  // namespace
}  // namespace gw::job
