#pragma once
// The neighbours of this peer: near ones, and some random ones that keep the grid connected.

#include <optional>
#include <vector>

#include "base/rng.h"
#include "overlay/output.h"

namespace gw::overlay {

// The nearest peers, by measured round trip, out of a stream of random ones; and a few random ones, redrawn slowly. A stranger whose
// coordinate looks near becomes a candidate; once it is measured it takes the place of the farthest, or goes. So a false coordinate costs
// one measurement and no more.
//
// Invariants: ids are unique over near and random; this peer is not among them. Limits: Config. A machine without I/O or threads.
//
// Differences from Zorilla: the random ones, because near ones alone fall apart into islands (its authors found that too); coordinates
// that are not sure of themselves (error above 1) are not looked at.
class Neighbours {
 public:
  struct Config {
    std::size_t near = 14;
    std::size_t random = 6;
    std::size_t candidates = 3;
    unsigned redraw = 20;  // rounds, after which one random neighbour is replaced
    float most_error = 1;  // of a coordinate that is looked at
  };
  struct Near {
    Descriptor peer;
    Time distance;  // kNever: a candidate, not measured yet
  };

  Neighbours(const Config& config, const PeerId& self, Rng& rng) : config_(config), self_(self), rng_(rng) {}

  // `distance`: as the coordinates have it.
  bool wants(const Descriptor& descriptor, Time distance) const;
  void offer(const Descriptor& descriptor, Time distance);
  void on_range(const PeerId& peer, Time distance);
  // `sample`: a random peer, if there is one.
  void on_round(const Descriptor* sample);
  void remove(const PeerId& peer);

  // The peer to measure next: a candidate, else all neighbours in turn. A candidate that has not answered the last time is given up.
  std::optional<PeerId> next_to_measure();
  const std::vector<Near>& near() const { return near_; }  // by distance, candidates last
  const std::vector<Descriptor>& random() const { return random_; }
  const Descriptor* find(const PeerId& peer) const;

 private:
  std::vector<Near>::iterator entry_of(const PeerId& peer);
  std::size_t measured() const;
  void shorten();

  const Config config_;
  const PeerId self_;
  Rng& rng_;
  std::vector<Near> near_;
  std::vector<Descriptor> random_;
  unsigned rounds_ = 0;
  std::size_t turn_ = 0;
  PeerId asked_{};  // the candidate that was to be measured last
};

}  // namespace gw::overlay
