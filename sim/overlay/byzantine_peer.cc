#include "overlay/byzantine_peer.h"

#include "base/reached.h"
#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Message;
using gw::overlay::Send;

namespace {

Message::Gossip* gossip_in(Message& message) {
  switch (message.kind_case()) {
    case Message::kGossip:
      return message.mutable_gossip();
    case Message::kGossipReply:
      return message.mutable_gossip_reply();
    case Message::kRing:
      return message.mutable_ring();
    case Message::kRingReply:
      return message.mutable_ring_reply();
    default:
      return nullptr;
  }
}

template <class T>
void remember(std::vector<T>& memory, const T& what, std::size_t most) {
  if (memory.size() < most) memory.push_back(what);
}

}  // namespace

ByzantinePeer::ByzantinePeer(const gw::overlay::GridId& grid, const SimSigner& signer, Rng rng) : grid_(grid), signer_(signer), rng_(rng) {
  for (int i = 0; i < 3; ++i) lies_ |= 1U << rng_.below(kLies);
  for (float& component : elsewhere_.position) component = static_cast<float>(uniform(rng_) * 2 - 1);
  elsewhere_.error = 0.01F;
}

void ByzantinePeer::overhear(const Message& message) {
  if (rng_.below(8) != 0) return;
  remember(old_messages_, message, kMemory);
  Message copy = message;
  if (Message::Gossip* gossip = gossip_in(copy); gossip != nullptr && gossip->others_size() > 0)
    remember(old_descriptors_, gossip->others(0), kMemory);
}

std::vector<Send> ByzantinePeer::twist(Send send) {
  Message::Gossip* gossip = gossip_in(send.message);
  if (tells(coordinates)) move(send.message);
  if (gossip != nullptr) distort(*gossip);
  if (tells(rumours)) accuse(send.message);
  if (tells(routes)) misroute(send.message);
  std::vector<Send> sends;
  const bool again = tells(replays) && !old_messages_.empty() && rng_.below(4) == 0;
  if (again) {
    GW_REACHED("sim: a liar repeated what another had said");
    sends.push_back({send.to, send.contact, old_messages_[rng_.below(old_messages_.size())]});
  }
  const std::size_t copies = tells(floods) && rng_.below(20) == 0 ? 30 : 1;
  for (std::size_t i = 1; i < copies; ++i) sends.push_back(send);
  sends.push_back(std::move(send));
  return sends;
}

// Claims a far coordinate with a small error.
void ByzantinePeer::move(Message& message) {
  if (message.kind_case() == Message::kPong) {
    GW_REACHED("sim: a liar said it is elsewhere");
    gw::overlay::write(elsewhere_, *message.mutable_pong()->mutable_coordinate());
    if (message.pong().has_self()) restate(*message.mutable_pong()->mutable_self());
  }
  if (Message::Gossip* gossip = gossip_in(message)) restate(*gossip->mutable_self());
}

void ByzantinePeer::restate(wire::pb::Descriptor& self) const {
  gw::overlay::Descriptor descriptor = gw::overlay::read(self, signer_);
  descriptor.coordinate = elsewhere_;
  gw::overlay::sign(grid_, signer_, descriptor);
  gw::overlay::write(descriptor, self);
}

// Changes descriptors of other peers: forges a newer one with another address, or repeats an old one.
void ByzantinePeer::distort(Gossip& gossip) {
  for (wire::pb::Descriptor& other : *gossip.mutable_others()) {
    if (tells(forgeries) && rng_.below(4) == 0) {
      other.set_boot(other.boot() + rng_.below(3));
      other.set_stamp(other.stamp() + 1000);
      other.set_address("h0:1");
    }
    if (tells(stale) && !old_descriptors_.empty() && rng_.below(2) == 0) other = old_descriptors_[rng_.below(old_descriptors_.size())];
    if (tells(stale)) other.set_age(0);
  }
}

// Reports a live peer as dead.
void ByzantinePeer::accuse(Message& message) {
  if (old_descriptors_.empty() || message.rumours_size() >= 8) return;
  GW_REACHED("sim: a liar called somebody dead");
  for (int i = 0; i < 4; ++i) {
    const wire::pb::Descriptor& victim = old_descriptors_[rng_.below(old_descriptors_.size())];
    PublicKey key;
    std::ranges::copy(victim.key(), reinterpret_cast<char*>(key.data()));
    auto& rumour = *message.add_rumours();
    rumour.set_peer(signer_.id_of(key).bytes());
    rumour.set_boot(victim.boot() + rng_.below(2));
    rumour.set_stamp(victim.stamp() + static_cast<std::uint32_t>(rng_.below(1000)));
  }
}

// Puts a random known peer into the answer to a request.
void ByzantinePeer::misroute(Message& message) {
  if (message.kind_case() != Message::kFound || old_descriptors_.empty()) return;
  GW_REACHED("sim: a liar answered for a key");
  *message.mutable_found()->mutable_host() = old_descriptors_[rng_.below(old_descriptors_.size())];
}

}  // namespace gw::sim::overlay_simulation
