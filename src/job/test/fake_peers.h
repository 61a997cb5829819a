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
    for (const auto& [peer, slots] : free_slots) list_.push_back({peer, slots});
    return list_;
  }

  std::map<PeerId, std::uint32_t> free_slots;  // of those that are alive

 private:
  mutable std::vector<LivePeer> list_;
};

}  // namespace gw::job::test
