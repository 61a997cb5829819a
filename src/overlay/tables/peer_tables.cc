#include "overlay/tables/peer_tables.h"

#include <algorithm>
#include <span>

namespace gw::overlay {

PeerTables::PeerTables(const Config& config, const PeerId& self, Rng& rng)
    : self_(self),
      most_partners_(config.partners),
      sampler(config.sampler, self, rng),
      ring(config.ring, self, *this, Rng(rng.next())),
      detector(config.detector, self, *this, Rng(rng.next())),
      links(config.links, *this, Rng(rng.next())),
      coordinates(config.coordinates, rng),
      neighbours(config.neighbours, self, rng),
      last_seen(config.last_seen) {}

const Descriptor* PeerTables::find(const PeerId& peer) const {
  const Descriptor* const known = find_in_tables(peer);
  const Descriptor* const partner = partners_.find(peer);
  return known == nullptr || (partner != nullptr && newer(*partner, *known)) ? partner : known;
}

const Descriptor* PeerTables::find_in_tables(const PeerId& peer) const {
  const Descriptor* newest = nullptr;
  for (const Descriptor* found : {sampler.find(peer), ring.leafset().find(peer), ring.table().find(peer), neighbours.find(peer)})
    if (found != nullptr && (newest == nullptr || newer(*found, *newest))) newest = found;
  return newest;
}

std::vector<PeerId> PeerTables::all() const {
  std::vector<PeerId> ids;
  const auto take = [&](std::span<const Descriptor> table) {
    for (const Descriptor& descriptor : table) ids.push_back(descriptor.id);
  };
  take(sampler.cache().entries());
  take(sampler.fallback().entries());
  take(ring.leafset().members());
  take(neighbours.random());
  for (const Neighbours::Near& near : neighbours.near()) ids.push_back(near.peer.id);
  for (const PrefixTable::Entry& entry : ring.table().entries()) ids.push_back(entry.peer.id);
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
  return ids;
}

bool PeerTables::is_alive(const PeerId& peer) const {
  const LinkWatch::State link = links.state(peer);
  if (peer == self_ || link != LinkWatch::State::not_watched) return link != LinkWatch::State::lost;
  return detector.state(peer) != FailureDetector::State::dead && (find(peer) != nullptr || was_seen(peer));
}

std::vector<KnownPeer> PeerTables::known_peers() const {
  std::vector<KnownPeer> list;
  for (const PeerId& id : all()) {
    const Descriptor& descriptor = *find(id);
    const Time measured = coordinates.measured(id);
    list.push_back({descriptor, detector.state(id), last_seen.last(id), measured < Time(0) ? distance_to(descriptor) : measured});
  }
  for (const Tombstones::Tombstone* tombstone : detector.tombstones().all())
    list.push_back({tombstone->peer, FailureDetector::State::dead, last_seen.last(tombstone->peer.id), {}});
  std::ranges::sort(list, {}, [](const KnownPeer& known) { return known.descriptor.id; });
  return list;
}

std::vector<std::string> PeerTables::addresses_to_remember(std::size_t most) const {
  std::vector<std::string> addresses;
  for (const Descriptor& peer : sampler.fallback().entries())
    if (can_be_dialled(peer)) addresses.push_back(peer.address);
  for (const Descriptor& peer : sampler.cache().entries())
    if (can_be_dialled(peer) && addresses.size() < most && !sampler.fallback().contains(peer.id)) addresses.push_back(peer.address);
  return addresses;
}

bool PeerTables::wants(const Descriptor& descriptor) const {
  return detector.admits(descriptor) && (sampler.wants(descriptor) || ring.wants(descriptor, seconds_to(descriptor)) ||
                                         detector.wants(descriptor) || neighbours.wants(descriptor, distance_to(descriptor)));
}

void PeerTables::store(Time now, const Descriptor& descriptor, Output& out) {
  detector.on_descriptor(now, descriptor, out);
  sampler.offer(descriptor);
  neighbours.offer(descriptor, distance_to(descriptor));
  const Ring::Learned learned = ring.learn(descriptor, seconds_to(descriptor));
  // Keys next to a dead leaf would be lost, so a leaf that has never spoken is asked at once.
  if (learned == Ring::Learned::new_leaf && !was_seen(descriptor.id)) detector.on_silence(now, descriptor.id, out);
  if (learned == Ring::Learned::hearsay) detector.on_hearsay(now, descriptor, out);
}

void PeerTables::on_seen(Time now, const PeerId& peer, Output& out) {
  detector.on_seen(now, peer, out);
  links.on_seen(now, peer);
  // The link watch reports the peers it watches by itself.
  if (last_seen.on_seen(now, peer) && links.state(peer) == LinkWatch::State::not_watched) out.events.push_back(Seen{peer, true});
}

void PeerTables::remove(const PeerId& peer, Output& out) {
  const bool was_seen = last_seen.forget(peer);
  sampler.remove(peer);
  ring.forget(peer);
  neighbours.remove(peer);
  partners_.remove(peer);
  coordinates.forget(peer);
  // The link watch reports a loss by itself, once.
  if (links.state(peer) == LinkWatch::State::there) {
    links.on_gone(peer);
  } else if (was_seen && links.state(peer) == LinkWatch::State::not_watched) {
    out.events.push_back(Seen{peer, false});
  }
}

void PeerTables::add_partner(const Descriptor& descriptor) {
  if (partners_.contains(descriptor.id)) {
    partners_.renew(descriptor);
    return;
  }
  if (partners_.size() >= most_partners_) {
    const auto shares_a_job = [&](const Descriptor& partner) { return links.state(partner.id) != LinkWatch::State::not_watched; };
    for (std::size_t tries = 0; shares_a_job(partners_[next_partner_ % partners_.size()]); ++next_partner_)
      if (++tries == partners_.size()) return;
    partners_.remove_at(next_partner_++ % partners_.size());
  }
  partners_.add(descriptor);
}

Time PeerTables::distance_to(const Descriptor& descriptor) const {
  return std::chrono::duration_cast<Time>(std::chrono::duration<float>(seconds_to(descriptor)));
}

float PeerTables::seconds_to(const Descriptor& descriptor) const {
  return static_cast<float>(estimate(coordinates.own(), descriptor.coordinate));
}

}  // namespace gw::overlay
