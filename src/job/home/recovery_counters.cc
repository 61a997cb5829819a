#include "job/home/recovery_counters.h"

namespace gw::job {

RecoveryCounters::RecoveryCounters(const wire::pb::RecoveryCountersRecord& record)
    : peers_lost_(record.peers_lost()), lost_(record.lost()), resumed_(record.resumed()), restarted_(record.restarted()) {
  for (const wire::pb::RecoveryCountersRecord::Peer& peer : record.peers())
    peers_[PeerId::from(peer.peer())] = {
        .finished = peer.finished(), .lost = peer.lost(), .taken = peer.taken(), .failure = peer.failure()};
}

wire::pb::RecoveryCountersRecord RecoveryCounters::record() const {
  wire::pb::RecoveryCountersRecord record;
  record.set_peers_lost(peers_lost_);
  record.set_lost(lost_);
  record.set_resumed(resumed_);
  record.set_restarted(restarted_);
  for (const auto& [id, counts] : peers_) {
    wire::pb::RecoveryCountersRecord::Peer& peer = *record.add_peers();
    peer.set_peer(id.bytes());
    peer.set_finished(counts.finished);
    peer.set_lost(counts.lost);
    peer.set_taken(counts.taken);
    peer.set_failure(counts.failure);
  }
  return record;
}

void RecoveryCounters::on_lost(const PeerId& host, std::string_view failure) {
  constexpr std::size_t kMostBytes = 300;  // it is stored with each change, for each peer
  ++lost_;
  ++peers_[host].lost;
  if (!failure.empty()) peers_[host].failure = failure.substr(0, kMostBytes);
}

void RecoveryCounters::on_taken(const PeerId& host, From from) {
  ++(from == From::image ? resumed_ : restarted_);
  ++peers_[host].taken;
}

void RecoveryCounters::forget_finished() {
  for (auto& [id, counts] : peers_) counts.finished = 0;
}

}  // namespace gw::job
