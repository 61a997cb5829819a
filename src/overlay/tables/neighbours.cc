#include "overlay/tables/neighbours.h"

#include <algorithm>
#include <utility>

#include "base/reached.h"

namespace gw::overlay {

std::vector<Neighbours::Near>::iterator Neighbours::entry_of(const PeerId& peer) {
  return std::ranges::find(near_, peer, [](const Near& near) { return near.peer.id; });
}

// Measured neighbours come before the candidates.
std::size_t Neighbours::measured() const {
  return static_cast<std::size_t>(std::ranges::lower_bound(near_, kNever, {}, &Near::distance) - near_.begin());
}

const Descriptor* Neighbours::find(const PeerId& peer) const {
  for (const Near& near : near_)
    if (near.peer.id == peer) return &near.peer;
  const auto random = std::ranges::find(random_, peer, &Descriptor::id);
  return random == random_.end() ? nullptr : &*random;
}

bool Neighbours::wants(const Descriptor& descriptor, Time distance) const {
  if (const Descriptor* known = find(descriptor.id)) return newer(descriptor, *known);
  if (descriptor.id == self_ || descriptor.coordinate.error > config_.most_error) return false;
  const std::size_t count = measured();
  if (near_.size() - count >= config_.candidates) return false;
  return count < config_.near || distance < near_[count - 1].distance;
}

void Neighbours::offer(const Descriptor& descriptor, Time distance) {
  if (!wants(descriptor, distance)) return;
  if (const auto known = entry_of(descriptor.id); known != near_.end()) {
    known->peer = descriptor;
  } else if (const auto random = std::ranges::find(random_, descriptor.id, &Descriptor::id); random != random_.end()) {
    *random = descriptor;
  } else {
    near_.push_back({descriptor, kNever});
  }
}

void Neighbours::on_range(const PeerId& peer, Time distance) {
  const auto known = entry_of(peer);
  if (known == near_.end()) return;
  known->distance = distance;
  shorten();
}

void Neighbours::shorten() {
  std::ranges::sort(near_, {}, [](const Near& near) { return std::pair(near.distance, near.peer.id); });
  for (std::size_t count = measured(); count > config_.near; --count) {
    GW_REACHED("neighbours: somebody nearer was found");
    near_.erase(near_.begin() + static_cast<std::ptrdiff_t>(count) - 1);
  }
}

void Neighbours::on_round(const Descriptor* sample) {
  const bool is_due = random_.size() < config_.random || ++rounds_ % config_.redraw == 0;
  if (!is_due || sample == nullptr || find(sample->id) != nullptr) return;
  if (random_.size() < config_.random) {
    random_.push_back(*sample);
  } else {
    random_[rng_.below(random_.size())] = *sample;
  }
}

void Neighbours::remove(const PeerId& peer) {
  std::erase_if(near_, [&](const Near& near) { return near.peer.id == peer; });
  std::erase_if(random_, [&](const Descriptor& random) { return random.id == peer; });
}

std::optional<PeerId> Neighbours::next_to_measure() {
  if (const std::size_t count = measured(); count < near_.size()) {
    const PeerId candidate = near_[count].peer.id;
    if (std::exchange(asked_, candidate) != candidate) return candidate;
    near_.erase(near_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  const std::size_t total = near_.size() + random_.size();
  if (total == 0) return std::nullopt;
  const std::size_t turn = turn_++ % total;
  return turn < near_.size() ? near_[turn].peer.id : random_[turn - near_.size()].id;
}

}  // namespace gw::overlay
