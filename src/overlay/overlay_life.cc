// Who lives: what failure detector and link watch are told, and what is done with what they find out.

#include "base/planted_bug.h"
#include "base/reached.h"
#include "overlay/overlay.h"

namespace gw::overlay {

void Overlay::on_seen(Time now, const PeerId& from, Output& out) {
  if (from == own_.id || !admits(now, from)) return;
  const std::size_t before = out.sends.size();
  hear(now, from, out);
  finish(now, before, out);
}

void Overlay::hear(Time now, const PeerId& from, Output& out) {
  detector_.on_seen(now, from, out);
  links_.on_seen(now, from);
  lookup_.on_seen(from);
  // Who is watched was there before, or is said to be there again by the watch.
  if (last_seen_.on_seen(now, from) && links_.state(from) == LinkWatch::State::not_watched) out.events.push_back(Seen{from, true});
}

void Overlay::on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out) {
  const std::size_t before = out.sends.size();
  serve(sampler_.on_unreachable(now, peer, own_, out), now, out);
  detector_.on_unreachable(now, peer, failure, out);
  links_.on_unreachable(now, peer, failure, out);
  lookup_.on_unreachable(now, peer, out);
  ranging_.on_unreachable(peer);
  finish(now, before, out);
}

void Overlay::on_reset(Time now, const PeerId& peer, Output& out) {
  const std::size_t before = out.sends.size();
  detector_.on_reset(now, peer, out);
  links_.on_reset(now, peer, out);
  finish(now, before, out);
}

void Overlay::watch_peer(Time now, const PeerId& with, Output&) {
  if (with != own_.id) links_.watch_peer(now, with);
}

void Overlay::apply_component_results(Time now, Output& out) {
  take_ranges();
  for (const PeerId& silent : lookup_.take_silent()) detector_.on_silence(now, silent, out);
  for (const FailureDetector::Verdict& verdict : detector_.take_verdicts())
    if (verdict.kind == FailureDetector::Verdict::Kind::dead && !GW_BUG(13)) record_death(verdict.peer, out);
  for (const LinkWatch::Change& change : links_.take_changes())
    out.events.push_back(Seen{change.peer, change.state == LinkWatch::State::there});
}

void Overlay::record_death(const PeerId& peer, Output& out) {
  if (const Tombstones::Tombstone* tombstone = detector_.tombstones().find(peer); tombstone != nullptr && can_be_dialled(tombstone->peer))
    rejoin_.on_lost(tombstone->peer.address);
  const bool was_seen = last_seen_.forget(peer);
  sampler_.remove(peer);
  ring_.forget(peer);
  neighbours_.remove(peer);
  coordinates_.forget(peer);
  // The watch says it itself, unless it has said so before.
  if (links_.state(peer) == LinkWatch::State::there) {
    links_.on_gone(peer);
  } else if (was_seen && links_.state(peer) == LinkWatch::State::not_watched) {
    out.events.push_back(Seen{peer, false});
  }
}

void Overlay::refute(Time now) {
  if (now - refuted_at_ < std::chrono::seconds(1)) return;
  GW_REACHED("overlay: this peer was taken for dead");
  refuted_at_ = now;
  renew_self();
}

void Overlay::on_ping(Time now, const PeerId& from, const Message::Ping& ping, Output& out) {
  const Incarnation doubted{ping.suspected_boot(), ping.suspected_stamp()};
  if (doubted >= own_.incarnation) refute(now);
  Message::Ping& pong = *out.sends.emplace_back(Send{from, {}, {}}).message.mutable_pong();
  pong.set_number(ping.number());
  write(coordinates_.own(), *pong.mutable_coordinate());
  if (doubted.boot != 0) write(own_, *pong.mutable_self());
  // It knows this peer, and should be known here: better to ask it than to wait until a neighbour tells.
  const Leafset& leaves = ring_.leafset();
  if (leaves.is_full() && leaves.wants(from, {})) {
    GW_REACHED("overlay: a leaf made itself known");
    detector_.on_hearsay(now, {.id = from, .incarnation = {.boot = 1}}, out);
  }
}

void Overlay::on_ping_for(Time now, const PeerId& from, const Message::PingFor& request, Output& out) {
  if (!request.has_self()) return refuse(from, "it wants a ping of somebody it does not describe", out);
  const Descriptor about = read(request.self(), signer_);
  if (about.id != PeerId::from(request.peer()) || !genuine(now, about))
    return refuse(from, "it wants a ping of somebody it describes wrongly", out);
  detector_.on_ping_for(now, from, request, about, out);
}

}  // namespace gw::overlay
