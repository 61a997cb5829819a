// What the overlay does with a message.

#include "base/planted_bug.h"
#include "base/reached.h"
#include "overlay/overlay.h"

namespace gw::overlay {

void Overlay::on_message(Time now, const PeerId& from, const Message& message, Output& out) {
  if (from == own_.id) return;
  if (GridId::from(message.grid()) != config_.grid) return refuse(from, "it sent a message of another grid", out);
  if (membership_filter_) {
    if (const Status member = membership_filter_->on_message(now, from, message); !member) {
      if (membership_filter_->to_report(now, from)) refuse(from, member.error().detail, out);
      return;
    }
  }
  const std::size_t before = out.sends.size();
  hear(now, from, out);
  if (detector_.on_rumours(now, from, message, own_.incarnation, out) == FailureDetector::Accused::yes) refute(now);
  dispatch(now, from, message, out);
  finish(now, before, out);
}

void Overlay::dispatch(Time now, const PeerId& from, const Message& message, Output& out) {
  switch (message.kind_case()) {
    case Message::kGossip:
      return on_gossip(now, from, message.gossip(), out);
    case Message::kGossipReply:
      return on_gossip_reply(now, from, message.gossip_reply(), out);
    case Message::kRing:
      return on_ring(now, from, message.ring(), out);
    case Message::kRingReply:
      return on_ring_reply(now, from, message.ring_reply(), out);
    case Message::kPing:
      return on_ping(now, from, message.ping(), out);
    case Message::kPong:
      ranging_.on_pong(now, from, message.pong(), out);
      if (message.pong().has_self()) learn_sender(now, from, message.pong().self(), out);
      return;
    case Message::kPingFor:
      return on_ping_for(now, from, message.ping_for(), out);
    case Message::kPongFor:
      if (message.pong_for().has_self()) learn(now, message.pong_for().self(), out);
      return;
    case Message::kRoute:
      return on_route(now, from, message.route(), out);
    case Message::kFound:
      return on_found(now, from, message.found(), out);
    case Message::kLeave:
      return detector_.on_leave(now, from, {message.leave().boot(), message.leave().stamp()});
    case Message::KIND_NOT_SET:
      return;
  }
}

void Overlay::on_gossip(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  // No breach: who has just found an address again asks at once, and its round may come right after.
  if (!sampler_.answer(now, from, own_, out)) return;
  if (learn_sender(now, from, gossip.self(), out)) learn_samples(now, gossip, out);
}

void Overlay::on_gossip_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  const std::optional<Descriptor> sender = learn_sender(now, from, gossip.self(), out);
  if (!sender) return;
  if (!sampler_.on_answer(now, *sender)) {
    GW_REACHED("overlay: an answer that nobody waits for");
    return;
  }
  learn_samples(now, gossip, out);
}

// What others of the grid have at random: the only descriptors that say how large it is.
void Overlay::learn_samples(Time now, const Message::Gossip& gossip, Output& out) {
  for (const wire::pb::Descriptor& other : gossip.others()) {
    const Descriptor descriptor = read(other, signer_);
    if (descriptor.id != own_.id) size_.on_sample(descriptor.id);
    learn(now, descriptor, out);
  }
}

void Overlay::on_ring(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!ring_.admits(now, from)) {
    GW_REACHED("overlay: too many ring requests");
    return;
  }
  const std::optional<Descriptor> sender = learn_sender(now, from, gossip.self(), out);
  if (!sender) return;
  std::vector<Descriptor> others;
  others.reserve(static_cast<std::size_t>(gossip.others_size()));
  for (const wire::pb::Descriptor& other : gossip.others()) others.push_back(read(other, signer_));
  ring_.on_request(*sender, own_, {sampler_.cache().entries(), others}, out);
  for (const Descriptor& other : others) learn(now, other, out);
}

void Overlay::on_ring_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!learn_sender(now, from, gossip.self(), out)) return;
  if (!ring_.on_reply(from)) return refuse(from, "it answers what was not asked", out);
  for (const wire::pb::Descriptor& other : gossip.others()) learn(now, other, out);
}

void Overlay::on_route(Time now, const PeerId& from, const Message::Route& request, Output& out) {
  if (!lookup_.admits(now, from)) return;
  // Not the fault of who sent it on.
  if (genuine(now, read(request.origin(), signer_))) lookup_.on_route(now, request, out);
}

void Overlay::on_found(Time now, const PeerId& from, const Message::Found& answer, Output& out) {
  const Descriptor host = answer.has_host() ? read(answer.host(), signer_) : Descriptor();
  if (answer.has_host() && !genuine(now, host)) return refuse(from, "it has found somebody it describes wrongly", out);
  lookup_.on_found(now, answer, host, out);
}

void Overlay::refuse(const PeerId& peer, std::string sentence, Output& out) { out.events.push_back(Refused{peer, std::move(sentence)}); }

bool Overlay::genuine(Time now, const Descriptor& descriptor) const {
  return admits(now, descriptor.id) && is_genuine(config_.grid, signer_, descriptor);
}

bool Overlay::wanted(const Descriptor& descriptor) const {
  return detector_.admits(descriptor) && (sampler_.wants(descriptor) || ring_.wants(descriptor, seconds_to(descriptor)) ||
                                          detector_.wants(descriptor) || neighbours_.wants(descriptor, distance_to(descriptor)));
}

void Overlay::store(Time now, const Descriptor& descriptor, Output& out) {
  rejoin_.on_found(descriptor.address);
  detector_.on_descriptor(now, descriptor, out);
  sampler_.offer(descriptor);
  neighbours_.offer(descriptor, distance_to(descriptor));
  // A leaf must be there, or keys next to it get lost.
  const Ring::Learned learned = ring_.learn(descriptor, seconds_to(descriptor));
  if (learned == Ring::Learned::new_leaf && last_seen_.last(descriptor.id) == kNever) detector_.on_silence(now, descriptor.id, out);
  if (learned == Ring::Learned::hearsay) detector_.on_hearsay(now, descriptor, out);
}

void Overlay::learn(Time now, const wire::pb::Descriptor& message, Output& out) { learn(now, read(message, signer_), out); }

void Overlay::learn(Time now, const Descriptor& descriptor, Output& out) {
  if (descriptor.id == own_.id || !wanted(descriptor)) return;
  // Nobody is blamed: who passes something on need not have checked it.
  if (!genuine(now, descriptor) && !GW_BUG(11)) {
    GW_REACHED("overlay: a forged descriptor");
    return;
  }
  store(now, descriptor, out);
}

std::optional<Descriptor> Overlay::learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out) {
  Descriptor descriptor = read(message, signer_);
  descriptor.age = 0;
  if (descriptor.id != from || !genuine(now, descriptor)) {
    refuse(from, "it sent a descriptor of itself that is not its own", out);
    return std::nullopt;
  }
  store(now, descriptor, out);
  return descriptor;
}

}  // namespace gw::overlay
