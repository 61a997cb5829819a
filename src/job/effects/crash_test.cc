// The gate and the ledger together: a thread that dies at any step, again and again, leaves the effects of the undisturbed run in each of
// its streams, also while one stream stays unacknowledged for long.

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/rng.h"
#include "job/effects/effect_ledger.h"
#include "job/test/effects.h"

namespace gw::job {
namespace crash_test {

constexpr int kSteps = 60;

enum class StepKind : std::uint8_t { read_clock, output, fork, end };
StepKind kind_of(int step) {
  if (step == kSteps - 1) return StepKind::end;
  if (step % 3 == 0) return StepKind::read_clock;
  return step % 5 == 0 ? StepKind::fork : StepKind::output;
}

std::string in_words(const Effect& effect) {
  if (effect.has_end()) return "end";
  return effect.has_spawn() ? "fork" : effect.output().bytes();
}

// The state outside the thread, which survives its crash.
struct Home {
  EffectLedger ledger;
  std::map<Stream, std::vector<std::string>> stored;
  std::vector<Determinant> log;
  struct Image {
    int step;
    std::uint64_t state;
    Bytes gate;
    std::uint64_t determinants;
  };
  std::optional<Image> image;
  std::map<Stream, int> silent_for;  // turns in which a stream is not acknowledged
  int longest_silence = 0;
};

constexpr EffectGate::Config kSmall{.outbox_effects = 5};

// A deterministic program but for what the world tells it: its output depends on every reading before.
class Guest {
 public:
  Guest(Home& home, EffectGate gate, int step, std::uint64_t state) : home_(home), gate_(std::move(gate)), step_(step), state_(state) {}

  bool done() const { return step_ >= kSteps && gate_.outbox_empty(); }

  // Performs one random event: a step of the program, or the arrival of a message between gate and home.
  void advance(Rng& world) {
    switch (world.below(6)) {
      case 0:
      case 1:
        if (step_ < kSteps) run(world);
        break;
      case 2:
        for (const Effect& effect : gate_.take_sendable(1 + world.below(200))) sent_[wire::stream_of(effect)].push_back(effect);
        break;
      case 3:
        for (const Determinant& determinant : gate_.take_new_determinants()) {
          home_.log.push_back(determinant);
          ASSERT_TRUE(gate_.on_determinants_stable(determinant.index() + 1).has_value());
        }
        break;
      case 4:
        store(kHomeStream);
        break;
      case 5:
        store(kLogStream);
    }
    if (world.below(9) == 0) home_.image = Home::Image{step_, state_, gate_.save(), gate_.next_determinant()};
    // A receiver is silent for as long as half of the program takes.
    if (int& turns = home_.silent_for[world.below(2) == 0 ? kHomeStream : kLogStream]; world.below(400) == 0 && turns == 0)
      turns = home_.longest_silence;
  }

 private:
  void run(Rng& world) {
    switch (kind_of(step_)) {
      case StepKind::read_clock: {
        auto before = gate_.recorded(Determinant::CLOCK, 1);
        ASSERT_TRUE(before.has_value());
        const std::uint64_t now = before->has_value() ? **before : world.next();
        ASSERT_TRUE(gate_.given(Determinant::CLOCK, 1, now).has_value());
        state_ = state_ * 31 + now;
        break;
      }
      case StepKind::output:
        if (gate_.full(kHomeStream)) return;  // parks
        gate_.emit(test::output(std::to_string(step_) + ":" + std::to_string(state_)));
        break;
      case StepKind::fork:
        if (gate_.full(kLogStream)) return;
        gate_.emit(test::spawn(child_of(kMainThread, gate_.next_sequence(kLogStream))));
        break;
      case StepKind::end:
        gate_.emit(test::end());
    }
    ++step_;
  }

  void store(const Stream& stream) {
    if (int& turns = home_.silent_for[stream]; turns > 0) {
      --turns;
      return;
    }
    for (const Effect& effect : sent_[stream]) {
      auto verdict = home_.ledger.accept(effect);
      ASSERT_TRUE(verdict.has_value()) << verdict.error().detail;
      if (*verdict == EffectLedger::Verdict::fresh) home_.stored[stream].push_back(in_words(effect));
      ASSERT_TRUE(gate_.on_stored(stream, effect.sequence()).has_value());
    }
    sent_[stream].clear();
  }

  Home& home_;
  EffectGate gate_;
  int step_;
  std::uint64_t state_;
  std::map<Stream, std::vector<Effect>> sent_;  // on its way: lost in a crash
};

Guest recover(Home& home) {
  const std::uint64_t epoch = home.ledger.next_epoch(kMainThread).value();
  if (!home.image) {
    EffectGate fresh(kMainThread);
    return {home, EffectGate::restore(fresh.save(), epoch, home.log, kSmall).value(), 0, 0};
  }
  // An image that is stable contains the determinants before it, whether they reached the log or not.
  std::vector<Determinant> replay;
  for (const Determinant& determinant : home.log)
    if (determinant.index() >= home.image->determinants) replay.push_back(determinant);
  home.log = replay;
  return {home, EffectGate::restore(home.image->gate, epoch, replay, kSmall).value(), home.image->step, home.image->state};
}

// Each line shows the readings before it, so two runs that disagree would leave lines that do not follow from each other; the ledger
// compares too. The ledger would refuse a fork after the end.
TEST(Crashes, LeaveEachEffectOnceAndInOrder) {
  std::vector<int> expected;
  std::size_t forks = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (kind_of(step) == StepKind::output) expected.push_back(step);
    forks += kind_of(step) == StepKind::fork ? 1 : 0;
  }
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng world(seed);
    Home home;
    home.longest_silence = seed % 4 == 0 ? 30 : 0;
    ASSERT_TRUE(home.ledger.add(kMainThread).has_value());
    std::optional<Guest> guest;
    guest.emplace(Guest(home, EffectGate(kMainThread, 1, kSmall), 0, 0));
    int crashes = 0;
    while (!guest->done()) {
      guest->advance(world);
      if (testing::Test::HasFatalFailure()) return;
      if (crashes < 20 && world.below(25) == 0) {
        ++crashes;
        guest.emplace(recover(home));
      }
    }
    std::vector<std::string>& lines = home.stored[kHomeStream];
    ASSERT_EQ(lines.back(), "end");
    lines.pop_back();
    std::vector<int> steps;
    for (const std::string& line : lines) steps.push_back(std::stoi(line));
    ASSERT_EQ(steps, expected);
    ASSERT_EQ(home.stored[kLogStream].size(), forks);
  }
}

}  // namespace crash_test
}  // namespace gw::job
