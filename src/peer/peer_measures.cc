#include "peer/peer_measures.h"

#include <algorithm>

namespace gw::peer {

PeerMeasures::Entry& PeerMeasures::entry_of(Time now, const PeerId& peer) {
  if (entries_.size() >= config_.peers && !entries_.contains(peer))
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.heard; }));
  Entry& entry = entries_[peer];
  entry.heard = now;
  return entry;
}

void PeerMeasures::on_sent(Time now, const PeerId& to, const JobMessage& message) {
  if (!message.has_want_blob()) return;
  Entry& entry = entry_of(now, to);
  if (entry.asked++ == 0) entry.waits_since = now;
}

void PeerMeasures::on_received(Time now, const PeerId& from, const JobMessage& message) {
  const auto found = entries_.find(from);
  if (!message.has_blob() || found == entries_.end() || found->second.asked == 0) return;
  Entry& entry = entry_of(now, from);
  --entry.asked;
  entry.bytes += message.blob().bytes().size();
  entry.took += std::min(now - std::exchange(entry.waits_since, now), config_.longest_gap);
  if (entry.bytes <= config_.half_life_bytes) return;
  entry.bytes /= 2;
  entry.took /= 2;
}

const job::Capacity* PeerMeasures::capacity_of(const PeerId& peer) const {
  const auto found = entries_.find(peer);
  return found == entries_.end() || !found->second.capacity ? nullptr : &*found->second.capacity;
}

std::optional<double> PeerMeasures::network_speed_of(const PeerId& peer) const {
  const auto found = entries_.find(peer);
  if (found == entries_.end() || found->second.bytes < config_.least_bytes || found->second.took <= Time(0)) return std::nullopt;
  return static_cast<double>(found->second.bytes) / std::chrono::duration<double>(found->second.took).count();
}

}  // namespace gw::peer
