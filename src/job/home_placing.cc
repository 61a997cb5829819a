// Home's claims, and which thread goes where.

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home.h"

namespace gw::job {

// Asks peers with free slots for as many as the job can use and does not have.
void Home::seek(Time now, Actions& out) {
  std::erase_if(asked_, [&](const auto& entry) { return entry.second <= now; });
  if (now < seek_at_ || waiting_.empty()) return;
  seek_at_ = now + config_.retry;
  const std::size_t wanted = std::min<std::size_t>(manifest_.content().policy().slots(), unfinished_);
  std::size_t have = 0;
  for (const auto& [peer, claim] : claims_) have += claim.slots;
  for (const LivePeers::LivePeer& live_peer : environment_.live_peers.all_alive()) {
    if (have >= wanted) return;
    if (live_peer.free_slots == 0 || claims_.contains(live_peer.peer) || asked_.contains(live_peer.peer)) continue;
    JobMessage message;
    *message.mutable_reserve()->mutable_charter() = charter_.signed_charter();
    message.mutable_reserve()->set_slots(static_cast<std::uint32_t>(std::min<std::size_t>(wanted - have, live_peer.free_slots)));
    out.send(live_peer.peer, charter_.id(), std::move(message));
    asked_[live_peer.peer] = now + config_.offer_wait;
    have += live_peer.free_slots;
  }
}

void Home::on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out) {
  asked_.erase(from);
  const auto found = claims_.find(from);
  if (found != claims_.end() && found->second.claim == offer.claim()) return;
  std::size_t have = 0;
  for (const auto& [peer, claim] : claims_) have += claim.slots;
  const bool useful = !over_ && found == claims_.end() && !waiting_.empty() && have + offer.slots() <= manifest_.content().policy().slots();
  if (!useful || !roster_.add_host(from)) {
    GW_REACHED("home: an offer was not wanted");
    return send_release(from, offer.claim(), out);
  }
  Claim& claim = claims_[from];
  claim = {.claim = offer.claim(), .slots = offer.slots(), .since = now, .last_seen = now, .idle_since = now};
  send_claim(from, claim, now, out);
  place_waiting(now, out);
}

void Home::on_no_claim(Time now, const PeerId& from, const JobMessage::ClaimName& name, Actions& out) {
  const auto found = claims_.find(from);
  if (found == claims_.end() || found->second.claim != name.claim()) return;
  GW_REACHED("home: a host had lost its claim");
  lose_claim(now, from, out);
}

void Home::on_peer_lost(Time now, const PeerId& peer, Actions& out) {
  asked_.erase(peer);
  if (!claims_.contains(peer)) return;
  GW_REACHED("home: a host was lost");
  lose_claim(now, peer, out);
}

void Home::lose_claim(Time now, const PeerId& peer, Actions& out) {
  const std::set<ThreadId> threads = claims_.at(peer).threads;
  if (!threads.empty()) {
    counters_.on_peer_lost();
    out.notify(HostLost{charter_.id(), peer, threads.size()});
  }
  for (const ThreadId id : threads) lose(now, id, {}, out);
  claims_.erase(peer);
  place_waiting(now, out);
}

void Home::tend_claims(Time now, Actions& out) {
  std::vector<PeerId> lost;
  for (auto& [peer, claim] : claims_) {
    if (!claim.threads.empty() || !waiting_.empty()) claim.idle_since = now;
    if (now - claim.last_seen > config_.silence) {
      lost.push_back(peer);
    } else if (now - claim.idle_since > config_.idle) {
      GW_REACHED("home: an idle claim was released");
      send_release(peer, claim.claim, out);
      lost.push_back(peer);
    } else if (now >= claim.renew_at) {
      send_claim(peer, claim, now, out);
    }
  }
  for (const PeerId& peer : lost) lose_claim(now, peer, out);
}

// A slot's worth of threads, and what the claim finishes in Config::batch; the last ones are not given in advance.
std::size_t Home::queue_target(Time now, const Claim& claim) const {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - claim.since).count());
  const double ahead = static_cast<double>(claim.finished) / seconds * std::chrono::duration<double>(config_.batch).count();
  const std::size_t share = waiting_.size() / (2 * claims_.size());
  return std::min(claim.slots + std::min(static_cast<std::size_t>(ahead), share), config_.threads_per_claim);
}

Home::Claim* Home::roomiest(Time now, PeerId& host) {
  Claim* best = nullptr;
  std::size_t best_room = 0;
  for (auto& [peer, claim] : claims_) {
    const std::size_t limit = queue_target(now, claim);
    const std::size_t room = limit - std::min(limit, claim.threads.size());
    if (room <= best_room) continue;
    best = &claim;
    best_room = room;
    host = peer;
  }
  return best;
}

// Whether what the thread needs to go on can be had.
Home::Readiness Home::readiness(Time now, Thread& thread) {
  if (!thread.restore || environment_.live_peers.alive(*thread.keeper)) {
    thread.keeper_missing = kNever;
    return Readiness::ready;
  }
  if (thread.keeper_missing == kNever) thread.keeper_missing = now;
  return now - thread.keeper_missing < config_.keeper_patience ? Readiness::later : Readiness::never;
}

// The keeper is gone as well as the host. A task can begin anew: if that is not the same again, the ledger will notice.
void Home::give_up_keeper(Time now, ThreadId id, Thread& thread, Actions& out) {
  if (thread.forked)
    return fail_thread(now, id, "its image is lost: its host died, and the peer that kept its image has not come back", out);
  GW_REACHED("home: a thread begins anew because its keeper is gone too");
  thread.keeper_missing = kNever;
  thread.keeper.reset();
  thread.restore = false;
}

void Home::place_waiting(Time now, Actions& out) {
  const auto waiting = waiting_;
  for (const auto& [order, id] : waiting) {
    if (over_) return;
    Thread& thread = threads_.at(id);
    const Readiness readiness = this->readiness(now, thread);
    if (readiness == Readiness::never) give_up_keeper(now, id, thread, out);
    if (readiness != Readiness::ready) continue;
    PeerId host;
    if (roomiest(now, host) == nullptr) return;
    place(now, id, thread, host, out);
  }
}

void Home::place(Time now, ThreadId id, Thread& thread, const PeerId& host, Actions& out) {
  if (thread.epoch > 0 && !GW_BUG(3)) {
    GW_REACHED("home: a thread was placed again");
    thread.epoch = ledger_.next_epoch(id).value();
    thread.placed_again = true;
  } else if (thread.epoch == 0) {
    thread.epoch = 1;
    out.after_disk(Notify{ThreadPlaced{charter_.id(), id, thread.epoch, host}});
  }
  Claim& claim = claims_.at(host);
  waiting_.erase({thread.order, id});
  placed_.insert(id);
  claim.threads.insert(id);
  thread.state = State::PLACED;
  thread.host = host;
  thread.claim = claim.claim;
  thread.host_acknowledged = false;
  thread.start_state = JobMessage::NOT_YET;
  thread.assign_again = now + config_.retry;
  thread.keeper_generation = ++next_keeper_generation_;
  thread.target.reset();
  if (!thread.keeper) thread.keeper = choose_keeper(host);
  send_assign(id, thread, out);
  // From now on the keeper may have something of it.
  thread.restore = true;
  write(id, thread, out);
}

// Never the host itself, unless there is nobody else: better on its disk than nowhere.
std::optional<PeerId> Home::choose_keeper(const PeerId& host) {
  std::vector<PeerId> others;
  for (const LivePeers::LivePeer& live_peer : environment_.live_peers.all_alive())
    if (live_peer.peer != host && roster_.takes(live_peer.peer)) others.push_back(live_peer.peer);
  const PeerId chosen = others.empty() ? host : others[environment_.rng.below(others.size())];
  roster_.add_keeper(chosen);
  return chosen;
}

// The host's right to write at that keeper.
wire::pb::SignedGrant Home::grant_of(ThreadId id, const Thread& thread, const PeerId& keeper) const {
  return roster_.grant(
      {.thread = id, .epoch = thread.epoch, .keeper_generation = thread.keeper_generation, .host = thread.host, .keepers = {keeper}});
}

void Home::send_assign(ThreadId id, const Thread& thread, Actions& out) const {
  JobMessage message;
  JobMessage::Assign& assign = *message.mutable_assign();
  assign.set_claim(thread.claim);
  assign.set_thread(id.value());
  assign.set_epoch(thread.epoch);
  assign.set_stored(ledger_.stored(id));
  assign.set_task(thread.task);
  assign.set_keeper(thread.keeper->bytes());
  assign.set_keeper_generation(thread.keeper_generation);
  assign.set_restore(thread.restore);
  assign.set_forked(thread.forked);
  *assign.mutable_grant() = grant_of(id, thread, *thread.keeper);
  out.after_disk(to_peer(thread.host, charter_.id(), std::move(message)));
}

void Home::send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const {
  claim.renew_at = now + (claim.status == 0 ? config_.retry : config_.renew);
  JobMessage message;
  message.mutable_claim()->set_claim(claim.claim);
  out.send(peer, charter_.id(), std::move(message));
}

void Home::send_release(const PeerId& peer, std::uint64_t claim, Actions& out) const {
  JobMessage message;
  message.mutable_release()->set_claim(claim);
  out.send(peer, charter_.id(), std::move(message));
}

}  // namespace gw::job
