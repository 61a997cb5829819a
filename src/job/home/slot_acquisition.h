#pragma once
// How a job gets slots at other peers, and gives them back.

#include <cstdint>
#include <optional>
#include <vector>

#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/authority/charter.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"
#include "job/home/placement.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"

namespace gw::job {

// Asks peers for slots while threads wait for them, claims offered slots, renews claims, and gives back claims that are idle, stalled or
// refuse every thread.
//
// Invariants: at most one claim per peer; claimed slots never exceed what the manifest wants. Costs: O(claims) per tend(). Limits: those of
// Placement. A machine without I/O or threads: its Home owns and drives it.
class SlotAcquisition {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time renew = std::chrono::seconds(5);
    Time silence = std::chrono::seconds(30);  // of a claim whose peer seems alive
    Time idle = std::chrono::seconds(10);     // a claim with nothing to do
    Time prune_every = std::chrono::minutes(1);
    Time gone_for_good = std::chrono::minutes(30);  // a peer of the roster that has no part in the job and is not seen
  };
  struct Environment {  // outlives this object
    const Charter& charter;
    const Manifest& manifest;
    const LivePeers& live_peers;
    LeaderRoster& roster;
    ThreadTable& threads;
    const TaskTable& tasks;
    ClaimTable& claims;
    Placement& placement;
  };

  SlotAcquisition(const Config& config, const Environment& environment) : config_(config), environment_(environment) {}

  // Asks peers with free slots for the slots that the job can use and does not have.
  void seek(Time now, Actions& out);
  // The next seek() need not wait.
  void seek_at_once(Time now) { seek_at_ = now; }
  // True: a claim was added.
  bool on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out);
  // Handles the part of a status that is about the whole claim.
  void on_status(Time now, const PeerId& from, Claim& claim, const JobMessage::Status& status);
  // A keeper says what it keeps: hosts whose threads it has something new of do something.
  void on_kept(Time now, const PeerId& keeper, const JobMessage::AskKept& kept);
  // The host refuses a thread, or suspends one that it was not asked to suspend. It gets no more threads until its claim is renewed.
  void on_refused(const PeerId& from) { environment_.claims.limit(from); }
  // The host reports that a thread cannot run. It is asked for slots last from now on, and its unused slots are given back, so that other
  // peers are asked.
  void on_blame(Time now, const PeerId& from, Actions& out);
  // Renews claims. Returns the peers whose claims were lost or given back: the caller has to requeue their threads.
  std::vector<PeerId> tend(Time now, Actions& out);
  // Gives back all claims. If the message to a host is lost, the host sends a status and home answers it with the release.
  void release_all(Actions& out);

 private:
  bool none_to_place() const { return environment_.threads.none_to_place() && environment_.tasks.waiting() == 0; }
  void prune_roster(Time now);
  bool is_needed(const PeerId& peer, const Claim& claim) const;
  bool is_stalled(Time now, const PeerId& peer, const Claim& claim) const;
  void send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const;

  const Config config_;
  const Environment environment_;
  Time seek_at_{0};
  Time prune_at_{0};
};

}  // namespace gw::job
