#pragma once
// Why peers lend nothing to a job.

#include <cstdint>
#include <map>
#include <vector>

#include "base/reason.h"
#include "job/actions.h"
#include "job/home/claim_table.h"
#include "job/home/placement.h"
#include "job/home/slot_search.h"
#include "job/live_peers.h"
#include "job/placing/capacity.h"

namespace gw::job {

// Why one peer does not work for a job.
struct PeerReason {
  PeerId peer;
  Explanation why;
};

// The last refusal of each peer that was asked for slots, for people: no decision depends on them.
//
// Limit: Config::peers; the peer whose refusal is oldest is forgotten. A value without I/O or threads.
class SlotDeclines {
 public:
  struct Config {
    std::size_t peers = 256;
  };
  // The state of the search at one moment.
  struct Situation {
    Time now;
    const wire::pb::Manifest::Policy& policy;
    const LivePeers& live_peers;
    const ClaimTable& claims;
    const Placement& placement;
    const SlotSearch& search;
  };

  explicit SlotDeclines(const Config& config) : config_(config) {}

  void add(Time now, const PeerId& peer, JobMessage::Decline decline);
  // The peer has offered slots, or is gone.
  void remove(const PeerId& peer) { entries_.erase(peer); }
  std::size_t size() const { return entries_.size(); }

  // Why a thread that is ready has no slot, with numbers. O(Config::peers).
  Explanation why_no_slot(const Situation& situation) const;
  // Why peers do not work for the job: those that have refused, and those that are not trusted. O(live peers).
  std::vector<PeerReason> why_not(const Situation& situation) const;

 private:
  struct Entry {
    JobMessage::Decline decline;
    Time at{0};
  };
  struct Counts;

  Counts count() const;
  std::string lacking(const Requirements& needs) const;

  const Config config_;
  std::map<PeerId, Entry> entries_;
};

}  // namespace gw::job
