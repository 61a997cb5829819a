// The gate and the ledger together: a thread that dies at any step, again and again, leaves the effects of the undisturbed run.

#include <gtest/gtest.h>

#include <optional>

#include "base/rng.h"
#include "job/effect_ledger.h"

namespace gw::job {
namespace crash_test {

constexpr int kSteps = 60;

// What survives a crash.
struct Home {
  EffectLedger ledger;
  std::vector<std::string> stored;
  std::vector<Determinant> log;
  struct Image {
    int step;
    std::uint64_t state;
    Bytes gate;
    std::uint64_t determinants;
  };
  std::optional<Image> image;
};

// A deterministic program but for what the world tells it: its output depends on every reading before.
class Guest {
 public:
  Guest(Home& home, EffectGate gate, int step, std::uint64_t state) : home_(home), gate_(std::move(gate)), step_(step), state_(state) {}

  bool done() const { return step_ >= kSteps && gate_.outbox_empty(); }

  // One thing happens: the program takes a step, or a message between gate and home arrives.
  void advance(Rng& world) {
    switch (world.below(5)) {
      case 0:
      case 1:
        if (step_ < kSteps) run(world);
        break;
      case 2:
        for (const Effect& effect : gate_.take_sendable(1 + world.below(200))) sent_.push_back(effect);
        break;
      case 3:
        for (const Determinant& determinant : gate_.take_new_determinants()) {
          home_.log.push_back(determinant);
          ASSERT_TRUE(gate_.on_determinants_stable(determinant.index() + 1).has_value());
        }
        break;
      case 4:
        store();
    }
    if (world.below(9) == 0) home_.image = Home::Image{step_, state_, gate_.save(), gate_.next_determinant()};
  }

 private:
  void run(Rng& world) {
    if (step_ % 3 == 0) {
      auto before = gate_.recorded(Determinant::CLOCK, 1);
      ASSERT_TRUE(before.has_value());
      const std::uint64_t now = before->has_value() ? **before : world.next();
      ASSERT_TRUE(gate_.given(Determinant::CLOCK, 1, now).has_value());
      state_ = state_ * 31 + now;
    } else {
      Effect effect;
      effect.mutable_output()->set_bytes(std::to_string(step_) + ":" + std::to_string(state_));
      gate_.emit(std::move(effect));
    }
    ++step_;
  }

  void store() {
    for (const Effect& effect : sent_) {
      auto verdict = home_.ledger.accept(effect);
      ASSERT_TRUE(verdict.has_value()) << verdict.error().detail;
      if (*verdict == EffectLedger::Verdict::fresh) home_.stored.push_back(effect.output().bytes());
      ASSERT_TRUE(gate_.on_stored(effect.sequence()).has_value());
    }
    sent_.clear();
  }

  Home& home_;
  EffectGate gate_;
  int step_;
  std::uint64_t state_;
  std::vector<Effect> sent_;  // on its way: lost in a crash
};

Guest recover(Home& home) {
  const std::uint64_t epoch = home.ledger.next_epoch(kMainThread).value();
  if (!home.image) {
    EffectGate fresh(kMainThread);
    return {home, EffectGate::restore(fresh.save(), epoch, home.log).value(), 0, 0};
  }
  // An image that is stable contains the determinants before it, whether they reached the log or not.
  std::vector<Determinant> replay;
  for (const Determinant& determinant : home.log)
    if (determinant.index() >= home.image->determinants) replay.push_back(determinant);
  home.log = replay;
  return {home, EffectGate::restore(home.image->gate, epoch, replay).value(), home.image->step, home.image->state};
}

// Each line shows the readings before it, so two lives that disagree would leave lines that do not follow from each other; the ledger
// compares too.
TEST(Crashes, LeaveEachEffectOnceAndInOrder) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng world(seed);
    Home home;
    ASSERT_TRUE(home.ledger.add(kMainThread).has_value());
    std::optional<Guest> guest;
    guest.emplace(Guest(home, EffectGate(kMainThread), 0, 0));
    int crashes = 0;
    while (!guest->done()) {
      guest->advance(world);
      if (testing::Test::HasFatalFailure()) return;
      if (crashes < 20 && world.below(25) == 0) {
        ++crashes;
        guest.emplace(recover(home));
      }
    }
    std::vector<int> steps;
    for (const std::string& line : home.stored) steps.push_back(std::stoi(line));
    std::vector<int> expected;
    for (int step = 0; step < kSteps; ++step)
      if (step % 3 != 0) expected.push_back(step);
    ASSERT_EQ(steps, expected);
  }
}

}  // namespace crash_test
}  // namespace gw::job
