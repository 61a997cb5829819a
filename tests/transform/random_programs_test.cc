// Random programs give the same output however they are prepared and however often they are suspended and moved.
//
// GODWIT_SEED: the first seed. GODWIT_SEEDS: how many.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "os/files/file.h"
#include "prep/prep.h"
#include "transform/program_run.h"
#include "transform/random_program.h"

namespace gw::transform {
namespace {

constexpr std::uint64_t kDefaultSeeds = 100;
constexpr unsigned kMovesMax = 40;         // into new isolates
constexpr unsigned kSuspensionsMax = 300;  // in place

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

enum class Disturb : std::uint8_t { never, in_place, move };

// Mostly tiny, sometimes large enough to get elsewhere.
std::uint32_t random_polls(Rng& rng) { return static_cast<std::uint32_t>(rng.below(one_in(rng, 8) ? 200 : 6)); }

// All ways to run one program.
class SeedCase {
 public:
  SeedCase(Stage& stage, std::uint64_t seed) : stage_(stage), program_(make_random_program(seed)), rng_(~seed) {}

  void check() {
    using prep::Options, prep::PollChoice, prep::Verify, wire::Level;
    const auto plain = load({.level = Level::off}), coarse = load({.level = Level::coarse});
    const auto counter = load({.poll = PollChoice::counter}), verified = load({.poll = PollChoice::counter, .verify = Verify::yes});
    if (!plain || !coarse || !counter || !verified) return;
    const std::string expected = outcome(plain, Disturb::never);
    EXPECT_EQ(outcome(coarse, Disturb::in_place), expected) << "coarse";
    EXPECT_EQ(outcome(counter, Disturb::never), expected) << "fine, not suspended";
    EXPECT_EQ(outcome(counter, Disturb::in_place), expected) << "fine, suspended";
    EXPECT_EQ(outcome(counter, Disturb::move), expected) << "fine, moved";
    EXPECT_EQ(outcome(verified, Disturb::in_place), expected) << "verify build, suspended";
    compare_images(counter);
    if (program_.layout != Layout::reserved) return;
    if (const auto cell = load({})) EXPECT_EQ(outcome(cell, Disturb::never), expected) << "polls of a cell";
  }

  const Bytes& wasm() const { return program_.wasm; }

  // Totals of what the pre-processor did.
  struct Reached {
    unsigned sites = 0, direct_calls = 0, unrolled = 0;
  };
  const Reached& reached() const { return reached_; }

 private:
  std::shared_ptr<const isolate::Module> load(const prep::Options& options) {
    auto prepared = prep::process(program_.wasm, options);
    EXPECT_TRUE(prepared.has_value()) << prepared.error().detail;
    if (!prepared) return nullptr;
    reached_.sites += prepared->report.sites;
    reached_.direct_calls += prepared->report.direct_calls;
    reached_.unrolled += prepared->report.unrolled;
    auto module = stage_.engine().load(std::move(prepared->wasm));
    EXPECT_TRUE(module.has_value()) << module.error().detail;
    return module ? *std::move(module) : nullptr;
  }

  std::unique_ptr<ProgramRun> start(std::shared_ptr<const isolate::Module> module) {
    auto run = ProgramRun::start(stage_, std::move(module));
    EXPECT_TRUE(run.has_value()) << run.error().detail;
    return run ? *std::move(run) : nullptr;
  }

  std::string outcome(std::shared_ptr<const isolate::Module> module, Disturb disturb) {
    const bool has_counter = module->info().poll == wire::Poll::counter;
    auto run = start(std::move(module));
    if (!run) return "not started";
    const unsigned limit = disturb == Disturb::never ? 0 : disturb == Disturb::move ? kMovesMax : kSuspensionsMax;
    for (unsigned stops = 0; run->can_go_on(); ++stops) {
      const bool disturbed = stops < limit;
      run->resume(disturbed && has_counter ? std::optional(random_polls(rng_)) : std::nullopt);
      if (disturbed && disturb == Disturb::move && run->can_go_on())
        if (Status moved = run->move(); !moved) return moved.error().detail;
    }
    return run->outcome();
  }

  // Where two runs of one program are compared: so many polls after it has parked so often.
  struct ComparisonPoint {
    unsigned parks;
    std::uint32_t polls;
  };

  // Never suspended before the point, or often.
  void go_to(ProgramRun& run, const ComparisonPoint& point, Disturb disturb) {
    unsigned stops = 0;
    auto disturbed = [&] { return disturb != Disturb::never && stops++ < kMovesMax; };
    for (unsigned parks = 0; parks < point.parks && run.can_go_on();) {
      run.resume(disturbed() ? std::optional(random_polls(rng_)) : std::nullopt);
      if (run.is_parked()) ++parks;
      if (disturb == Disturb::move && run.can_go_on()) ASSERT_TRUE(run.move());
    }
    std::uint32_t left = point.polls;
    while (run.can_go_on()) {
      const std::uint32_t polls = disturbed() ? std::min(left, random_polls(rng_)) : left;
      run.resume(polls);
      left -= polls;
      if (left == 0 || run.is_parked()) return;
      if (disturb == Disturb::move && run.can_go_on()) ASSERT_TRUE(run.move());
    }
  }

  void compare_images(const std::shared_ptr<const isolate::Module>& module) {
    auto calm = start(module), moved = start(module);
    if (!calm || !moved) return;
    const ComparisonPoint point{static_cast<unsigned>(rng_.below(4)), static_cast<std::uint32_t>(rng_.below(one_in(rng_, 2) ? 20 : 500))};
    go_to(*calm, point, Disturb::never);
    go_to(*moved, point, Disturb::move);
    const std::string where = fmt::format("after {} parks and {} polls", point.parks, point.polls);
    EXPECT_EQ(calm->outcome(), moved->outcome()) << where;
    if (!calm->can_go_on() || !moved->can_go_on()) return;
    auto calm_image = calm->image(), moved_image = moved->image();
    ASSERT_TRUE(calm_image && moved_image);
    expect_equal(calm_image->content(), moved_image->content(), where);
  }

  static void expect_equal(const wire::ImageContent& calm, const wire::ImageContent& moved, const std::string& where) {
    EXPECT_EQ(calm.memory_pages, moved.memory_pages) << where;
    EXPECT_TRUE(calm.globals == moved.globals) << "the globals differ " << where;
    EXPECT_EQ(calm.wasi_state, moved.wasi_state) << where;
    ASSERT_EQ(calm.pages.size(), moved.pages.size()) << where;
    for (std::size_t i = 0; i < calm.pages.size(); ++i) {
      EXPECT_EQ(calm.pages[i].index, moved.pages[i].index) << where;
      EXPECT_EQ(calm.pages[i].hash.hex(), moved.pages[i].hash.hex()) << "page " << calm.pages[i].index << ' ' << where;
    }
  }

  Stage& stage_;
  RandomProgram program_;
  Rng rng_;  // of the disturbances
  Reached reached_;
};

TEST(RandomPrograms, GiveTheSameOutputHoweverTheyAreSuspended) {
  const std::uint64_t first = from_environment("GODWIT_SEED", 1);
  const std::uint64_t count = from_environment("GODWIT_SEEDS", kDefaultSeeds);
  Stage stage;
  SeedCase::Reached reached;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    fmt::print("seed {}\n", seed);  // the last line, should the process end
    std::fflush(stdout);
    SeedCase seed_case(stage, seed);
    seed_case.check();
    if (HasFailure()) {
      const auto path = std::filesystem::temp_directory_path() / fmt::format("random_program_{}.wasm", seed);
      EXPECT_TRUE(os::write_file_atomic(path, seed_case.wasm()));
      FAIL() << "GODWIT_SEED=" << seed << " GODWIT_SEEDS=1 repeats it; the module is in " << path;
    }
    reached.sites += seed_case.reached().sites;
    reached.direct_calls += seed_case.reached().direct_calls;
    reached.unrolled += seed_case.reached().unrolled;
  }
  fmt::print("{} sites, {} calls made direct, {} recursions unrolled\n", reached.sites, reached.direct_calls, reached.unrolled);
  if (count < kDefaultSeeds) return;
  EXPECT_GT(reached.sites, 0u);
  EXPECT_GT(reached.direct_calls, 0u);
  EXPECT_GT(reached.unrolled, 0u);
}

}  // namespace
}  // namespace gw::transform
