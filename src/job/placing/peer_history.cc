#include "job/placing/peer_history.h"

#include <algorithm>

namespace gw::job {

PeerHistory::Entry& PeerHistory::change(const PeerId& peer) {
  if (entries_.size() >= config_.peers && !entries_.contains(peer))
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.noted; }));
  Entry& entry = entries_[peer];
  entry.noted = ++notes_;
  return entry;
}

void PeerHistory::note_speed(const PeerId& peer, double speed) {
  Entry& entry = change(peer);
  entry.speed = entry.speed == 0 ? speed : entry.speed + config_.newest * (speed - entry.speed);
}

void PeerHistory::note_work(const PeerId& peer, std::uint64_t finished, std::uint64_t lost) {
  Entry& entry = change(peer);
  entry.finished += finished;
  entry.lost += lost;
}

double PeerHistory::speed_of(const PeerId& peer) const {
  const auto found = entries_.find(peer);
  return found == entries_.end() ? 0 : found->second.speed;
}

double PeerHistory::success_of(const PeerId& peer) const {
  const auto found = entries_.find(peer);
  if (found == entries_.end()) return 1;
  const auto finished = static_cast<double>(found->second.finished), lost = static_cast<double>(found->second.lost);
  return (finished + 1) / (finished + lost + 1);
}

}  // namespace gw::job
