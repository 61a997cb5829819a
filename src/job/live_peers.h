#pragma once
// What the machines of a job need to know about the other peers.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "job/names.h"

namespace gw::job {

class LivePeers {
 public:
  struct LivePeer {
    PeerId peer;
    std::uint32_t free_slots;  // as far as one can tell from here
  };

  virtual ~LivePeers() = default;
  virtual bool alive(const PeerId& peer) const = 0;
  // All that are alive, this peer included, in the order of their ids.
  virtual std::vector<LivePeer> all_alive() const = 0;
};

// Who may have a job run in which grid.
class GridRules {
 public:
  virtual ~GridRules() = default;
  // Kind::invalid: why that peer may not. `grid`: as the manifest has it.
  virtual Status may_run(Time now, const PeerId& home, const std::optional<wire::GridId>& grid) const = 0;
};

}  // namespace gw::job
