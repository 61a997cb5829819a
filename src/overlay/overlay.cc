#include "overlay/overlay.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::overlay {
namespace {

// A peer whose coordinate has a larger error measures as often as it can, since its position is useless to others yet; with a smaller error
// it measures at intervals.
constexpr float kUnsettledError = 0.2F;
constexpr int kUnsettledMeasurements = 2;
constexpr Time kSettledPause = std::chrono::seconds(9);

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

PeerTables::Config tables_of(const Overlay::Config& config) {
  return {.sampler = config.sampler,
          .ring = config.ring,
          .detector = config.detector,
          .links = config.links,
          .coordinates = config.coordinates,
          .neighbours = config.neighbours,
          .last_seen = config.last_seen,
          .partners = config.partners};
}

}  // namespace

Overlay::Overlay(const Config& config, const Self& self, const Signer& signer, Rng rng)
    : config_(config),
      signer_(signer),
      membership_filter_(config_.members ? std::optional<MembershipFilter>(std::in_place, *config_.members, self.key, signer)
                                         : std::nullopt),
      rng_(rng),
      tables_(tables_of(config_), self.id, rng_),
      lookup_(config_.lookup, own_, signer_, tables_.ring, tables_, Rng(rng_.next())),
      ranging_(config_.ranging, rng_),
      size_(config_.size),
      rejoin_(config_.rejoin, config_.address, config_.known, rng_),
      intake_({config_.grid, own_.id, signer_, membership_filter_, tables_, rejoin_}) {
  own_.id = self.id;
  own_.key = self.key;
  own_.address = config_.address;
  own_.name = config_.name;
  own_.incarnation = {self.boot, 0};
  own_.reach = config_.address.empty() ? Reach::outbound : Reach::unknown;
  renew_self();
}

void Overlay::start(Time now, const std::vector<std::string>& remembered, Output& out) {
  born_ = now;
  // Peers that one script starts must not all ask in the same instant.
  round_at_ = now + Time(rng_.below(static_cast<std::uint64_t>(config_.young_round.count())));
  rejoin_.start(now, remembered, out);
}

// --- rounds

void Overlay::on_tick(Time now, Output& out) {
  const std::size_t before = out.sends.size();
  rejoin_if_needed(tables_.sampler.on_tick(now, own_, out), now, out);
  rejoin_.on_tick(now, out);
  tables_.detector.on_tick(now, out);
  tables_.links.on_tick(now, out);
  lookup_.on_tick(now, out);
  ranging_.on_tick(now);
  if (now >= round_at_) begin_round(now, out);
  finish(now, before, out);
}

Time Overlay::next_deadline() const {
  return std::min({round_at_, tables_.sampler.next_deadline(), rejoin_.next_deadline(), tables_.detector.next_deadline(),
                   tables_.links.next_deadline(), lookup_.next_deadline(), ranging_.next_deadline()});
}

void Overlay::begin_round(Time now, Output& out) {
  const Time round = round_length(now);
  const auto tenth = static_cast<std::uint64_t>(round.count() / 10);
  round_at_ = now + round - Time(tenth) + Time(rng_.below(2 * tenth));
  renew_self();
  rejoin_if_needed(tables_.sampler.on_round(now, round, own_, out), now, out);
  // Nine tenths: rounds are jittered by a tenth.
  if (now - aged_at_ >= config_.round * 9 / 10) {
    aged_at_ = now;
    tables_.ring.grow_older();
  }
  if (const std::optional<PeerId> silent = tables_.ring.on_round(own_, tables_.sampler.cache().entries(), out))
    tables_.detector.on_silence(now, *silent, out);
  if (const Descriptor* stale = tables_.ring.stale_leaf()) tables_.detector.on_silence(now, stale->id, out);
  tables_.detector.on_round(now, out);
  forget_strangers(now, out);
  measure_distances(now, out);
}

// The failure detector asks peers that are in a table. A peer that has sent messages and is in none is gone after a long silence.
void Overlay::forget_strangers(Time now, Output& out) {
  if (now < strangers_at_) return;
  strangers_at_ = now + config_.strangers / 2;
  for (const PeerId& peer : tables_.last_seen.silent_since(now - config_.strangers))
    if (!tables_.is_in_table(peer)) record_death(peer, out);
}

// Measures a peer that may be near and a random one in turn: near peers alone would agree on a map that is wrong everywhere else.
void Overlay::measure_distances(Time now, Output& out) {
  tables_.neighbours.on_round(tables_.sampler.sample());
  const bool settled = tables_.coordinates.own().error <= kUnsettledError;
  if (settled && now < measured_at_ + kSettledPause) return;
  measured_at_ = now;
  for (int i = settled ? 1 : kUnsettledMeasurements; i > 0; --i) {
    const std::optional<PeerId> neighbour = ++measurements_ % 2 == 0 ? tables_.neighbours.next_to_measure() : std::nullopt;
    const Descriptor* random = neighbour ? nullptr : tables_.sampler.sample();
    if (neighbour) ranging_.measure(now, *neighbour, out);
    if (random != nullptr) ranging_.measure(now, random->id, out);
  }
}

// A newer descriptor keeps this peer from growing old in other peers' tables, and refutes every report of its death.
void Overlay::renew_self() {
  ++own_.incarnation.stamp;
  own_.coordinate = tables_.coordinates.own();
  sign(config_.grid, signer_, own_);
}

void Overlay::refute_death(Time now) {
  if (now - refuted_at_ < std::chrono::seconds(1)) return;
  GW_REACHED("overlay: this peer was taken for dead");
  refuted_at_ = now;
  renew_self();
}

void Overlay::rejoin_if_needed(Sampler::Need need, Time now, Output& out) {
  if (need == Sampler::Need::bootstrap) rejoin_.on_need(now, out);
}

// --- the end of an input

void Overlay::finish(Time now, std::size_t before, Output& out) {
  apply_component_results(now, out);
  for (std::size_t i = before; i < out.sends.size(); ++i) {
    Send& send = out.sends[i];
    send.message.set_grid(config_.grid.hash.bytes.data(), config_.grid.hash.bytes.size());
    tables_.detector.add_rumours(send.message);
    if (!send.contact.address.empty() || is_answer(send.message)) continue;
    if (const Descriptor* known = tables_.find(send.to)) send.contact = contact_of(*known);
  }
  if (!membership_filter_) return;
  const auto kept = std::remove_if(out.sends.begin() + static_cast<std::ptrdiff_t>(before), out.sends.end(),
                                   [&](Send& send) { return !membership_filter_->prepare(now, send.to, send.message); });
  out.sends.erase(kept, out.sends.end());
}

void Overlay::apply_component_results(Time now, Output& out) {
  for (const Ranging::Range& range : ranging_.take()) {
    tables_.coordinates.on_sample(range.peer, range.coordinate, range.round_trip);
    tables_.neighbours.on_range(range.peer, tables_.coordinates.measured(range.peer));
  }
  for (const PeerId& silent : lookup_.take_silent()) tables_.detector.on_silence(now, silent, out);
  for (const PeerId& dead : tables_.detector.take_dead())
    if (!GW_BUG(13)) record_death(dead, out);
  for (const LinkWatch::Change& change : tables_.links.take_changes())
    out.events.push_back(Seen{change.peer, change.state == LinkWatch::State::there});
}

void Overlay::record_death(const PeerId& peer, Output& out) {
  const Tombstones::Tombstone* tombstone = tables_.detector.tombstones().find(peer);
  if (tombstone != nullptr && can_be_dialled(tombstone->peer)) rejoin_.on_lost(tombstone->peer.address);
  tables_.remove(peer, out);
}

void Overlay::note_seen(Time now, const PeerId& from, Output& out) {
  tables_.on_seen(now, from, out);
  lookup_.on_seen(from);
}

// --- connections

void Overlay::on_connected(Time now, const PeerId& peer, const std::string& address, Output& out) {
  if (peer == own_.id) return;
  if (address.empty()) {
    if (own_.reach != Reach::unknown) return;
    own_.reach = Reach::open;
    return renew_self();
  }
  const std::size_t before = out.sends.size();
  if (rejoin_.on_connected(now, address)) tables_.sampler.ask(now, peer, {.address = address}, own_, out);
  finish(now, before, out);
}

void Overlay::on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out) {
  const std::size_t before = out.sends.size();
  rejoin_if_needed(tables_.sampler.on_unreachable(now, peer, own_, out), now, out);
  tables_.detector.on_unreachable(now, peer, failure, out);
  tables_.links.on_unreachable(now, peer, failure, out);
  lookup_.on_unreachable(now, peer, out);
  ranging_.on_unreachable(peer);
  finish(now, before, out);
}

void Overlay::on_reset(Time now, const PeerId& peer, Output& out) {
  const std::size_t before = out.sends.size();
  tables_.detector.on_reset(now, peer, out);
  tables_.links.on_reset(now, peer, out);
  finish(now, before, out);
}

void Overlay::on_seen(Time now, const PeerId& from, Output& out) {
  if (from == own_.id || !admits(now, from)) return;
  const std::size_t before = out.sends.size();
  note_seen(now, from, out);
  finish(now, before, out);
}

void Overlay::watch_peer(Time now, const PeerId& with, Output&) {
  if (with != own_.id) tables_.links.watch_peer(now, with);
}

// --- what the peer says about itself, and asks

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
    if (const Descriptor* known = tables_.find(peer)) tables_.detector.on_leave(now, peer, known->incarnation);
    out.events.push_back(Expelled{peer});
  }
  finish(now, before, out);
}

void Overlay::on_rumoured(Time now, const wire::pb::Descriptor& message, Output& out) {
  const std::size_t before = out.sends.size();
  if (membership_filter_) membership_filter_->on_descriptor(now, message);
  const Descriptor peer = read(message, signer_);
  if (peer.id == own_.id) return;
  if (intake_.is_genuine(now, peer)) {
    intake_.learn(now, peer, out);
  } else if (reported_lies_.take(now)) {  // a lying tracker lists many
    refuse(peer.id, "the tracker or beacon that described it showed no descriptor that it signed for this grid", out);
  }
  finish(now, before, out);
}

bool Overlay::introduce(Time now, const wire::pb::Descriptor& message, Output& out) {
  const std::size_t before = out.sends.size();
  if (membership_filter_) membership_filter_->on_descriptor(now, message);
  const Descriptor peer = read(message, signer_);
  const Descriptor* const known = peer.id == own_.id ? &own_ : tables_.find(peer.id);
  const bool checked = known != nullptr && known->signature == peer.signature && intake_.is_admitted(now, peer.id);
  if (!checked && !intake_.is_genuine(now, peer)) return false;
  if (peer.id == own_.id) return true;
  // A peer that is in no table yet becomes a partner only: whoever searches has not shown that it answers, and the tables say whom jobs may
  // use.
  if (tables_.is_in_table(peer.id)) {
    intake_.learn(now, peer, out);
  } else {
    tables_.add_partner(peer);
  }
  finish(now, before, out);
  return true;
}

wire::pb::Descriptor Overlay::introduction() const {
  wire::pb::Descriptor message;
  write(own_, message);
  if (membership_filter_) membership_filter_->add_membership(message);
  return message;
}

std::vector<const Descriptor*> Overlay::search_neighbours() const {
  const std::size_t most = config_.neighbours.near + config_.neighbours.random;
  std::vector<const Descriptor*> list;
  for (const Neighbours::Near& near : tables_.neighbours.near())
    if (alive(near.peer.id)) list.push_back(&near.peer);
  for (const Descriptor& random : tables_.neighbours.random())
    if (alive(random.id)) list.push_back(&random);
  if (list.size() >= most) return list;
  std::vector<std::pair<float, const Descriptor*>> others;
  for (const PeerId& peer : tables_.all())
    if (tables_.neighbours.find(peer) == nullptr && alive(peer)) others.emplace_back(tables_.seconds_to(*find(peer)), find(peer));
  std::ranges::sort(others, {}, [](const auto& other) { return std::pair(other.first, other.second->id); });
  for (const auto& [seconds, other] : others)
    if (list.size() < most) list.push_back(other);
  return list;
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
  for (const Descriptor& peer : tables_.sampler.cache().entries()) {
    Message::Leave& leave = *out.sends.emplace_back(Send{peer.id, {}, {}}).message.mutable_leave();
    leave.set_boot(own_.incarnation.boot);
    leave.set_stamp(own_.incarnation.stamp);
  }
  finish(now, before, out);
}

// A peer that knows fewer peers than fit into its cache knows all of them. With more, the stream of random samples tells.
double Overlay::size() const {
  const auto known = static_cast<double>(tables_.sampler.cache().size());
  if (tables_.sampler.cache().size() < config_.sampler.cache * 9 / 10) return known + 1;
  return std::max(known, size_.occupancy().value_or(known)) + 1;
}

// --- messages

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
  note_seen(now, from, out);
  if (tables_.detector.on_rumours(now, from, message, own_.incarnation, out) == FailureDetector::Accused::yes) refute_death(now);
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
      if (message.pong().has_self() && descriptions_.admit(now, from)) intake_.learn_sender(now, from, message.pong().self(), out);
      return;
    case Message::kPingFor:
      return on_ping_for(now, from, message.ping_for(), out);
    case Message::kPongFor:
      if (message.pong_for().has_self() && descriptions_.admit(now, from)) intake_.learn(now, message.pong_for().self(), out);
      return;
    case Message::kRoute:
      return on_route(now, from, message.route(), out);
    case Message::kFound:
      return on_found(now, from, message.found(), out);
    case Message::kLeave:
      return tables_.detector.on_leave(now, from, {message.leave().boot(), message.leave().stamp()});
    case Message::KIND_NOT_SET:
      return;
  }
}

void Overlay::on_gossip(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  // Asking too often is no breach: a peer that has just found an address again asks at once, and its round may come right after.
  if (!tables_.sampler.answer(now, from, own_, out)) return;
  if (intake_.learn_sender(now, from, gossip.self(), out)) learn_samples(now, gossip, out);
}

void Overlay::on_gossip_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!tables_.sampler.waits_for(now, from)) {
    GW_REACHED("overlay: an answer that nobody waits for");
    return;
  }
  const std::optional<Descriptor> sender = intake_.learn_sender(now, from, gossip.self(), out);
  if (sender && tables_.sampler.on_answer(now, *sender)) learn_samples(now, gossip, out);
}

// Random samples of other peers are the only descriptors that say how large the grid is.
void Overlay::learn_samples(Time now, const Message::Gossip& gossip, Output& out) {
  for (const wire::pb::Descriptor& other : gossip.others()) {
    const Descriptor descriptor = read(other, signer_);
    if (descriptor.id != own_.id) size_.on_sample(descriptor.id);
    intake_.learn(now, descriptor, out);
  }
}

void Overlay::on_ring(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!tables_.ring.admits(now, from)) {
    GW_REACHED("overlay: too many ring requests");
    return;
  }
  const std::optional<Descriptor> sender = intake_.learn_sender(now, from, gossip.self(), out);
  if (!sender) return;
  std::vector<Descriptor> others;
  others.reserve(static_cast<std::size_t>(gossip.others_size()));
  for (const wire::pb::Descriptor& other : gossip.others()) others.push_back(read(other, signer_));
  tables_.ring.on_request(*sender, own_, {tables_.sampler.cache().entries(), others}, out);
  for (const Descriptor& other : others) intake_.learn(now, other, out);
}

void Overlay::on_ring_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out) {
  if (!tables_.ring.on_reply(from)) return refuse(from, "it answered a ring request that was not sent to it", out);
  if (!intake_.learn_sender(now, from, gossip.self(), out)) return;
  for (const wire::pb::Descriptor& other : gossip.others()) intake_.learn(now, other, out);
}

void Overlay::on_ping(Time now, const PeerId& from, const Message::Ping& ping, Output& out) {
  const Incarnation doubted{ping.suspected_boot(), ping.suspected_stamp()};
  if (doubted >= own_.incarnation) refute_death(now);
  Message::Ping& pong = *out.sends.emplace_back(Send{from, {}, {}}).message.mutable_pong();
  pong.set_number(ping.number());
  write(tables_.coordinates.own(), *pong.mutable_coordinate());
  if (doubted.boot != 0) write(own_, *pong.mutable_self());
  // The sender knows this peer and belongs into its leafset: asking it is faster than waiting until a neighbour describes it.
  const Leafset& leaves = tables_.ring.leafset();
  if (leaves.is_full() && leaves.wants(from, {})) {
    GW_REACHED("overlay: a leaf made itself known");
    tables_.detector.on_hearsay(now, {.id = from, .incarnation = {.boot = 1}}, out);
  }
}

void Overlay::on_ping_for(Time now, const PeerId& from, const Message::PingFor& request, Output& out) {
  if (!request.has_self()) return refuse(from, "it asked for a ping of a peer without describing the peer", out);
  if (!descriptions_.admit(now, from)) return;
  const Descriptor about = read(request.self(), signer_);
  if (about.id != PeerId::from(request.peer()) || !intake_.is_genuine(now, about))
    return refuse(from, "it asked for a ping of a peer with a descriptor that the peer did not sign", out);
  tables_.detector.on_ping_for(now, from, request, about, out);
}

void Overlay::on_route(Time now, const PeerId& from, const Message::Route& request, Output& out) {
  if (!lookup_.admits(now, from)) return;
  // A forged origin is not the fault of the peer that forwarded it.
  if (intake_.is_genuine(now, read(request.origin(), signer_))) lookup_.on_route(now, request, out);
}

void Overlay::on_found(Time now, const PeerId& from, const Message::Found& answer, Output& out) {
  if (!lookup_.waits_for(answer.number())) return;  // the second answer, or a very late one
  const Descriptor host = answer.has_host() ? read(answer.host(), signer_) : Descriptor();
  if (answer.has_host() && !intake_.is_genuine(now, host))
    return refuse(from, "it answered a lookup with a descriptor that its owner did not sign", out);
  // The request was for a job, perhaps: the host must be reached although no table wants it.
  if (answer.has_host() && host.id != own_.id && !tables_.is_in_table(host.id)) tables_.add_partner(host);
  lookup_.on_found(now, answer, host, out);
}

void Overlay::refuse(const PeerId& peer, std::string sentence, Output& out) { out.events.push_back(Refused{peer, std::move(sentence)}); }

}  // namespace gw::overlay
