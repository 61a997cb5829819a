// How far the others are, and how many.

#include <algorithm>

#include "overlay/overlay.h"

namespace gw::overlay {
namespace {

// Of a coordinate: a peer above it measures as often as it can, since nobody can use its position yet; one below, now and then.
constexpr float kUnsettled = 0.2F;
constexpr int kUnsettledMeasurements = 2;
constexpr Time kSettledPause = std::chrono::seconds(9);

}  // namespace

// In turn somebody who may be near and somebody random: near ones alone would agree on a map that is wrong everywhere else.
void Overlay::measure(Time now, Output& out) {
  neighbours_.on_round(sampler_.sample());
  const bool settled = coordinates_.own().error <= kUnsettled;
  if (settled && now < measured_at_ + kSettledPause) return;
  measured_at_ = now;
  for (int i = settled ? 1 : kUnsettledMeasurements; i > 0; --i) {
    const std::optional<PeerId> neighbour = ++measurements_ % 2 == 0 ? neighbours_.next_to_measure() : std::nullopt;
    const Descriptor* random = neighbour ? nullptr : sampler_.sample();
    if (neighbour) ranging_.measure(now, *neighbour, out);
    if (random != nullptr) ranging_.measure(now, random->id, out);
  }
}

void Overlay::take_ranges() {
  for (const Ranging::Range& range : ranging_.take()) {
    coordinates_.on_sample(range.peer, range.coordinate, range.round_trip);
    neighbours_.on_range(range.peer, coordinates_.measured(range.peer));
  }
}

Time Overlay::distance_to(const Descriptor& descriptor) const {
  return std::chrono::duration_cast<Time>(std::chrono::duration<float>(seconds_to(descriptor)));
}

float Overlay::seconds_to(const Descriptor& descriptor) const {
  return static_cast<float>(estimate(coordinates_.own(), descriptor.coordinate));
}

// Whoever knows fewer than fit into its cache knows all. With more, the sampler's stream says.
double Overlay::size() const {
  const auto known = static_cast<double>(sampler_.cache().size());
  if (sampler_.cache().size() < config_.sampler.cache * 9 / 10) return known + 1;
  return std::max(known, size_.occupancy().value_or(known)) + 1;
}

}  // namespace gw::overlay
