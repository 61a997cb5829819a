#include "overlay/membership/membership_filter.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::overlay {
namespace {

using Shown = wire::pb::Descriptor;

PublicKey key_in(const std::string& bytes) {
  PublicKey key;
  GW_ASSERT(bytes.size() == key.size());
  std::ranges::copy(as_bytes(bytes), key.begin());
  return key;
}

void add_all(const Message::Gossip& gossip, std::vector<const Shown*>& list) {
  list.push_back(&gossip.self());
  for (const Shown& other : gossip.others()) list.push_back(&other);
}

std::vector<const Shown*> descriptors_in(const Message& message) {
  std::vector<const Shown*> list;
  const auto add_if = [&](bool there, const Shown& one) {
    if (there) list.push_back(&one);
  };
  if (message.has_gossip()) add_all(message.gossip(), list);
  if (message.has_gossip_reply()) add_all(message.gossip_reply(), list);
  if (message.has_ring()) add_all(message.ring(), list);
  if (message.has_ring_reply()) add_all(message.ring_reply(), list);
  if (message.has_ping()) add_if(message.ping().has_self(), message.ping().self());
  if (message.has_pong()) add_if(message.pong().has_self(), message.pong().self());
  if (message.has_ping_for()) add_if(message.ping_for().has_self(), message.ping_for().self());
  if (message.has_pong_for()) add_if(message.pong_for().has_self(), message.pong_for().self());
  if (message.has_route()) add_if(message.route().has_origin(), message.route().origin());
  if (message.has_found()) add_if(message.found().has_host(), message.found().host());
  return list;
}

// Removes the parts about other peers. False: nothing is left of the message.
bool reduce_to_self(Message& message) {
  message.clear_rumours();
  switch (message.kind_case()) {
    case Message::kGossip:
      message.mutable_gossip()->clear_others();
      return true;
    case Message::kRing:
      message.mutable_ring()->clear_others();
      return true;
    case Message::kPing:
    case Message::kPong:
    case Message::kLeave:
      return true;
    default:
      return false;
  }
}

}  // namespace

MembershipFilter::MembershipFilter(const Config& config, const PublicKey& own_key, const Signer& signer)
    : config_(config),
      own_key_(own_key),
      signer_(signer),
      known_members_(config.known_members, config.grid_key),
      strangers_({config.report_period, 1, config.reported}) {}

Status MembershipFilter::on_message(Time now, const PeerId& from, const Message& message) {
  if (message.has_proof()) {
    const PublicKey key = key_in(message.proof().key());
    if (signer_.id_of(key) != from) return fail(Kind::invalid, "it has shown the membership of another peer");
    GW_TRY_VOID(known_members_.admit(wall(now), from, key, read(message.proof().membership())));
  }
  if (!admits(now, from)) return fail(Kind::invalid, "it has shown no membership of the private grid");
  for (const Shown* one : descriptors_in(message)) on_descriptor(now, *one);
  return ok();
}

void MembershipFilter::on_descriptor(Time now, const Shown& descriptor) {
  if (!descriptor.has_membership()) return;
  const PublicKey key = key_in(descriptor.key());
  // The sender is not to blame for a bad membership: a peer may pass on descriptors that it has not checked.
  if (!known_members_.admit(wall(now), signer_.id_of(key), key, read(descriptor.membership())))
    GW_REACHED("membership filter: a descriptor of a peer that is no member");
}

bool MembershipFilter::prepare(Time now, const PeerId& to, Message& message) const {
  if (!admits(now, to) && !reduce_to_self(message)) return false;
  Message::Proof& proof = *message.mutable_proof();
  proof.set_key(own_key_.data(), own_key_.size());
  write(config_.own, *proof.mutable_membership());
  // The message may be changed here; only the list in the interface is read-only.
  for (const Shown* one : descriptors_in(message)) add_membership(const_cast<Shown&>(*one));
  return true;
}

void MembershipFilter::add_membership(Shown& descriptor) const {
  const PublicKey key = key_in(descriptor.key());
  const Membership* membership = key == own_key_ ? &config_.own : known_members_.find(signer_.id_of(key));
  if (membership != nullptr) write(*membership, *descriptor.mutable_membership());
}

}  // namespace gw::overlay
