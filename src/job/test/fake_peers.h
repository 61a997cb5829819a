#pragma once
// A LivePeers whose peers and slots the test sets.

#include <map>

#include "job/live_peers.h"

namespace gw::job::test {

class FakePeers final : public LivePeers {
 public:
  bool alive(const PeerId& peer) const override { return free_slots.contains(peer); }
  std::vector<LivePeer> all_alive() const override {
    std::vector<LivePeer> list;
    for (const auto& [peer, slots] : free_slots) list.push_back({peer, slots});
    return list;
  }

  std::map<PeerId, std::uint32_t> free_slots;  // of those that are alive
};

}  // namespace gw::job::test
