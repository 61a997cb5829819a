#pragma once
// A LivePeers whose peers and slots the test sets.

#include <map>

#include "job/live_peers.h"

namespace gw::job::test {

class FakePeers final : public LivePeers {
 public:
  bool alive(const PeerId& peer) const override { return free_slots.contains(peer); }
  const std::vector<LivePeer>& all_alive() const override {
    list_.clear();
    for (const auto& [peer, slots] : free_slots) list_.push_back({peer, slots, slots});
    return list_;
  }

  // Peers without free slots are no neighbours, so that a test can say who is asked.
  std::vector<Neighbour> neighbours() const override {
    std::vector<Neighbour> list;
    for (const auto& [peer, slots] : free_slots)
      if (slots > 0) list.push_back({peer, distance(peer)});
    return list;
  }
  std::vector<PeerId> opened_since(std::uint64_t&) const override {
    std::vector<PeerId> opened;
    for (const auto& [peer, slots] : free_slots)
      if (slots > (announced_.contains(peer) ? announced_.at(peer) : 0)) opened.push_back(peer);
    announced_ = free_slots;
    return opened;
  }
  void on_given_back(const PeerId& peer, std::uint32_t slots) const override { given_back[peer] = slots; }
  Time distance(const PeerId& peer) const override { return distances.contains(peer) ? distances.at(peer) : std::chrono::milliseconds(1); }
  std::string network(const PeerId& peer) const override { return networks.contains(peer) ? networks.at(peer) : ""; }
  wire::pb::Descriptor introduction() const override { return {}; }

  std::map<PeerId, std::uint32_t> free_slots;  // of those that are alive
  std::map<PeerId, Time> distances;            // a millisecond if there is none
  std::map<PeerId, std::string> networks;
  mutable std::map<PeerId, std::uint32_t> given_back;

 private:
  mutable std::vector<LivePeer> list_;
  mutable std::map<PeerId, std::uint32_t> announced_;
};

}  // namespace gw::job::test
