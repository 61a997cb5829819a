#pragma once
// Network coordinates: an estimate of the round trip to any peer without a measurement.

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// The estimated round trip between two positions, in seconds: the distance, two heights (the access lines), and the adjustment terms of
// both sides.
double estimate(const Coordinate& a, const Coordinate& b);

// Vivaldi (F. Dabek et al., SIGCOMM 2004) with height, as serf refines it (HashiCorp, after J. Ledlie et al., NSDI 2007): springs between
// peers, pulled by each measured round trip; error estimates weigh them; a median filter per peer, an adjustment term, gravity.
//
// Invariant: the own coordinate is finite and within wire's limits. Limit: Config::histories. Deterministic given the Rng.
//
// Differences from serf: four dimensions, not eight; a force raises the height in proportion to the whole distance, as in the paper; what
// is measured is the minimum of several pings (ranging.h), on top of the median. And a liar has little to gain: a false coordinate or a
// delayed answer is a surprise (measured - estimated). More than three times the median surprise of the last 20 samples counts as three
// times, more than eight times not at all, as in robust regression; one peer in ten cannot move a median. A small error that a peer claims
// for itself counts as at least half of the own. A force is at most Config::max_force.
class Coordinates {
 public:
  struct Config {
    double pull = 0.25;      // of a sample on the position (c_c)
    double learning = 0.25;  // of a sample on the error (c_e)
    double max_error = 1.5;
    double min_height = 10e-6;
    double max_force = 0.1;         // seconds
    double limit = 3;               // times the usual surprise
    double least_limit = 0.01;      // seconds; lies below it do not hurt, and sites that are near each other must find their places
    double disbelief = 8;           // times the usual surprise
    double least_disbelief = 0.03;  // seconds
    double least_doubt = 0.5;       // times the own error
    double gravity = 150;           // rho
    std::size_t histories = 64;
    std::size_t dimensions = Coordinate::kDimensions;  // fewer where a test needs a plane
  };
  static constexpr std::size_t kWindow = 20;  // samples, of the adjustment and of surprises
  static constexpr std::size_t kFilter = 3;   // samples of a peer, of which the median counts

  Coordinates(const Config& config, Rng& rng) : config_(config), rng_(rng) { surprises_.fill(kUnknown); }

  const Coordinate& own() const { return own_; }
  // A round trip to `peer`, which says that it is at `other`. Taken as Ledlie's filter leaves it; longer than 10 s: not at all.
  void on_sample(const PeerId& peer, const Coordinate& other, Time round_trip);
  // The last round trip measured, filtered; negative if there is none.
  Time measured(const PeerId& peer) const;
  void forget(const PeerId& peer);
  // How often the own coordinate was lost to arithmetic.
  std::uint64_t resets() const { return resets_; }

 private:
  struct History {
    PeerId peer;
    std::array<float, kFilter> seconds{};
    std::uint32_t count = 0;

    double median() const;
  };

  using Window = std::array<float, kWindow>;
  static constexpr float kUnknown = 0.05F;  // seconds, while the window fills: new peers are the easiest to mislead

  double filtered(const PeerId& peer, double seconds);
  void pull(const Coordinate& other, double seconds);
  double usual_surprise() const;
  void apply_force(double force, const Coordinate& other);
  std::array<double, Coordinate::kDimensions> random_direction();

  const Config config_;
  Rng& rng_;
  Coordinate own_;
  Window rests_{};  // errors of the raw estimate
  std::size_t next_rest_ = 0;
  Window surprises_{};
  std::size_t next_surprise_ = 0;
  std::vector<History> histories_;  // the longest unused first
  std::uint64_t resets_ = 0;
};

}  // namespace gw::overlay
