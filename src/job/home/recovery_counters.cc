#include "job/home/recovery_counters.h"

#include <algorithm>

#include "job/effects/stored_effect.h"

namespace gw::job {
namespace {

constexpr std::size_t kMostBytes = 300;  // of a sentence: it is stored with each change, for each peer

}  // namespace

RecoveryCounters::RecoveryCounters(const wire::pb::RecoveryCountersRecord& record)
    : peers_lost_(record.peers_lost()), lost_(record.lost()), resumed_(record.resumed()), restarted_(record.restarted()) {
  for (const wire::pb::RecoveryCountersRecord::Peer& peer : record.peers())
    if (peers_.size() < kMostPeers)
      peers_[PeerId::from(peer.peer())] = {
          .finished = peer.finished(), .lost = peer.lost(), .taken = peer.taken(), .failure = peer.failure(), .changed = ++changes_};
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

// The peer that changed longest ago makes room for a new one.
RecoveryCounters::Peer& RecoveryCounters::change(const PeerId& host) {
  if (peers_.size() >= kMostPeers && !peers_.contains(host))
    peers_.erase(std::ranges::min_element(peers_, {}, [](const auto& entry) { return entry.second.changed; }));
  Peer& peer = peers_[host];
  changed_ = changed_ || peer.changed == 0;
  peer.changed = ++changes_;
  return peer;
}

void RecoveryCounters::on_refused(const PeerId& host, std::string_view why) {
  if (peers_.size() >= kMostRefusing && !peers_.contains(host)) return;
  peers_[host].failure = why.substr(0, kMostBytes);
}

void RecoveryCounters::on_lost(const PeerId& host, std::string_view failure) {
  changed_ = true;
  ++lost_;
  Peer& peer = change(host);
  ++peer.lost;
  if (!failure.empty()) peer.failure = failure.substr(0, kMostBytes);
}

void RecoveryCounters::on_taken(const PeerId& host, From from) {
  changed_ = true;
  ++(from == From::image ? resumed_ : restarted_);
  ++change(host).taken;
}

void RecoveryCounters::recover_finished(const std::map<std::uint64_t, std::uint64_t>& by_tag) {
  for (auto& [id, counts] : peers_)
    if (const auto found = by_tag.find(tag_of(id)); found != by_tag.end()) counts.finished = found->second;
}

void RecoveryCounters::forget_finished() {
  for (auto& [id, counts] : peers_) counts.finished = 0;
}

}  // namespace gw::job
