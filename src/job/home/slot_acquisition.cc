#include "job/home/slot_acquisition.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home/home_messages.h"
#include "job/placing/search_query.h"

namespace gw::job {

// The slots that the job can use and does not have.
std::uint32_t SlotAcquisition::wanted() const {
  const Gang& gang = environment_.gang;
  if (none_to_place() || !gang.seeks()) return 0;
  const std::uint64_t least = gang.begun() ? 0 : gang.least();  // its threads may still be forked
  const std::uint64_t work = environment_.threads.unfinished() + environment_.tasks.unfinished();
  const std::uint64_t most = std::min<std::uint64_t>(environment_.losses.most_slots(), std::max(work, least));
  return static_cast<std::uint32_t>(most - std::min<std::uint64_t>(most, environment_.claims.slots()));
}

void SlotAcquisition::seek(Time now, Actions& out) {
  if (wanted() == 0) {
    give_back_offers(out);
    return search_.end();
  }
  if (!search_.under_way()) environment_.live_peers.opened_since(opened_);
  if (places_) seek_places(now, out);
  if (wanted_near() > 0) search_.begin(now, spreads() ? SlotSearch::Reach::whole_grid : SlotSearch::Reach::near);
  choose(now, out);
  if (!search_.under_way()) return;
  if (wanted_near() == 0) return search_.stop_rounds();
  ask_opened(now, out);
  if (!search_.is_due(now)) return;
  if (const auto round = search_.next(now, environment_.live_peers.neighbours())) ask(*round, wanted_near(), out);
}

// Looks up the keys of slots, and asks the peers that were found for them.
void SlotAcquisition::seek_places(Time now, Actions& out) {
  search_.begin_without_rounds();
  if (places_->waits_for_answers() && search_.has_answers(now)) places_->give_up_silent();
  for (const auto& [peer, slots] : places_->take_located(now)) ask(search_.ask(now, {&peer, 1}), slots, out);
  for (const HashPlaces::Lookup& lookup : places_->next_lookups(wanted()))
    out.lookups.push_back({environment_.charter.id(), lookup.slot, lookup.key});
}

void SlotAcquisition::on_located(Time now, std::uint32_t slot, const std::optional<PeerId>& peer, Actions& out) {
  if (!places_) return;
  places_->on_located(now, slot, peer, peer && environment_.claims.find(*peer) == nullptr);
  if (wanted() > 0) seek_places(now, out);
}

// Asks the peers that have slots now: the next round may be a minute away.
void SlotAcquisition::ask_opened(Time now, Actions& out) {
  std::vector<PeerId> opened = environment_.live_peers.opened_since(opened_);
  std::erase_if(opened, [this](const PeerId& peer) { return environment_.claims.find(peer) != nullptr || offers_.contains(peer); });
  if (!opened.empty()) ask(search_.ask(now, opened), wanted_near(), out);
}

void SlotAcquisition::ask(SlotSearch::Round round, std::uint32_t slots, Actions& out) {
  constexpr std::size_t kMost = wire::kMaxAsked;
  round.ask.resize(std::min(round.ask.size(), kMost));
  const wire::pb::Manifest::Policy& policy = environment_.manifest.content().policy();
  JobMessage::Query query;
  query.set_job(environment_.charter.id().bytes());
  query.set_round(round.number);
  query.set_radius_ns(static_cast<std::uint64_t>(round.radius.count()));
  query.set_slots(slots);
  query.set_priority(policy.priority());
  query.set_held(environment_.gang.holds());
  query.set_submitted_at_ns(static_cast<std::uint64_t>(environment_.records.submitted_at().count()));
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
  environment_.gang.on_lends(from);
  const std::uint32_t usable = environment_.placement.usable(offer.slots(), offer.memory_bytes());
  // With too little memory for the job's limit the peer is used only if there is no other: the job may use less than its limit.
  if (usable == 0) environment_.placement.distrust(now, from);
  offers_[from] = {.claim = offer.claim(), .slots = std::max(usable, 1u), .since = now, .capacity = offer.capacity()};
  choose(now, out);
}

bool SlotAcquisition::on_decline(Time now, const PeerId& from, const JobMessage::Decline& decline, Actions& out) {
  if (!search_.on_answer(from, decline.round())) return false;
  declines_.add(now, from, decline);
  decline.why() == JobMessage::Decline::BUSY ? environment_.gang.on_lends(from) : environment_.gang.on_unfit(from);
  if (places_) places_->on_answer(from, 0);
  choose(now, out);
  return true;
}

void SlotAcquisition::on_peer_lost(const PeerId& peer) {
  search_.on_peer_lost(peer);
  declines_.remove(peer);
  offers_.erase(peer);
  if (places_) places_->on_answer(peer, 0);
}

std::uint64_t SlotAcquisition::may_be_offered() const {
  const std::vector<LivePeers::LivePeer>& alive = environment_.live_peers.all_alive();
  std::uint64_t slots = 0;
  for (const PeerId& peer : search_.expected()) {
    const auto known = std::ranges::lower_bound(alive, peer, {}, &LivePeers::LivePeer::peer);
    slots += known != alive.end() && known->peer == peer ? known->free_slots : 0;
  }
  return slots;
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
  // Peers that were named by the keys of slots are no choice.
  const bool has_choice = search_.next_round() != kNever;
  if (has_choice && (spreads() ? !over : !search_.has_answers(now) && offered + may_be_offered() > wanted())) return;
  // The job is better off with a peer that is not trusted than with none.
  if (over && trusted.empty() && environment_.claims.empty()) trusted = others;
  for (const SlotShare& share : best_of(trusted)) take(now, share, out);
  if (over || wanted() == 0) give_back_offers(out);
  if (wanted() == 0) search_.end();
}

std::vector<SlotShare> SlotAcquisition::best_of(const std::vector<PeerId>& peers) const {
  const LivePeers& live_peers = environment_.live_peers;
  std::vector<RatedOffer> offers;
  for (const PeerId& peer : peers) {
    const WaitingOffer& offer = offers_.at(peer);
    const double measured = environment_.history.speed_of(peer);
    offers.push_back({.peer = peer,
                      .slots = offer.slots,
                      .speed = measured > 0 ? measured : offer.capacity.speed() / 1000.0,
                      .load = offer.capacity.load() / 1000.0,
                      .distance = live_peers.distance(peer),
                      .success = environment_.history.success_of(peer),
                      .uptime_s = offer.capacity.uptime_s(),
                      .network = spreads() ? live_peers.network(peer) : ""});
  }
  offers = best_first(std::move(offers));
  if (!spreads()) return fill(offers, wanted());
  std::set<std::string> used;
  for (const auto& [peer, claim] : environment_.claims.all()) used.insert(live_peers.network(peer));
  return spread(offers, wanted(), used);
}

void SlotAcquisition::take(Time now, const SlotShare& share, Actions& out) {
  const PeerId& peer = share.peer;
  const WaitingOffer offer = offers_.extract(peer).mapped();
  if (!environment_.roster.add_host(peer)) return give_back(peer, offer.claim, out);
  Claim& claim = environment_.claims.add(peer, {.claim = offer.claim,
                                                .slots = share.slots,
                                                .offered_speed = offer.capacity.speed() / 1000.0,
                                                .since = now,
                                                .last_seen = now,
                                                .renew_at = Time(0),
                                                .idle_since = now,
                                                .progress_at = now,
                                                .seen_at = now});
  claimed_.push_back(peer);
  environment_.gang.on_claimed(now, environment_.claims);
  if (environment_.gang.begun()) environment_.losses.on_claimed(environment_.claims.slots());
  if (places_) places_->on_answer(peer, share.slots);
  send_claim(peer, claim, now, out);
}

void SlotAcquisition::give_back(const PeerId& peer, std::uint64_t claim, Actions& out) const {
  out.send(peer, environment_.charter.id(), release_message(claim));
}

void SlotAcquisition::end_claim(const PeerId& peer, const Claim& claim, Actions& out) const {
  give_back(peer, claim.claim, out);
  environment_.live_peers.on_given_back(peer, claim.slots);
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
    if (placed == nullptr || !thread->kept_at(keeper) || placed->host == keeper || thread->epoch != name.epoch()) continue;
    if (std::exchange(placed->kept_changes[keeper], name.changes()) == name.changes()) continue;
    if (Claim* claim = environment_.claims.find(placed->host)) claim->progress_at = claim->seen_at = now;
  }
}

void SlotAcquisition::on_blame(Time now, const PeerId& from, Actions& out) {
  environment_.placement.distrust(now, from);
  const Claim* claim = environment_.claims.find(from);
  if (claim == nullptr || !claim->idle()) return;
  end_claim(from, *claim, out);
  on_claim_lost(from);
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
  note_speeds();
  for (auto& [peer, claim] : environment_.claims.all()) {
    if (is_needed(peer, claim)) claim.idle_since = now;
    if (claim.all_parked()) claim.progress_at = claim.seen_at = now;  // nobody can see more of threads that wait for messages
    const bool idle = now - claim.idle_since > config_.idle;
    const bool stalled = is_stalled(now, peer, claim);
    const bool refuses = environment_.placement.refuses_all(claim);
    if (now - claim.last_seen > config_.silence) {
      environment_.losses.on_lost(peer, claim);
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
      end_claim(peer, claim, out);
      lost.push_back(peer);
    } else if (now >= claim.renew_at) {
      environment_.claims.unlimit(peer);
      send_claim(peer, claim, now, out);
    }
  }
  return lost;
}

// Compares the hosts that work at the same tasks now. One alone says nothing: its tasks may be long or short.
void SlotAcquisition::note_speeds() {
  const auto rate_of = [](const Claim& claim) { return claim.slots > 0 && claim.offered_speed > 0 ? claim.tasks.rate() / claim.slots : 0; };
  double rates = 0, speeds = 0;
  std::size_t hosts = 0;
  for (const auto& [peer, claim] : environment_.claims.all()) {
    if (rate_of(claim) == 0) continue;
    rates += rate_of(claim);
    speeds += claim.offered_speed;
    ++hosts;
  }
  if (hosts < 2) return;
  for (const auto& [peer, claim] : environment_.claims.all())
    if (const double rate = rate_of(claim); rate > 0) environment_.history.note_speed(peer, rate / rates * speeds);
}

// Whether the claim runs a thread, or could run one that waits.
bool SlotAcquisition::is_needed(const PeerId& peer, const Claim& claim) const {
  const ThreadTable& threads = environment_.threads;
  if (!environment_.gang.begun()) return true;
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
  const Gang& gang = environment_.gang;
  const bool answered = gang.begun() ? claim.status > 0 : gang.is_confirmed(peer);
  claim.renew_at = now + (answered ? config_.renew : config_.retry);
  JobMessage message = claim_message(claim.claim, claim.status == 0, claim.slots, environment_.threads.unfinished_children());
  message.mutable_claim()->set_held(gang.holds());
  message.mutable_claim()->set_round(gang.round());
  out.send(peer, environment_.charter.id(), std::move(message));
}

bool SlotAcquisition::advance_gang(Time now, Actions& out) {
  Gang& gang = environment_.gang;
  switch (gang.step(now, environment_.claims, environment_.live_peers, environment_.rng)) {
    case Gang::Step::nothing:
      return false;
    case Gang::Step::send:
      for (auto& [peer, claim] : environment_.claims.all()) send_claim(peer, claim, now, out);
      return false;
    case Gang::Step::give_back:
      release_all(out);
      return false;
    case Gang::Step::begin:
      break;
  }
  std::vector<PeerId> unconfirmed;
  for (const auto& [peer, claim] : environment_.claims.all())
    if (!gang.is_confirmed(peer)) unconfirmed.push_back(peer);
  for (const PeerId& peer : unconfirmed) {
    end_claim(peer, *environment_.claims.find(peer), out);
    on_claim_lost(peer);
    environment_.claims.remove(peer);
  }
  environment_.losses.on_claimed(environment_.claims.slots());
  return true;
}

void SlotAcquisition::release_all(Actions& out) {
  give_back_offers(out);
  search_.end();
  for (const auto& [peer, claim] : environment_.claims.all()) {
    end_claim(peer, claim, out);
    on_claim_lost(peer);
  }
  environment_.claims.clear();
}

}  // namespace gw::job
