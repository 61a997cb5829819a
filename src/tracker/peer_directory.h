#pragma once
// The announced peers, by grid.

#include <chrono>
#include <list>
#include <map>
#include <vector>

#include "base/rng.h"
#include "overlay/descriptor.h"
#include "wire/tracker.pb.h"

namespace gw::tracker {

using overlay::GridId;
using overlay::PeerId;
using WallSeconds = std::chrono::seconds;  // since 1970

// Descriptors that their owners have signed, the newest of each, forgotten some minutes after they were announced. It can keep silent
// about a peer, but not make one up: whoever asks checks the signatures again.
//
// Limits: Config. When all places are taken the entry that was announced longest ago goes. A value without I/O or threads.
class PeerDirectory {
 public:
  struct Config {
    std::chrono::seconds lasts = std::chrono::minutes(10);
    std::size_t peers = 16'384;  // of all grids
    std::size_t peers_of_grid = 4'096;
  };

  PeerDirectory(Config config, const overlay::Signer& signer) : config_(config), signer_(signer) {}

  // Kind::invalid: it breaks a rule, or its owner has not signed it.
  Status announce(WallSeconds now, const wire::pb::Announcement& announcement);
  // Up to `count` of a grid, chosen at random.
  std::vector<wire::pb::Descriptor> some(WallSeconds now, const GridId& grid, std::size_t count, Rng& rng);
  void expire(WallSeconds now);
  std::size_t size() const { return by_age_.size(); }

  wire::pb::TrackerState state() const;
  // What is not genuine, or too old, is left out.
  void restore(WallSeconds now, const wire::pb::TrackerState& state);

 private:
  struct Entry {
    GridId grid;
    overlay::Descriptor descriptor;
    wire::pb::Descriptor message;
    WallSeconds last_seen;
  };
  using ByAge = std::list<Entry>;  // the one announced longest ago first

  void forget(ByAge::iterator entry);

  const Config config_;
  const overlay::Signer& signer_;
  ByAge by_age_;
  std::map<GridId, std::map<PeerId, ByAge::iterator>> grids_;
};

}  // namespace gw::tracker
