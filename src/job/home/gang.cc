#include "job/home/gang.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

void Gang::enter(Phase phase) {
  phase_ = phase;
  ++round_;
  confirmed_.clear();
}

void Gang::on_claimed(Time now, const ClaimTable& claims) {
  if (claims.size() == 1) since_ = now;
  gained_ = now;
}

void Gang::on_answer(const PeerId& host, std::uint64_t round, bool held) {
  if (round == round_ && held == holds()) confirmed_.insert(host);
}

std::uint64_t Gang::confirmed_slots(const ClaimTable& claims) const {
  std::uint64_t slots = 0;
  for (const PeerId& host : confirmed_)
    if (const Claim* claim = claims.find(host)) slots += claim->slots;
  return slots;
}

Gang::Step Gang::step(Time now, const ClaimTable& claims, const LivePeers& live_peers, Rng& rng) {
  if (begun()) return Step::nothing;
  std::erase_if(confirmed_, [&](const PeerId& host) { return claims.find(host) == nullptr; });
  if (phase_ == Phase::confirms) {
    if (confirmed_slots(claims) >= least_) {
      GW_REACHED("home: a gang begins");
      phase_ = Phase::begun;
      return Step::begin;
    }
    if (claims.slots() >= least_ && now < confirm_by_) return Step::nothing;
    GW_REACHED("home: a gang lost a slot when it was about to begin");
    enter(Phase::gathers);
    return Step::send;
  }
  if (phase_ == Phase::rests && now >= rest_until_) enter(Phase::gathers);
  if (claims.empty()) return Step::nothing;
  if (confirmed_slots(claims) >= least_) {
    if (GW_BUG(222)) {
      phase_ = Phase::begun;
      return Step::begin;
    }
    enter(Phase::confirms);
    confirm_by_ = now + config_.confirm;
    return Step::send;
  }
  if (now - gained_ <= config_.patience && now - since_ <= config_.longest) return Step::nothing;
  GW_REACHED("home: a gang gives back what it holds");
  const Time held = now - since_;
  rest_until_ = now + held + Time(rng.below(static_cast<std::uint64_t>(held.count()) + 1));
  if (offered(live_peers) < least_) rest_until_ = std::max(rest_until_, now + config_.too_large);
  enter(Phase::rests);
  return Step::give_back;
}

void Gang::on_unfit(const PeerId& peer) {
  if (unfit_.size() < config_.unfit) unfit_.insert(peer);
}

std::uint64_t Gang::offered(const LivePeers& live_peers) const {
  std::uint64_t slots = 0;
  for (const LivePeers::LivePeer& peer : live_peers.all_alive())
    if (!unfit_.contains(peer.peer)) slots += peer.slots;
  return slots;
}

Explanation Gang::why(const ClaimTable& claims, const LivePeers& live_peers) const {
  const std::uint64_t all = offered(live_peers);
  if (all < least_) return {Reason::gang_too_large, fmt::format("it needs {} slots at once to begin, and the grid offers {}", least_, all)};
  return {Reason::gang_waits,
          fmt::format("it needs {} slots at once to begin, has {} now, and the grid offers {} in all", least_, claims.slots(), all)};
}

void Gang::begin_again() {
  if (least_ <= 1) return;
  enter(Phase::gathers);
}

}  // namespace gw::job
