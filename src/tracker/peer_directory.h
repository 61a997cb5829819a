#pragma once
// The announced peers, by grid.

#include <chrono>
#include <list>
#include <map>
#include <vector>

#include "base/rng.h"
#include "overlay/membership/descriptor.h"
#include "wire/tracker.pb.h"

namespace gw::tracker {

using overlay::GridId;
using overlay::PeerId;
using WallSeconds = std::chrono::seconds;  // since 1970

// The newest signed descriptor of each announced peer; an entry expires some minutes after its announcement. A tracker can withhold a peer
// but not forge one, because the receiver checks the signatures again.
//
// Limits: Config. At the limit the oldest entry is removed. A value without I/O or threads.
class PeerDirectory {
 public:
  struct Config {
    std::chrono::seconds lasts = std::chrono::minutes(10);
    std::size_t peers = 16'384;  // of all grids
    std::size_t peers_of_grid = 4'096;
  };

  PeerDirectory(Config config, const overlay::Signer& signer) : config_(config), signer_(signer) {}

  // Kind::invalid: the announcement breaks a rule or is not signed by its peer.
  Status announce(WallSeconds now, const wire::pb::Announcement& announcement);
  // Up to `count` of a grid, chosen at random.
  std::vector<wire::pb::Descriptor> some(WallSeconds now, const GridId& grid, std::size_t count, Rng& rng);
  void expire(WallSeconds now);
  std::size_t size() const { return by_age_.size(); }

  wire::pb::TrackerState state() const;
  // Leaves out forged and expired entries.
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
