#include "overlay/distance/coordinates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using Truth = std::vector<std::vector<double>>;  // round trips in seconds

Truth truth_of(std::size_t size, const std::function<double(std::size_t, std::size_t)>& round_trip) {
  Truth truth(size, std::vector<double>(size));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i + 1; j < size; ++j) truth[i][j] = truth[j][i] = round_trip(i, j);
  return truth;
}

Time time_of(double seconds) { return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds)); }

struct Errors {
  double average;
  double worst;
};

// Serf's way to judge: in each cycle each peer measures one random other. Its limits hold for the seed it has pinned, and are near the
// median over all seeds, there as here.
class Swarm {
 public:
  Swarm(Truth truth, const Coordinates::Config& config) : truth_(std::move(truth)) {
    for (std::size_t i = 0; i < truth_.size(); ++i) peers_.push_back(std::make_unique<Peer>(config, i));
  }

  void simulate(int cycles) {
    for (int cycle = 0; cycle < cycles; ++cycle)
      for (std::size_t i = 0; i < peers_.size(); ++i)
        if (const std::size_t j = rng_.below(peers_.size()); j != i)
          peers_[i]->coordinates.on_sample(test_id(j), (*this)[j], time_of(truth_[i][j]));
  }

  Errors errors() const {
    Errors errors{};
    double count = 0;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      for (std::size_t j = i + 1; j < peers_.size(); ++j, ++count) {
        const double error = std::abs(estimate((*this)[i], (*this)[j]) - truth_[i][j]) / truth_[i][j];
        errors.average += error;
        errors.worst = std::max(errors.worst, error);
      }
    }
    errors.average /= count;
    return errors;
  }

  void measure(std::size_t i, std::size_t j, const Coordinate& claimed, double seconds) {
    peers_[i]->coordinates.on_sample(test_id(j), claimed, time_of(seconds));
  }
  // A sample to a position, from a peer that claims to be there.
  void lead(std::size_t i, const Coordinate& place) {
    for (int step = 0; step < 300; ++step) measure(i, peers_.size(), place, 0);
  }

  const Coordinate& operator[](std::size_t index) const { return peers_[index]->coordinates.own(); }

  // How far the middle of all is from the origin.
  double drift() const {
    double sum = 0;
    for (std::size_t i = 0; i < Coordinate::kDimensions; ++i) {
      std::vector<float> along;
      for (const auto& peer : peers_) along.push_back(peer->coordinates.own().position[i]);
      const double middle = (double{std::ranges::min(along)} + double{std::ranges::max(along)}) / 2;
      sum += middle * middle;
    }
    return std::sqrt(sum);
  }

 private:
  static constexpr std::uint64_t kSeed = 2;
  struct Peer {
    Rng rng;
    Coordinates coordinates;
    Peer(const Coordinates::Config& config, std::size_t seed) : rng(seed * 7919 + kSeed), coordinates(config, rng) {}
  };

  const Truth truth_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Rng rng_{kSeed};
};

void expect_within(const Truth& truth, const Errors& limit) {
  Swarm swarm(truth, {});
  swarm.simulate(1000);
  const Errors errors = swarm.errors();
  EXPECT_LE(errors.average, limit.average);
  EXPECT_LE(errors.worst, limit.worst);
}

Truth grid(std::size_t size, double spacing) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(size)));
  return truth_of(size, [&](std::size_t i, std::size_t j) {
    const double x = static_cast<double>(j % side) - static_cast<double>(i % side);
    const double y = static_cast<double>(j / side) - static_cast<double>(i / side);
    return std::hypot(x, y) * spacing;
  });
}

// The limits are those of serf's own tests: average and largest relative error after 1000 cycles.
TEST(Coordinates, PutALineStraight) {
  expect_within(truth_of(10, [](std::size_t i, std::size_t j) { return static_cast<double>(j - i) * 0.010; }), {0.0031, 0.013});
}

TEST(Coordinates, FindAGrid) { expect_within(grid(25, 0.010), {0.0016, 0.023}); }

TEST(Coordinates, TellTwoSitesApart) {
  const auto same_site = [](std::size_t i, std::size_t j) { return (i < 12) == (j < 12); };
  expect_within(truth_of(25, [&](std::size_t i, std::size_t j) { return same_site(i, j) ? 0.001 : 0.011; }), {0.00006, 0.00048});
}

TEST(Coordinates, RaiseAPeerThatIsFarFromAll) {
  constexpr double kRadius = 0.1;
  const Truth circle = truth_of(25, [&](std::size_t i, std::size_t j) {
    if (i == 0) return 2 * kRadius;
    const double angle = 2 * std::numbers::pi * static_cast<double>(j - i) / 25;
    return 2 * kRadius * std::abs(std::sin(angle / 2));
  });
  Swarm swarm(circle, {.dimensions = 2});
  swarm.simulate(1000);
  EXPECT_GE(double{swarm[0].height}, 0.97 * kRadius);
  for (std::size_t i = 1; i < 25; ++i) EXPECT_LE(double{swarm[i].height}, 0.03 * kRadius) << i;
  const Errors errors = swarm.errors();
  EXPECT_LE(errors.average, 0.0028);
  EXPECT_LE(errors.worst, 0.064);
}

TEST(Coordinates, BearWhatNoSpaceCanHold) {
  Rng rng(3);
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.below(1'000'000)) / 1e6;
    return sum;
  };
  expect_within(truth_of(25, [&](std::size_t, std::size_t) { return std::max(0.1 + 0.01 * normal(), 0.0); }), {0.075, 0.33});
}

TEST(Coordinates, StayNearTheOrigin) {
  constexpr float kSide = 0.5F;
  const auto side = [&](std::size_t i, std::size_t j) { return double{kSide} * (i == 0 && j == 2 ? std::numbers::sqrt2 : 1); };
  Swarm swarm(truth_of(4, side), {.dimensions = 2});
  for (const std::size_t i : {1, 2, 3}) swarm.lead(i, {.position = {i == 1 ? 0 : kSide, kSide}});
  swarm.simulate(1000);
  const double before = swarm.drift();
  ASSERT_GE(before, 0.2);
  swarm.simulate(10'000);
  EXPECT_LE(swarm.drift(), 0.8 * before);
}

// Peers in some sites of a plane, each behind an access line of its own; one measurement in twenty is late.
class Internet {
 public:
  explicit Internet(std::size_t size) {
    std::vector<std::pair<double, double>> sites;
    for (int i = 0; i < 10; ++i) sites.emplace_back(uniform() * 0.15, uniform() * 0.1);
    for (std::size_t i = 0; i < size; ++i) {
      const auto& [x, y] = sites[rng_.below(sites.size())];
      homes_.push_back({x + uniform() * 0.005, y + uniform() * 0.005, 0.001 + uniform() * 0.01});
    }
  }
  double uniform() { return static_cast<double>(rng_.below(1'000'000)) / 1e6; }
  double truth(std::size_t i, std::size_t j) const {
    return std::hypot(homes_[i].x - homes_[j].x, homes_[i].y - homes_[j].y) + homes_[i].access + homes_[j].access;
  }
  double measure(std::size_t i, std::size_t j) {
    return truth(i, j) * (1 + 0.05 * uniform()) + (rng_.below(20) == 0 ? 0.3 * uniform() : 0);
  }
  std::size_t any() { return rng_.below(homes_.size()); }
  std::size_t size() const { return homes_.size(); }

 private:
  struct Home {
    double x, y, access;
  };
  Rng rng_{7};
  std::vector<Home> homes_;
};

enum class Lie : std::uint8_t { none, far_away, elsewhere_each_time, late, shifted };

// Every tenth peer lies. Median relative error among the others after some hundred measurements each.
double median_error(Lie lie) {
  Internet internet(100);
  Swarm swarm(Truth(internet.size()), {});
  const auto lies = [&](std::size_t peer) { return lie != Lie::none && peer % 10 == 0; };
  for (int round = 0; round < 400; ++round) {
    for (std::size_t i = 0; i < internet.size(); ++i) {
      const std::size_t j = internet.any();
      if (i == j) continue;
      Coordinate claimed = swarm[j];
      double seconds = internet.measure(i, j);
      if (lies(j)) claimed.error = 0.001F;
      if (lies(j) && lie == Lie::far_away) claimed.position = {5, 5, 0, 0};
      if (lies(j) && lie == Lie::elsewhere_each_time)
        for (float& component : claimed.position) component = static_cast<float>(internet.uniform() * 2 - 1);
      if (lies(j) && lie == Lie::late) seconds += 1;
      if (lies(j) && lie == Lie::shifted) claimed.position[0] += 0.05F;
      swarm.measure(i, j, claimed, seconds);
    }
  }
  std::vector<double> errors;
  for (std::size_t i = 0; i < internet.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!lies(i) && !lies(j)) errors.push_back(std::abs(estimate(swarm[i], swarm[j]) - internet.truth(i, j)) / internet.truth(i, j));
  std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
  return errors[errors.size() / 2];
}

TEST(Coordinates, AreGoodEnoughOnAnInternetWithLateAnswers) { EXPECT_LE(median_error(Lie::none), 0.10); }

TEST(Coordinates, OneLiarInTenChangesLittle) {
  const double honest = median_error(Lie::none);
  for (const Lie lie : {Lie::far_away, Lie::elsewhere_each_time, Lie::late, Lie::shifted})
    EXPECT_LE(median_error(lie), 2 * honest) << static_cast<int>(lie);
}

TEST(Coordinates, IgnoreWhatCannotBe) {
  Rng rng(1);
  Coordinates coordinates({}, rng);
  Coordinate nowhere;
  nowhere.position[0] = std::numeric_limits<float>::quiet_NaN();
  coordinates.on_sample(test_id(1), nowhere, std::chrono::milliseconds(10));
  coordinates.on_sample(test_id(1), {}, Time(-1));
  coordinates.on_sample(test_id(1), {}, std::chrono::seconds(11));
  EXPECT_EQ(coordinates.own(), Coordinate{});
  EXPECT_LT(coordinates.measured(test_id(1)), Time(0));
  coordinates.on_sample(test_id(1), {}, Time(0));  // clocks may be coarse
  EXPECT_NE(coordinates.own(), Coordinate{});
}

// Before there are samples to compare with, a claim of a second's distance with a round trip of 20 ms is refused; 200 ms is accepted.
TEST(Coordinates, ANewPeerIgnoresImpossibleClaims) {
  Rng rng(1);
  Coordinates coordinates({}, rng);
  const auto moved = [&] { return std::hypot(coordinates.own().position[0], coordinates.own().position[1]); };
  Coordinate far;
  far.position[0] = 1;
  far.error = 0.01F;
  for (std::uint64_t liar = 1; liar <= 3; ++liar) coordinates.on_sample(test_id(liar), far, std::chrono::milliseconds(20));
  EXPECT_LT(moved(), 0.001);
  coordinates.on_sample(test_id(4), {}, std::chrono::milliseconds(200));
  EXPECT_GT(moved(), 0.001);
}

TEST(Coordinates, OneLateAnswerOfAPeerIsFilteredOut) {
  Rng rng(1);
  Coordinates coordinates({}, rng);
  for (const int ms : {10, 10, 500}) coordinates.on_sample(test_id(1), {}, std::chrono::milliseconds(ms));
  EXPECT_NEAR(std::chrono::duration<double>(coordinates.measured(test_id(1))).count(), 0.010, 1e-6);
  coordinates.forget(test_id(1));
  EXPECT_LT(coordinates.measured(test_id(1)), Time(0));
}

TEST(Coordinates, RememberTheLastPeersOnly) {
  Rng rng(1);
  Coordinates coordinates({.histories = 2}, rng);
  for (const std::uint64_t peer : {1, 2, 1, 3}) coordinates.on_sample(test_id(peer), {}, std::chrono::milliseconds(10));
  EXPECT_GE(coordinates.measured(test_id(1)), Time(0));
  EXPECT_LT(coordinates.measured(test_id(2)), Time(0));
  EXPECT_GE(coordinates.measured(test_id(3)), Time(0));
}

}  // namespace
}  // namespace gw::overlay
