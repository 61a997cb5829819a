#include "overlay/overlay.h"

#include <algorithm>

namespace gw::overlay {
namespace {

// An answer goes back over the connection that the question came on: if that is gone, so is the answer.
bool is_answer(const Message& message) {
  switch (message.kind_case()) {
    case Message::kGossipReply:
    case Message::kRingReply:
    case Message::kPong:
    case Message::kPongFor:
      return true;
    default:
      return false;
  }
}

}  // namespace

Overlay::Overlay(const Config& config, const Self& self, const Signer& signer, Rng rng)
    : config_(config),
      signer_(signer),
      membership_filter_(config_.members ? std::optional<MembershipFilter>(std::in_place, *config_.members, self.key, signer)
                                         : std::nullopt),
      rng_(rng),
      sampler_(config_.sampler, self.id, rng_),
      ring_(config_.ring, self.id, tables_, Rng(rng_.next())),
      detector_(config_.detector, self.id, tables_, Rng(rng_.next())),
      links_(config_.links, tables_, Rng(rng_.next())),
      lookup_(config_.lookup, own_, signer_, ring_, tables_, Rng(rng_.next())),
      coordinates_(config_.coordinates, rng_),
      ranging_(config_.ranging, rng_),
      neighbours_(config_.neighbours, self.id, rng_),
      size_(config_.size),
      last_seen_(config_.last_seen),
      rejoin_(config_.rejoin, config_.address, config_.known, rng_) {
  own_.id = self.id;
  own_.key = self.key;
  own_.address = config_.address;
  own_.incarnation = {self.boot, 0};
  own_.reach = config_.address.empty() ? Reach::outbound : Reach::unknown;
  renew_self();
}

void Overlay::start(Time now, const std::vector<std::string>& remembered, Output& out) {
  born_ = now;
  // Peers that are started by one hand must not all ask in the same instant.
  round_at_ = now + Time(rng_.below(static_cast<std::uint64_t>(config_.young_round.count())));
  rejoin_.start(now, remembered, out);
}

void Overlay::on_tick(Time now, Output& out) {
  const std::size_t before = out.sends.size();
  serve(sampler_.on_tick(now, own_, out), now, out);
  rejoin_.on_tick(now, out);
  detector_.on_tick(now, out);
  links_.on_tick(now, out);
  lookup_.on_tick(now, out);
  ranging_.on_tick(now);
  if (now >= round_at_) begin_round(now, out);
  finish(now, before, out);
}

Time Overlay::next_deadline() const {
  return std::min({round_at_, sampler_.next_deadline(), rejoin_.next_deadline(), detector_.next_deadline(), links_.next_deadline(),
                   lookup_.next_deadline(), ranging_.next_deadline()});
}

void Overlay::begin_round(Time now, Output& out) {
  const Time round = round_length(now);
  const auto tenth = static_cast<std::uint64_t>(round.count() / 10);
  round_at_ = now + round - Time(tenth) + Time(rng_.below(2 * tenth));
  renew_self();
  serve(sampler_.on_round(now, round, own_, out), now, out);
  // Nine tenths: rounds are jittered by a tenth.
  if (now - aged_at_ >= config_.round * 9 / 10) {
    aged_at_ = now;
    ring_.grow_older();
  }
  if (const std::optional<PeerId> silent = ring_.on_round(own_, sampler_.cache().entries(), out)) detector_.on_silence(now, *silent, out);
  if (const Descriptor* stale = ring_.stale_leaf()) detector_.on_silence(now, stale->id, out);
  detector_.on_round(now, out);
  forget_strangers(now, out);
  measure(now, out);
}

// The detector asks those in the tables. Who was heard, and never told more of itself, is gone when it has been silent for long.
void Overlay::forget_strangers(Time now, Output& out) {
  if (now < strangers_at_) return;
  strangers_at_ = now + config_.strangers / 2;
  for (const PeerId& peer : last_seen_.silent_since(now - config_.strangers))
    if (tables_.find(peer) == nullptr) record_death(peer, out);
}

// A descriptor that is newer than all before: what others have of this peer must not grow old, and refutes whatever was said of it.
void Overlay::renew_self() {
  ++own_.incarnation.stamp;
  own_.coordinate = coordinates_.own();
  sign(config_.grid, signer_, own_);
}

void Overlay::serve(Sampler::Need need, Time now, Output& out) {
  if (need == Sampler::Need::bootstrap) rejoin_.on_need(now, out);
}

void Overlay::finish(Time now, std::size_t before, Output& out) {
  apply_component_results(now, out);
  for (std::size_t i = before; i < out.sends.size(); ++i) {
    Send& send = out.sends[i];
    send.message.set_grid(config_.grid.hash.bytes.data(), config_.grid.hash.bytes.size());
    detector_.add_rumours(send.message);
    if (!send.contact.address.empty() || is_answer(send.message)) continue;
    if (const Descriptor* known = tables_.find(send.to)) send.contact = contact_of(*known);
  }
  if (!membership_filter_) return;
  const auto kept = std::remove_if(out.sends.begin() + static_cast<std::ptrdiff_t>(before), out.sends.end(),
                                   [&](Send& send) { return !membership_filter_->prepare(now, send.to, send.message); });
  out.sends.erase(kept, out.sends.end());
}

void Overlay::on_connected(Time now, const PeerId& peer, const std::string& address, Output& out) {
  if (peer == own_.id) return;
  if (address.empty()) {
    if (own_.reach != Reach::unknown) return;
    own_.reach = Reach::open;
    return renew_self();
  }
  const std::size_t before = out.sends.size();
  if (rejoin_.on_connected(now, address)) sampler_.ask(now, peer, {.address = address}, own_, out);
  finish(now, before, out);
}

void Overlay::set_slots(std::uint32_t slots, std::uint32_t free_slots) {
  free_slots = std::min(slots, free_slots);
  if (own_.slots == slots && own_.free_slots == free_slots) return;
  own_.slots = slots;
  own_.free_slots = free_slots;
  renew_self();
}

void Overlay::set_contact(const Contact& contact) {
  if (contact_of(own_) == contact) return;
  own_.address = contact.address;
  own_.reach = contact.reach;
  own_.anchors = contact.anchors;
  renew_self();
}

void Overlay::revoke(Time now, Revocations list, Output& out) {
  const std::size_t before = out.sends.size();
  for (const PeerId& peer : membership_filter_->revoke(std::move(list))) {
    if (const Descriptor* known = tables_.find(peer)) detector_.on_leave(now, peer, known->incarnation);
    out.events.push_back(Expelled{peer});
  }
  finish(now, before, out);
}

void Overlay::on_rumoured(Time now, const wire::pb::Descriptor& message, Output& out) {
  const std::size_t before = out.sends.size();
  if (membership_filter_) membership_filter_->on_descriptor(now, message);
  const Descriptor peer = read(message, signer_);
  if (peer.id == own_.id) return;
  if (genuine(now, peer)) {
    learn(now, peer, out);
  } else if (reported_lies_.take(now)) {  // a liar lists many
    refuse(peer.id, "whoever describes it to newcomers shows nothing that it signed for this grid", out);
  }
  finish(now, before, out);
}

std::uint64_t Overlay::locate(Time now, const Hash256& key, Output& out) { return place(now, key, 0, out); }

std::uint64_t Overlay::place(Time now, const Hash256& key, std::uint32_t demand, Output& out) {
  const std::size_t before = out.sends.size();
  const std::uint64_t number = lookup_.ask(now, key, demand, out);
  finish(now, before, out);
  return number;
}

void Overlay::leave(Time now, Output& out) {
  const std::size_t before = out.sends.size();
  for (const Descriptor& peer : sampler_.cache().entries()) {
    Message::Leave& leave = *out.sends.emplace_back(Send{peer.id, {}, {}}).message.mutable_leave();
    leave.set_boot(own_.incarnation.boot);
    leave.set_stamp(own_.incarnation.stamp);
  }
  finish(now, before, out);
}

}  // namespace gw::overlay
