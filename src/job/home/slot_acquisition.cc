#include "job/home/slot_acquisition.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home/home_messages.h"

namespace gw::job {

void SlotAcquisition::seek(Time now, Actions& out) {
  if (now < seek_at_ || none_to_place()) return;
  seek_at_ = now + config_.retry;
  const std::size_t most = std::min<std::size_t>(environment_.manifest.content().policy().slots(),
                                                 environment_.threads.unfinished() + environment_.tasks.unfinished());
  const std::size_t wanted = most - std::min<std::size_t>(most, environment_.claims.slots());
  for (const Placement::Ask& ask : environment_.placement.ask(now, wanted, environment_.live_peers, environment_.claims))
    out.send(ask.peer, environment_.charter.id(),
             reserve_message(environment_.charter, ask.slots, environment_.manifest.content().policy()));
}

bool SlotAcquisition::on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out) {
  Placement& placement = environment_.placement;
  ClaimTable& claims = environment_.claims;
  const bool asked = placement.on_answer(from);
  const Claim* held = claims.find(from);
  if (held != nullptr && held->claim == offer.claim()) return false;
  if (!asked) {
    GW_REACHED("home: an offer came that was not asked for, or too late");
    out.send(from, environment_.charter.id(), release_message(offer.claim()));
    return false;
  }
  std::uint32_t usable = placement.usable(offer.slots(), offer.memory_bytes());
  if (usable == 0) {
    // The peer has too little memory for the job's limit. It is asked again only if there is no other: the job may use less than its limit.
    if (placement.is_distrusted(now, from) && claims.empty()) usable = 1;
    placement.distrust(now, from);
  }
  const bool fits = usable > 0 && claims.slots() + usable <= environment_.manifest.content().policy().slots();
  if (held != nullptr || none_to_place() || !fits || !environment_.roster.add_host(from)) {
    GW_REACHED("home: an offer was not wanted");
    out.send(from, environment_.charter.id(), release_message(offer.claim()));
    return false;
  }
  Claim& claim = claims.add(from, {.claim = offer.claim(),
                                   .slots = usable,
                                   .since = now,
                                   .last_seen = now,
                                   .renew_at = Time(0),
                                   .idle_since = now,
                                   .progress_at = now,
                                   .seen_at = now});
  send_claim(from, claim, now, out);
  return true;
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
  out.send(from, environment_.charter.id(), release_message(claim->claim));
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
  out.send(peer, environment_.charter.id(), claim_message(claim.claim, claim.status == 0, environment_.threads.unfinished_children()));
}

void SlotAcquisition::release_all(Actions& out) {
  for (const auto& [peer, claim] : environment_.claims.all()) out.send(peer, environment_.charter.id(), release_message(claim.claim));
  environment_.claims.clear();
}

}  // namespace gw::job
