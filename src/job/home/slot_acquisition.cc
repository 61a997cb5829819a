#include "job/home/slot_acquisition.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home/home_messages.h"
#include "job/placing/search_query.h"

namespace gw::job {

// The slots that the job can use and does not have.
std::uint32_t SlotAcquisition::wanted() const {
  if (none_to_place()) return 0;
  const std::uint64_t most = std::min<std::uint64_t>(environment_.manifest.content().policy().slots(),
                                                     environment_.threads.unfinished() + environment_.tasks.unfinished());
  return static_cast<std::uint32_t>(most - std::min<std::uint64_t>(most, environment_.claims.slots()));
}

void SlotAcquisition::seek(Time now, Actions& out) {
  if (wanted() == 0) {
    give_back_offers(out);
    return search_.end();
  }
  if (!search_.under_way()) {
    environment_.live_peers.opened_since(opened_);
    search_.begin(now);
  }
  choose(now, out);
  if (!search_.under_way()) return;
  ask_opened(now, out);
  if (!search_.is_due(now)) return;
  if (const auto round = search_.next(now, environment_.live_peers.neighbours())) ask(*round, out);
}

// Asks the peers that have slots now: the next round may be a minute away.
void SlotAcquisition::ask_opened(Time now, Actions& out) {
  std::vector<PeerId> opened = environment_.live_peers.opened_since(opened_);
  std::erase_if(opened, [this](const PeerId& peer) { return environment_.claims.find(peer) != nullptr || offers_.contains(peer); });
  if (!opened.empty()) ask(search_.ask(now, opened), out);
}

void SlotAcquisition::ask(SlotSearch::Round round, Actions& out) {
  constexpr std::size_t kMost = wire::kMaxAsked;
  round.ask.resize(std::min(round.ask.size(), kMost));
  const wire::pb::Manifest::Policy& policy = environment_.manifest.content().policy();
  JobMessage::Query query;
  query.set_job(environment_.charter.id().bytes());
  query.set_round(round.number);
  query.set_radius_ns(static_cast<std::uint64_t>(round.radius.count()));
  query.set_slots(wanted());
  query.set_priority(policy.priority());
  if (policy.has_needs()) *query.mutable_needs() = policy.needs();
  for (const PeerId& peer : round.ask) query.add_asked(asked_name(peer));
  const JobMessage message = search_message(environment_.charter, query, environment_.live_peers.introduction(),
                                            round.passed_on ? config_.hops : 0, environment_.signer);
  for (const PeerId& peer : round.ask) {
    // A host of the job passes the search on, and has nothing to answer.
    if (environment_.claims.find(peer) == nullptr) search_.expect(peer);
    out.send(peer, environment_.charter.id(), message);
  }
}

void SlotAcquisition::on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out) {
  const bool asked = search_.on_answer(from, offer.round());
  const Claim* held = environment_.claims.find(from);
  if (held != nullptr && held->claim == offer.claim()) return;
  if (!asked || held != nullptr || wanted() == 0 || (offers_.size() >= config_.offers && !offers_.contains(from))) {
    GW_REACHED("home: an offer was not asked for, or came too late");
    return give_back(from, offer.claim(), out);
  }
  declines_.remove(from);
  const std::uint32_t usable = environment_.placement.usable(offer.slots(), offer.memory_bytes());
  // With too little memory for the job's limit the peer is used only if there is no other: the job may use less than its limit.
  if (usable == 0) environment_.placement.distrust(now, from);
  offers_[from] = {.claim = offer.claim(), .slots = std::max(usable, 1u), .since = now};
  choose(now, out);
}

bool SlotAcquisition::on_decline(Time now, const PeerId& from, const JobMessage::Decline& decline, Actions& out) {
  if (!search_.on_answer(from, decline.round())) return false;
  declines_.add(now, from, decline);
  choose(now, out);
  return true;
}

void SlotAcquisition::on_peer_lost(const PeerId& peer) {
  search_.on_peer_lost(peer);
  declines_.remove(peer);
  offers_.erase(peer);
}

void SlotAcquisition::choose(Time now, Actions& out) {
  std::erase_if(offers_, [&](const auto& entry) {
    const bool old = now - entry.second.since > config_.offer_lasts;
    if (old) give_back(entry.first, entry.second.claim, out);
    return old;
  });
  if (offers_.empty()) return;
  const bool over = now >= search_.answers_by() || search_.is_due(now);
  std::vector<PeerId> trusted, others;
  std::uint64_t offered = 0;
  for (const auto& [peer, offer] : offers_) {
    const bool good = !environment_.placement.is_distrusted(now, peer) || GW_BUG(17);
    offered += good ? offer.slots : 0;
    (good ? trusted : others).push_back(peer);
  }
  if (!search_.has_answers(now) && offered > wanted()) return;
  // The job is better off with a peer that is not trusted than with none.
  if (over && trusted.empty() && environment_.claims.empty()) trusted = others;
  for (const PeerId& peer : trusted)
    if (wanted() > 0) take(now, peer, offers_.extract(peer).mapped(), out);
  if (over || wanted() == 0) give_back_offers(out);
  if (wanted() == 0) search_.end();
}

void SlotAcquisition::take(Time now, const PeerId& peer, const WaitingOffer& offer, Actions& out) {
  if (!environment_.roster.add_host(peer)) return give_back(peer, offer.claim, out);
  Claim& claim = environment_.claims.add(peer, {.claim = offer.claim,
                                                .slots = std::min(offer.slots, wanted()),
                                                .since = now,
                                                .last_seen = now,
                                                .renew_at = Time(0),
                                                .idle_since = now,
                                                .progress_at = now,
                                                .seen_at = now});
  claimed_.push_back(peer);
  send_claim(peer, claim, now, out);
}

void SlotAcquisition::give_back(const PeerId& peer, std::uint64_t claim, Actions& out) const {
  out.send(peer, environment_.charter.id(), release_message(claim));
}

void SlotAcquisition::give_back_offers(Actions& out) {
  if (!offers_.empty()) GW_REACHED("home: an offer was not wanted");
  for (const auto& [peer, offer] : std::exchange(offers_, {})) give_back(peer, offer.claim, out);
}

void SlotAcquisition::on_status(Time now, const PeerId& from, Claim& claim, const JobMessage::Status& status) {
  claim.status = std::max(claim.status, status.number());
  if (status.progress() > claim.progress) claim.progress_at = now;
  claim.progress = std::max(claim.progress, status.progress());
  if (!status.draining() || claim.draining) return;
  GW_REACHED("home: a host lets its threads leave");
  environment_.claims.drain(from);
}

void SlotAcquisition::on_kept(Time now, const PeerId& keeper, const JobMessage::AskKept& kept) {
  for (const JobMessage::KeptName& name : kept.threads()) {
    HomeThread* thread = environment_.threads.find(ThreadId{name.thread()});
    HomeThread::Placed* placed = thread != nullptr ? thread->placed() : nullptr;
    if (placed == nullptr || thread->keeper != keeper || placed->host == keeper || thread->epoch != name.epoch()) continue;
    if (std::exchange(placed->kept_changes, name.changes()) == name.changes()) continue;
    if (Claim* claim = environment_.claims.find(placed->host)) claim->progress_at = claim->seen_at = now;
  }
}

void SlotAcquisition::on_blame(Time now, const PeerId& from, Actions& out) {
  environment_.placement.distrust(now, from);
  const Claim* claim = environment_.claims.find(from);
  if (claim == nullptr || !claim->idle()) return;
  give_back(from, claim->claim, out);
  environment_.claims.remove(from);
}

// A peer that comes back is added again with its next claim.
void SlotAcquisition::prune_roster(Time now) {
  if (now < prune_at_) return;
  prune_at_ = now + config_.prune_every;
  environment_.roster.prune(now, config_.gone_for_good, [&](const PeerId& peer) {
    return environment_.claims.find(peer) != nullptr || environment_.threads.kept_by(peer) != nullptr ||
           environment_.live_peers.alive(peer);
  });
}

std::vector<PeerId> SlotAcquisition::tend(Time now, Actions& out) {
  std::vector<PeerId> lost;
  prune_roster(now);
  for (auto& [peer, claim] : environment_.claims.all()) {
    if (is_needed(peer, claim)) claim.idle_since = now;
    const bool idle = now - claim.idle_since > config_.idle;
    const bool stalled = is_stalled(now, peer, claim);
    const bool refuses = environment_.placement.refuses_all(claim);
    if (now - claim.last_seen > config_.silence) {
      lost.push_back(peer);
    } else if (idle || stalled || refuses) {
      GW_REACHED("home: a claim was given back");
      if (stalled) {
        GW_REACHED("home: a host that does nothing was left");
        environment_.placement.on_stall(now, peer);
        for (const ThreadId id : claim.threads) environment_.threads.avoid(id, peer);
      }
      if (refuses) {
        GW_REACHED("home: a host that refuses all threads was left");
        environment_.placement.distrust(now, peer);
      }
      out.send(peer, environment_.charter.id(), release_message(claim.claim));
      lost.push_back(peer);
    } else if (now >= claim.renew_at) {
      environment_.claims.unlimit(peer);
      send_claim(peer, claim, now, out);
    }
  }
  return lost;
}

// Whether the claim runs a thread, or could run one that waits.
bool SlotAcquisition::is_needed(const PeerId& peer, const Claim& claim) const {
  const ThreadTable& threads = environment_.threads;
  if (!claim.idle() || claim.draining) return !claim.idle();
  return environment_.tasks.waiting() > 0 || !threads.ready().empty() ||
         threads.doubted().size() > (threads.doubted().contains(peer) ? 1u : 0u);
}

// Whether the claim's threads have made no progress for too long, although its peer answers, and another peer has room for them.
bool SlotAcquisition::is_stalled(Time now, const PeerId& peer, const Claim& claim) const {
  const Placement& placement = environment_.placement;
  if (claim.idle() || now - claim.seen_at <= placement.least_stall() || GW_BUG(14)) return false;
  const Time every(static_cast<std::int64_t>(environment_.manifest.content().policy().checkpoint_every_ns()));
  const Time bound = placement.stall_bound(every);
  if (now - claim.progress_at <= bound && now - claim.seen_at <= placement.own_word() * bound) return false;
  return placement.others_have_room(now, peer, environment_.live_peers, environment_.claims);
}

void SlotAcquisition::send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const {
  claim.renew_at = now + (claim.status == 0 ? config_.retry : config_.renew);
  out.send(peer, environment_.charter.id(),
           claim_message(claim.claim, claim.status == 0, claim.slots, environment_.threads.unfinished_children()));
}

void SlotAcquisition::release_all(Actions& out) {
  give_back_offers(out);
  search_.end();
  for (const auto& [peer, claim] : environment_.claims.all()) out.send(peer, environment_.charter.id(), release_message(claim.claim));
  environment_.claims.clear();
}

}  // namespace gw::job
