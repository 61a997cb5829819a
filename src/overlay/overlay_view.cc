// What the overlay knows, for the machines of jobs, for people and checkers.

#include <algorithm>

#include "overlay/overlay.h"

namespace gw::overlay {

const Descriptor* Overlay::Tables::find(const PeerId& peer) const {
  const Descriptor* newest = nullptr;
  for (const Descriptor* found : {overlay_.sampler_.find(peer), overlay_.ring_.leafset().find(peer), overlay_.ring_.table().find(peer),
                                  overlay_.neighbours_.find(peer)})
    if (found != nullptr && (newest == nullptr || newer(*found, *newest))) newest = found;
  return newest;
}

std::vector<PeerId> Overlay::Tables::all() const {
  std::vector<PeerId> ids;
  const auto take = [&](std::span<const Descriptor> table) {
    for (const Descriptor& descriptor : table) ids.push_back(descriptor.id);
  };
  take(overlay_.sampler_.cache().entries());
  take(overlay_.sampler_.fallback().entries());
  take(overlay_.ring_.leafset().members());
  take(overlay_.neighbours_.random());
  for (const Neighbours::Near& near : overlay_.neighbours_.near()) ids.push_back(near.peer.id);
  for (const PrefixTable::Entry& entry : overlay_.ring_.table().entries()) ids.push_back(entry.peer.id);
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
  return ids;
}

bool Overlay::Tables::is_suspected(const PeerId& peer) const { return overlay_.detector_.state(peer) == FailureDetector::State::suspected; }

bool Overlay::alive(const PeerId& peer) const {
  const LinkWatch::State link = links_.state(peer);
  if (peer == own_.id || link != LinkWatch::State::not_watched) return link != LinkWatch::State::lost;
  return detector_.state(peer) != FailureDetector::State::dead && (tables_.find(peer) != nullptr || last_seen_.last(peer) != kNever);
}

std::vector<Overlay::Known> Overlay::all() const {
  std::vector<Known> list;
  for (const PeerId& id : tables_.all()) {
    const Descriptor& descriptor = *tables_.find(id);
    const Time measured = coordinates_.measured(id);
    list.push_back({descriptor, detector_.state(id), last_seen_.last(id), measured < Time(0) ? distance_to(descriptor) : measured});
  }
  for (const Tombstones::Tombstone* tombstone : detector_.tombstones().all())
    list.push_back({tombstone->peer, FailureDetector::State::dead, last_seen_.last(tombstone->peer.id), {}});
  std::ranges::sort(list, {}, [](const Known& known) { return known.descriptor.id; });
  return list;
}

std::vector<std::string> Overlay::to_remember() const {
  std::vector<std::string> addresses;
  for (const Descriptor& peer : sampler_.fallback().entries())
    if (can_be_dialled(peer)) addresses.push_back(peer.address);
  for (const Descriptor& peer : sampler_.cache().entries())
    if (can_be_dialled(peer) && addresses.size() < config_.rejoin.remembered && !sampler_.fallback().contains(peer.id))
      addresses.push_back(peer.address);
  return addresses;
}

}  // namespace gw::overlay
