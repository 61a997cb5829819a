#pragma once
// Interfaces through which the machines of a job ask about other peers and grids.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/names.h"
#include "wire/overlay.pb.h"

namespace gw::job {

class PeerLiveness {
 public:
  virtual ~PeerLiveness() = default;
  virtual bool alive(const PeerId& peer) const = 0;
};

// The live peers of the grid of a job.
class LivePeers : public PeerLiveness {
 public:
  struct LivePeer {
    PeerId peer;
    std::uint32_t free_slots;  // as the peer last announced
    std::uint32_t slots = 0;   // that it lends in all; likewise
  };

  struct Neighbour {
    PeerId peer;
    Time distance;  // the estimated round trip
  };

  // All live peers, this one included, in the order of their ids. Valid until the next input of the peer: every job asks often, so the list
  // must not be made for each question.
  virtual const std::vector<LivePeer>& all_alive() const = 0;
  // The peers that a search asks first: this one, and a few dozen live neighbours, near and random.
  virtual std::vector<Neighbour> neighbours() const = 0;
  // Peers that have joined or announced more free slots since `mark`, which moves: the most recent ones, each at most once. So many jobs
  // are told of a peer as it may have slots for, and some more: not each of a thousand jobs that wait.
  virtual std::vector<PeerId> opened_since(std::uint64_t& mark) const = 0;
  // A job of this peer has given back slots of that one, which count as announced: its other jobs may wait for them.
  virtual void on_given_back(const PeerId& peer, std::uint32_t slots) const = 0;
  // The estimated round trip; kNever: not known.
  virtual Time distance(const PeerId& peer) const = 0;
  // The part of the internet that a peer is in, by its address; peers of unknown addresses have the same.
  virtual std::string network(const PeerId& peer) const = 0;
  // How this peer describes itself to peers that do not know it.
  virtual wire::pb::Descriptor introduction() const = 0;
};

// The rules for which peers may run jobs in which grid.
class GridRules {
 public:
  virtual ~GridRules() = default;
  // Kind::invalid with the reason if jobs of `home` may not run here. `grid`: as the job's charter names it.
  virtual Status may_run(Time now, const PeerId& home, const std::optional<wire::GridId>& grid) const = 0;
};

}  // namespace gw::job
