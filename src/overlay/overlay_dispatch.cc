// What the overlay does with a message.

#include "base/reached.h"
#include "overlay/overlay.h"

namespace gw::overlay {
namespace {

constexpr float kUnknownDistance = 0;  // without coordinates all are equally far

}  // namespace

void Overlay::on_message(Time now, const PeerId& from, const Message& message, Output& out) {
  if (from == own_.id) return;
  if (GridId::from(message.grid()) != config_.grid) return refuse(from, "it sent a message of another grid", out);
  const std::size_t before = out.sends.size();
  on_heard(now, from, out);
  dispatch(now, from, message, out);
  finish(before, out);
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
      return on_ping(from, message.ping(), out);
    default:
      return;
  }
}

void Overlay::on_gossip(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!sampler_.answer(now, from, own_, out)) return refuse(from, "it asks more often than once a round", out);
  if (!learn_sender(now, from, gossip.self(), out)) return;
  for (const wire::pb::Descriptor& other : gossip.others()) learn(now, other, out);
}

void Overlay::on_gossip_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  const std::optional<Descriptor> sender = learn_sender(now, from, gossip.self(), out);
  if (!sender) return;
  if (!sampler_.on_answer(now, *sender)) return refuse(from, "it answers what was not asked", out);
  for (const wire::pb::Descriptor& other : gossip.others()) learn(now, other, out);
}

void Overlay::on_ring(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  const std::optional<Descriptor> sender = learn_sender(now, from, gossip.self(), out);
  if (!sender) return;
  std::vector<Descriptor> others;
  others.reserve(static_cast<std::size_t>(gossip.others_size()));
  for (const wire::pb::Descriptor& other : gossip.others()) others.push_back(read(other, notary_));
  ring_.on_request(*sender, own_, {sampler_.cache().entries(), others}, out);
  for (const Descriptor& other : others) learn(now, other, out);
}

void Overlay::on_ring_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!learn_sender(now, from, gossip.self(), out)) return;
  ring_.on_reply(from);
  for (const wire::pb::Descriptor& other : gossip.others()) learn(now, other, out);
}

void Overlay::on_ping(const PeerId& from, const Message::Ping& ping, Output& out) {
  Message::Ping& pong = *out.sends.emplace_back(Send{from, {}, {}}).message.mutable_pong();
  pong.set_number(ping.number());
  write(own_.coordinate, *pong.mutable_coordinate());
}

void Overlay::refuse(const PeerId& peer, const char* sentence, Output& out) { out.events.push_back(Refused{peer, sentence}); }

bool Overlay::wanted(const Descriptor& descriptor) const { return sampler_.wants(descriptor) || ring_.wants(descriptor, kUnknownDistance); }

void Overlay::store(Time, const Descriptor& descriptor, Output&) {
  rejoin_.on_found(descriptor.address);
  sampler_.offer(descriptor);
  ring_.learn(descriptor, kUnknownDistance);
}

void Overlay::learn(Time now, const wire::pb::Descriptor& message, Output& out) { learn(now, read(message, notary_), out); }

void Overlay::learn(Time now, const Descriptor& descriptor, Output& out) {
  if (descriptor.id == own_.id || !wanted(descriptor)) return;
  // Nobody is blamed: who passes something on need not have checked it.
  if (!is_genuine(config_.grid, notary_, descriptor)) {
    GW_REACHED("overlay: a forged descriptor");
    return;
  }
  store(now, descriptor, out);
}

std::optional<Descriptor> Overlay::learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out) {
  Descriptor descriptor = read(message, notary_);
  descriptor.age = 0;
  if (descriptor.id != from || !is_genuine(config_.grid, notary_, descriptor)) {
    refuse(from, "it sent a descriptor of itself that is not its own", out);
    return std::nullopt;
  }
  store(now, descriptor, out);
  return descriptor;
}

}  // namespace gw::overlay
