#include "overlay/failures/link_watch.h"

#include <algorithm>

#include "base/reached.h"
#include "overlay/failures/ping_relay.h"

namespace gw::overlay {

void LinkWatch::watch_peer(Time now, const PeerId& peer) {
  const auto found = links_.find(peer);
  if (found != links_.end()) {
    found->second.used = now;
    return;
  }
  if (links_.size() >= config_.peers) {
    GW_REACHED("link watch: too many peers to watch");
    return;
  }
  links_.emplace(peer, Link{.used = now, .last_seen = now});
  if (tick_at_ == kNever) tick_at_ = now + config_.ping_every;
}

void LinkWatch::on_seen(Time now, const PeerId& peer) {
  const auto found = links_.find(peer);
  if (found == links_.end()) return;
  Link& link = found->second;
  link.last_seen = now;
  link.broken = false;
  if (!link.lost) return;
  link.lost = false;
  changes_.push_back({peer, State::there});
}

void LinkWatch::on_reset(Time, const PeerId& peer, Output& out) {
  const auto found = links_.find(peer);
  if (found == links_.end() || found->second.lost) return;
  found->second.broken = true;
  ping(peer, out);
}

void LinkWatch::on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out) {
  const auto found = links_.find(peer);
  if (found == links_.end() || found->second.lost) return;
  if (found->second.broken) {
    GW_REACHED("link watch: a broken connection could not be made again");
    lose(peer, found->second);
  } else if (failure == Failure::refused) {
    on_reset(now, peer, out);
  }
}

void LinkWatch::on_gone(const PeerId& peer) {
  const auto found = links_.find(peer);
  if (found != links_.end() && !found->second.lost) lose(peer, found->second);
}

void LinkWatch::on_tick(Time now, Output& out) {
  if (now < tick_at_) return;
  const Time pause = now - tick_at_ < config_.late ? Time(0) : now - tick_at_;
  tick_at_ = now + config_.ping_every;
  std::erase_if(links_, [&](const auto& link) { return now - link.second.used > config_.forgotten_after; });
  for (auto& [peer, link] : links_) {
    link.last_seen = std::min(link.last_seen + pause, now);
    const Time silence = now - link.last_seen;
    if (!link.lost && silence >= config_.lost_after) {
      GW_REACHED("link watch: a peer fell silent");
      lose(peer, link);
    }
    if (silence >= config_.ping_every / 2) ping(peer, out);
  }
  if (links_.empty()) tick_at_ = kNever;
}

LinkWatch::State LinkWatch::state(const PeerId& peer) const {
  const auto found = links_.find(peer);
  if (found == links_.end()) return State::not_watched;
  return found->second.lost ? State::lost : State::there;
}

void LinkWatch::ping(const PeerId& peer, Output& out) {
  const Descriptor* known = contacts_.find(peer);
  out.sends.push_back({peer, known != nullptr ? contact_of(*known) : Contact{}, make_ping(rng_.next(), nullptr)});
}

void LinkWatch::lose(const PeerId& peer, Link& link) {
  link.lost = true;
  link.broken = false;
  changes_.push_back({peer, State::lost});
}

}  // namespace gw::overlay
