#pragma once
// How a job gets slots at other peers, and gives them back.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/authority/charter.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"
#include "job/home/gang.h"
#include "job/home/hash_places.h"
#include "job/home/job_records.h"
#include "job/home/loss_policy.h"
#include "job/home/placement.h"
#include "job/home/slot_declines.h"
#include "job/home/slot_search.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"
#include "job/placing/offer_order.h"
#include "job/placing/peer_history.h"
#include "wire/signer.h"

namespace gw::job {

// Searches for slots while threads wait for them (SlotSearch), claims offered slots, renews claims, and gives back claims that are idle,
// stalled or refuse every thread.
//
// A job that is to be spread over many machines searches the whole grid at once, and waits for the offers of all.
//
// Else an offer is claimed at once if no better one could replace it: if all slots are wanted that were offered so far, and that the peers
// which have not answered yet have announced. If not, offers wait until the peers that home has asked itself have answered, half a second
// at most. An offer of a peer that is not trusted waits for the half second. What is not claimed then is given back.
//
// Invariants: at most one claim per peer; claimed slots never exceed what LossPolicy allows; an offer is claimed or given back. Costs:
// O(claims) per tend(), O(offers) per answer. Limits: Config::offers, those of its parts. A machine without I/O or threads: its Home owns
// and drives it.
class SlotAcquisition {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time renew = std::chrono::seconds(5);
    Time silence = std::chrono::seconds(30);  // of a claim whose peer seems alive
    Time idle = std::chrono::seconds(10);     // a claim with nothing to do
    Time prune_every = std::chrono::minutes(1);
    Time gone_for_good = std::chrono::minutes(30);       // a peer of the roster that has no part in the job and is not seen
    Time offer_lasts = std::chrono::milliseconds(2500);  // hosts give up a reservation after three seconds
    std::size_t offers = 1024;                           // that wait
    std::uint32_t hops = wire::kMaxSearchHops;           // how often a search is passed on
    SlotSearch::Config search;
    SlotDeclines::Config declines;
    HashPlaces::Config places;
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
    const wire::Signer& signer;
    std::uint64_t boot;
    PeerHistory& history;
    LossPolicy& losses;
    Gang& gang;
    const JobRecords& records;
    Rng& rng;
  };

  SlotAcquisition(const Config& config, const Environment& environment)
      : config_(config), environment_(environment), search_(config.search, environment.boot), declines_(config.declines) {
    const wire::pb::Manifest::Policy& policy = environment.manifest.content().policy();
    if (policy.place() == wire::pb::Manifest::Policy::HASH) places_.emplace(config.places, environment.charter.manifest(), policy.slots());
  }

  // Searches for the slots that the job can use and does not have. Called on each tick of home and at next_deadline(), unless the job must
  // not begin or go on.
  void seek(Time now, Actions& out);
  Time next_deadline() const { return std::min(search_.next_round(), offers_.empty() ? kNever : search_.answers_by()); }
  void on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out);
  // False: the peer was not asked.
  bool on_decline(Time now, const PeerId& from, const JobMessage::Decline& decline, Actions& out);
  // The answer to a KeyLookup: the peer that was found.
  void on_located(Time now, std::uint32_t slot, const std::optional<PeerId>& peer, Actions& out);
  void on_peer_lost(const PeerId& peer);
  // The claim at the peer has ended.
  void on_claim_lost(const PeerId& peer) {
    if (places_) places_->on_lost(peer);
  }
  // The peers whose offers were claimed since the last call: the caller gives them threads and tasks.
  std::vector<PeerId> take_claimed() { return std::exchange(claimed_, {}); }
  // Takes the next step of a job that needs several slots at once. True: it begins now.
  bool advance_gang(Time now, Actions& out);
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
  Explanation why_no_slot(Time now) const { return declines_.why_no_slot(situation(now)); }
  std::vector<PeerReason> why_not(Time now) const { return declines_.why_not(situation(now)); }
  const SlotSearch& search() const { return search_; }

  // Gives back all claims and offers. If the message to a host is lost, the host sends a status and home answers it with the release.
  void release_all(Actions& out);

 private:
  struct WaitingOffer {
    std::uint64_t claim = 0;
    std::uint32_t slots = 0;  // that the job can use
    Time since{0};
    Capacity capacity = {};
  };
  bool none_to_place() const { return environment_.threads.none_to_place() && environment_.tasks.waiting() == 0; }
  std::uint32_t wanted() const;
  // The slots that are wanted near home, and not placed by hash.
  std::uint32_t wanted_near() const {
    const std::uint32_t all = wanted();
    return all - std::min(all, places_ ? places_->pending() : 0);
  }
  void seek_places(Time now, Actions& out);
  void ask(SlotSearch::Round round, std::uint32_t slots, Actions& out);
  void ask_opened(Time now, Actions& out);
  bool spreads() const { return environment_.manifest.content().policy().place() == wire::pb::Manifest::Policy::SPREAD; }
  // The slots that the peers which have not answered yet have announced.
  std::uint64_t may_be_offered() const;
  void choose(Time now, Actions& out);
  // The slots to claim of these offers, the best first.
  std::vector<SlotShare> best_of(const std::vector<PeerId>& peers) const;
  void take(Time now, const SlotShare& share, Actions& out);
  void note_speeds();
  void give_back(const PeerId& peer, std::uint64_t claim, Actions& out) const;
  void end_claim(const PeerId& peer, const Claim& claim, Actions& out) const;
  void give_back_offers(Actions& out);
  SlotDeclines::Situation situation(Time now) const {
    return {now, environment_.manifest.content().policy(), environment_.live_peers, environment_.claims, environment_.placement, search_};
  }
  void prune_roster(Time now);
  bool is_needed(const PeerId& peer, const Claim& claim) const;
  bool is_stalled(Time now, const PeerId& peer, const Claim& claim) const;
  void send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const;

  const Config config_;
  const Environment environment_;
  SlotSearch search_;
  SlotDeclines declines_;
  std::optional<HashPlaces> places_;  // of a job that is placed by hash
  std::map<PeerId, WaitingOffer> offers_;
  std::vector<PeerId> claimed_;
  std::uint64_t opened_ = 0;  // as LivePeers::opened_since() counts
  Time prune_at_{0};
};

}  // namespace gw::job
