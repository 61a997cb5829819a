#pragma once
// A fast failure check for the few peers with which this one shares a job.

#include <map>
#include <vector>

#include "base/rng.h"
#include "overlay/membership/contacts.h"
#include "overlay/output.h"

namespace gw::overlay {

// Watches few peers closely, where FailureDetector watches many slowly: pings a silent peer every second, and reports it lost after five
// seconds of silence, or at once when a broken connection cannot be made again. Lost is not dead: it means that work should not wait for
// that peer; epochs and fencing make that safe. The first message of the peer ends the loss.
//
// Invariants: a peer that is not watched has no state here; watching ends some time after the last use. Time in which this peer was paused
// does not count. Limits: Config. A machine without I/O or threads.
//
// Differences from phi-accrual detection: a fixed limit. Home and members of a job must agree roughly on when to give up, and leases
// are computed from that number.
class LinkWatch {
 public:
  struct Config {
    Time ping_every = std::chrono::seconds(1);
    Time lost_after = std::chrono::seconds(5);
    Time forgotten_after = std::chrono::seconds(60);  // since the last use
    Time late = std::chrono::seconds(1);              // a tick that comes so late: this peer was paused
    std::size_t peers = 1024;
  };
  enum class State : std::uint8_t { not_watched, there, lost };
  struct Change {
    PeerId peer;
    State state;  // there or lost
  };

  LinkWatch(const Config& config, const Contacts& contacts, Rng rng) : config_(config), contacts_(contacts), rng_(rng) {}

  // The peer is in use now. Beyond the limit no further peer is watched.
  void watch_peer(Time now, const PeerId& peer);
  void on_seen(Time now, const PeerId& peer);
  void on_reset(Time now, const PeerId& peer, Output& out);
  void on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out);
  // The peer has announced that it leaves, or was found dead.
  void on_gone(const PeerId& peer);
  void on_tick(Time now, Output& out);
  Time next_deadline() const { return tick_at_; }

  State state(const PeerId& peer) const;
  std::size_t size() const { return links_.size(); }
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Link {
    Time used{0};
    Time last_seen{0};
    bool lost = false;
    bool broken = false;  // the connection was reset or refused, and is being made again
  };

  void ping(const PeerId& peer, Output& out);
  void lose(const PeerId& peer, Link& link);

  const Config config_;
  const Contacts& contacts_;
  Rng rng_;
  std::map<PeerId, Link> links_;
  std::vector<Change> changes_;
  Time tick_at_ = kNever;
};

}  // namespace gw::overlay
