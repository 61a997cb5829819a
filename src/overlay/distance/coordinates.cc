#include "overlay/distance/coordinates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/reached.h"
#include "wire/messages/overlay_messages.h"

namespace gw::overlay {
namespace {

using Vector = std::array<double, Coordinate::kDimensions>;

constexpr double kNothing = 1e-6;  // seconds, and the least sum of two errors
constexpr double kSamePlace = 1e-7;
constexpr double kMaxRoundTrip = 10;

Vector between(const Coordinate& from, const Coordinate& to) {
  Vector difference;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = double{to.position[i]} - double{from.position[i]};
  return difference;
}

double length(const Vector& vector) {
  double sum = 0;
  for (const double component : vector) sum += component * component;
  return std::sqrt(sum);
}

double raw_estimate(const Coordinate& a, const Coordinate& b) { return length(between(a, b)) + double{a.height} + double{b.height}; }

bool is_sound(const Coordinate& coordinate) {
  const auto within = [](float value) { return std::isfinite(value) && std::abs(value) <= wire::kMaxCoordinateSeconds; };
  return std::ranges::all_of(coordinate.position, within) && within(coordinate.height) && within(coordinate.error) &&
         within(coordinate.adjustment);
}

template <class Window>
void remember(Window& window, std::size_t& next, double value) {
  window[next] = static_cast<float>(value);
  next = (next + 1) % window.size();
}

Coordinate origin() {
  Coordinate origin;
  origin.height = 0;
  return origin;
}

}  // namespace

double estimate(const Coordinate& a, const Coordinate& b) {
  const double raw = raw_estimate(a, b);
  const double adjusted = raw + double{a.adjustment} + double{b.adjustment};
  return adjusted > 0 ? adjusted : raw;
}

void Coordinates::on_sample(const PeerId& peer, const Coordinate& other, Time round_trip) {
  const double measured = std::chrono::duration<double>(round_trip).count();
  if (measured < 0 || measured > kMaxRoundTrip || !is_sound(other)) return;
  const double seconds = std::max(filtered(peer, measured), kNothing);
  pull(other, seconds);
  const double distance = estimate(origin(), own_) / config_.gravity;
  apply_force(-distance * distance, origin());
  if (is_sound(own_)) return;
  GW_REACHED("coordinates: lost and begun anew");
  own_ = {};
  rests_ = {};
  surprises_.fill(kUnknown);
  ++resets_;
}

void Coordinates::pull(const Coordinate& other, double seconds) {
  const double surprise = seconds - estimate(own_, other);
  const double usual = usual_surprise();
  remember(surprises_, next_surprise_, std::abs(surprise));
  if (std::abs(surprise) > std::max(config_.least_disbelief, config_.disbelief * usual)) {
    GW_REACHED("coordinates: a sample that nobody believes");
    return;
  }
  const double error = own_.error;
  const double weight = error / std::max(error + std::max(double{other.error}, error * config_.least_doubt), kNothing);
  const double learning = config_.learning * weight;
  own_.error = static_cast<float>(std::min(config_.max_error, learning * std::abs(surprise) / seconds + error * (1 - learning)));

  const double limit = std::max(config_.least_limit, config_.limit * usual);
  const double force = config_.pull * weight * std::clamp(surprise, -limit, limit);
  apply_force(std::clamp(force, -config_.max_force, config_.max_force), other);

  remember(rests_, next_rest_, std::clamp(seconds - raw_estimate(own_, other), -limit, limit));
  // Divides by the full size of the window, so that the adjustment grows slowly while the window fills.
  own_.adjustment = static_cast<float>(std::accumulate(rests_.begin(), rests_.end(), 0.0) / (2.0 * kWindow));
}

// The median: most peers do not lie.
double Coordinates::usual_surprise() const {
  Window sorted = surprises_;
  const auto middle = sorted.begin() + kWindow / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

// Away from `other`, in a random direction if both are in one place.
void Coordinates::apply_force(double force, const Coordinate& other) {
  Vector direction = between(other, own_);
  const double magnitude = length(direction);
  if (magnitude > kSamePlace) {
    for (double& component : direction) component /= magnitude;
    const double heights = double{own_.height} + double{other.height};
    const double height = double{own_.height} + heights * force / (magnitude + heights);
    own_.height = static_cast<float>(std::max(config_.min_height, height));
  } else {
    direction = random_direction();
  }
  for (std::size_t i = 0; i < direction.size(); ++i) own_.position[i] = static_cast<float>(double{own_.position[i]} + direction[i] * force);
}

Vector Coordinates::random_direction() {
  Vector direction{};
  double magnitude = 0;
  while (magnitude <= kNothing) {
    for (std::size_t i = 0; i < config_.dimensions; ++i) direction[i] = static_cast<double>(rng_.below(2'000'001)) / 1e6 - 1;
    magnitude = length(direction);
  }
  for (double& component : direction) component /= magnitude;
  return direction;
}

double Coordinates::History::median() const {
  std::array<float, kFilter> sorted = seconds;
  const auto end = sorted.begin() + std::min<std::ptrdiff_t>(count, kFilter);
  std::sort(sorted.begin(), end);
  return sorted[static_cast<std::size_t>(end - sorted.begin()) / 2];
}

double Coordinates::filtered(const PeerId& peer, double seconds) {
  const auto known = std::ranges::find(histories_, peer, &History::peer);
  History history{.peer = peer};
  if (known != histories_.end()) {
    history = *known;
    histories_.erase(known);
  } else if (histories_.size() >= config_.histories) {
    histories_.erase(histories_.begin());
  }
  history.seconds[history.count++ % kFilter] = static_cast<float>(seconds);
  histories_.push_back(history);
  return history.median();
}

Time Coordinates::measured(const PeerId& peer) const {
  const auto known = std::ranges::find(histories_, peer, &History::peer);
  if (known == histories_.end()) return Time(-1);
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(known->median()));
}

void Coordinates::forget(const PeerId& peer) {
  std::erase_if(histories_, [&](const History& history) { return history.peer == peer; });
}

}  // namespace gw::overlay
