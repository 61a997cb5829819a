#include "overlay/failures/failure_detector.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/reached.h"

namespace gw::overlay {

namespace {

constexpr std::size_t kRumoursFollowed = 64;
constexpr Time kRumourFollowedFor = std::chrono::seconds(30);

// A peer that only opens connections itself is not suspected for silence. A peer with anchors is asked through them.
bool is_hidden(const Descriptor& peer) { return (peer.address.empty() || peer.reach != Reach::open) && peer.anchors.empty(); }

// The descriptor is so new that its owner was alive when the doubt began or after.
bool is_fresh(const Descriptor& peer) { return peer.age <= 1; }

// Stamps rise all the time, so the accuser may have had a slightly older descriptor.
bool is_outdated(const Incarnation& rumour, const Incarnation& known) {
  constexpr std::uint32_t kSlack = 12;
  return rumour.boot < known.boot || (rumour.boot == known.boot && known.stamp > kSlack && rumour.stamp < known.stamp - kSlack);
}

}  // namespace

FailureDetector::FailureDetector(const Config& config, const PeerId& self, const Contacts& contacts, Rng rng)
    : config_(config),
      self_(self),
      contacts_(contacts),
      rng_(rng),
      rate_limit_(config.ask_every, config.ask_burst),
      failure_reports_(config.failure_reports),
      tombstones_(config.tombstones),
      relay_(config.relay) {}

FailureDetector::State FailureDetector::state(const PeerId& peer) const {
  if (tombstones_.find(peer) != nullptr) return State::dead;
  const auto doubt = doubts_.find(peer);
  return doubt != doubts_.end() && doubt->second.stage == Doubt::Stage::suspected ? State::suspected : State::alive;
}

// ---- asking ----

void FailureDetector::on_round(Time now, Output& out) {
  const bool is_whole = now - whole_round_at_ >= config_.round * 9 / 10;
  if (is_whole) {
    whole_round_at_ = now;
    ++whole_rounds_;
    tombstones_.expire(now);
  }
  if (++rounds_ % (health_ + 1) != 0) return;
  if (next_ >= turn_.size()) begin_turn();
  // The short rounds after a start serve to find peers, so they send one ping only.
  const std::size_t pings = is_whole ? std::min(turn_.size() / config_.rounds_per_turn + 1, config_.pings_per_round) : 1;
  for (std::size_t asked = 0; asked < pings && next_ < turn_.size(); ++next_) {
    // The first peer of a round is always pinged, the others only if their descriptors are old: a fresh descriptor is a sign of life, too.
    const Descriptor* known = asked > 0 ? contacts_.find(turn_[next_]) : nullptr;
    const bool is_fresh = known != nullptr && known->age <= config_.old;
    if (is_fresh || ask(now, turn_[next_], out) != nullptr) ++asked;
  }
}

void FailureDetector::begin_turn() {
  turn_ = contacts_.all();
  next_ = 0;
  for (std::size_t i = turn_.size(); i > 1; --i) std::swap(turn_[i - 1], turn_[rng_.below(i)]);
}

FailureDetector::Doubt* FailureDetector::ask(Time now, const PeerId& peer, Output& out) {
  const Descriptor* known = contacts_.find(peer);
  if (known == nullptr || peer == self_ || doubts_.size() >= config_.doubts || doubts_.contains(peer)) return nullptr;
  Doubt& doubt = doubts_[peer];
  doubt.incarnation = known->incarnation;
  doubt.round = whole_rounds_;
  ping(now, *known, doubt, out);
  return &doubt;
}

void FailureDetector::ping(Time now, const Descriptor& peer, Doubt& doubt, Output& out) {
  const bool wants_news = doubt.stage == Doubt::Stage::suspected || peer.age > config_.old;
  out.sends.push_back({peer.id, contact_of(peer), make_ping(rng_.next(), wants_news ? &doubt.incarnation : nullptr)});
  doubt.asked = now;
  doubt.until = now + patience();
}

void FailureDetector::on_silence(Time now, const PeerId& peer, Output& out) {
  if (!doubts_.contains(peer) && rate_limit_.take(now)) ask(now, peer, out);
}

std::vector<const Descriptor*> FailureDetector::some_others(const PeerId& but, std::size_t count) {
  if (turn_.empty()) begin_turn();
  std::vector<const Descriptor*> chosen;
  const std::size_t start = turn_.empty() ? 0 : rng_.below(turn_.size());
  for (std::size_t i = 0; i < turn_.size() && chosen.size() < count; ++i) {
    const Descriptor* peer = contacts_.find(turn_[(start + i) % turn_.size()]);  // the order is random
    if (peer != nullptr && peer->id != but && can_be_dialled(*peer) && !doubts_.contains(peer->id)) chosen.push_back(peer);
  }
  return chosen;
}

// ---- the stages of a doubt ----

void FailureDetector::step(Time now, const PeerId& peer, Output& out) {
  Doubt& doubt = doubts_.at(peer);
  const Descriptor* known = contacts_.find(peer);
  if (known == nullptr) {  // no table wants it any more
    clear(peer);
    return;
  }
  switch (doubt.stage) {
    case Doubt::Stage::pinged:
      ask_others(now, *known, doubt, out);
      break;
    case Doubt::Stage::pinged_by_others:
      suspect(now, *known, doubt, out);
      break;
    case Doubt::Stage::suspected:
      on_suspected(now, *known, doubt, out);
      break;
  }
}

void FailureDetector::ask_others(Time now, const Descriptor& peer, Doubt& doubt, Output& out) {
  doubt.stage = Doubt::Stage::pinged_by_others;
  doubt.asked = now;
  doubt.until = now + patience();
  for (const Descriptor* helper : some_others(peer.id, config_.helpers)) {
    ask_for(*helper, peer, out);
    out.sends.push_back({helper->id, contact_of(*helper), make_ping(rng_.next(), nullptr)});
  }
}

void FailureDetector::ask_for(const Descriptor& helper, const Descriptor& about, Output& out) {
  Message message;
  Message::PingFor& request = *message.mutable_ping_for();
  request.set_number(rng_.next());
  request.set_peer(about.id.bytes());
  write(about, *request.mutable_self());
  out.sends.push_back({helper.id, contact_of(helper), std::move(message)});
}

void FailureDetector::suspect(Time now, const Descriptor& peer, Doubt& doubt, Output& out) {
  if (last_seen_ < doubt.asked && knows_others()) {
    GW_REACHED("failure detector: nobody is heard, so the fault is here");
    health_ = std::min(health_ + 1, config_.worst_health);
    doubt.stage = Doubt::Stage::pinged;
    ping(now, peer, doubt, out);
    return;
  }
  // The peer's machine refuses connections and another peer has lost it too, so a firewall between this pair is not the cause.
  const bool is_missed = doubt.refused && !doubt.accusers.empty() && peer.reach == Reach::unknown;
  if (is_hidden(peer) && !is_missed && peer.age <= config_.hidden_rounds) {
    clear(peer.id);
    return;
  }
  doubt.stage = Doubt::Stage::suspected;
  doubt.suspected = now;
  doubt.incarnation = peer.incarnation;
  failure_reports_.add(peer.id, peer.incarnation, tellings());
  ping(now, peer, doubt, out);
}

void FailureDetector::on_suspected(Time now, const Descriptor& peer, Doubt& doubt, Output& out) {
  const bool is_connected = last_seen_ >= doubt.suspected || !knows_others();
  if (is_connected && now - doubt.suspected >= suspicion_of(doubt)) {
    GW_REACHED("failure detector: a suspicion has lasted long enough");
    record_death(now, peer, doubt.round);
    return;
  }
  ping(now, peer, doubt, out);
  for (const Descriptor* helper : some_others(peer.id, 1)) ask_for(*helper, peer, out);
}

Time FailureDetector::suspicion_of(const Doubt& doubt) const {
  const double share = std::log(1.0 + static_cast<double>(doubt.accusers.size())) / std::log(1.0 + static_cast<double>(config_.witnesses));
  const Time longest = config_.longest_suspicion;
  return longest - Time(static_cast<Time::rep>(static_cast<double>((longest - config_.shortest_suspicion).count()) * share));
}

void FailureDetector::record_death(Time now, const Descriptor& peer, std::uint64_t round) {
  tombstones_.add({peer, now, round});
  failure_reports_.add(peer.id, peer.incarnation, tellings());
  dead_.push_back(peer.id);
  doubts_.erase(peer.id);
}

void FailureDetector::clear(const PeerId& peer) {
  failure_reports_.remove(peer);
  doubts_.erase(peer);
}

// ---- signs of life ----

void FailureDetector::on_seen(Time now, const PeerId& peer, Output& out) {
  last_seen_ = now;
  if (doubts_.contains(peer)) {
    if (health_ > 0) --health_;
    clear(peer);
  }
  if (const Tombstones::Tombstone* tombstone = tombstones_.find(peer)) {
    GW_REACHED("failure detector: somebody dead speaks");
    // Other peers have a tombstone for that descriptor: the peer has to publish a newer one.
    out.sends.push_back({peer, contact_of(tombstone->peer), make_ping(rng_.next(), &tombstone->peer.incarnation)});
    tombstones_.remove(peer);
    failure_reports_.remove(peer);
  }
}

bool FailureDetector::wants(const Descriptor& peer) const {
  const auto doubt = doubts_.find(peer.id);
  if (doubt != doubts_.end() && doubt->second.incarnation < peer.incarnation) return true;
  return relay_.wants(peer) || (tombstones_.find(peer.id) != nullptr && admits(peer));
}

void FailureDetector::on_descriptor(Time now, const Descriptor& peer, Output& out) {
  relay_.on_descriptor(peer, out);
  const Tombstones::Tombstone* tombstone = tombstones_.find(peer.id);
  if (tombstone != nullptr && admits(peer)) {
    GW_REACHED("failure detector: a newer descriptor of somebody dead");
    tombstones_.remove(peer.id);
    failure_reports_.remove(peer.id);
  }
  const auto found = doubts_.find(peer.id);
  if (found == doubts_.end() || peer.incarnation <= found->second.incarnation) return;
  if (is_fresh(peer) || is_hidden(peer)) {
    GW_REACHED("failure detector: a doubt was refuted");
    clear(peer.id);
    return;
  }
  // The descriptor is newer, but its peer may have died since: the doubt continues with this incarnation.
  found->second.incarnation = peer.incarnation;
  if (found->second.stage == Doubt::Stage::suspected) ping(now, peer, found->second, out);
}

// ---- broken connections ----

void FailureDetector::on_reset(Time now, const PeerId& peer, Output& out) {
  const Descriptor* known = contacts_.find(peer);
  if (known == nullptr || !can_be_dialled(*known)) return;
  const auto found = doubts_.find(peer);
  Doubt* doubt = found != doubts_.end() ? &found->second : ask(now, peer, out);
  if (doubt == nullptr) return;
  if (found != doubts_.end()) ping(now, *known, *doubt, out);
  doubt->broken = true;
}

void FailureDetector::on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out) {
  const Descriptor* known = contacts_.find(peer);
  if (known == nullptr) return;
  const auto found = doubts_.find(peer);
  if (found == doubts_.end()) {
    if (failure == Failure::refused && !is_hidden(*known)) on_reset(now, peer, out);
    return;
  }
  Doubt& doubt = found->second;
  doubt.refused |= failure == Failure::refused;
  // A refusal came from its machine. No answer may be the fault of this peer's own network.
  if (doubt.broken && (failure == Failure::refused || last_seen_ >= doubt.asked)) {
    GW_REACHED("failure detector: a broken connection could not be made again");
    record_death(now, *known, doubt.round);
  } else if (failure == Failure::refused && !is_hidden(*known)) {
    on_reset(now, peer, out);
  } else if (doubt.stage == Doubt::Stage::pinged) {
    doubt.until = now;  // the dial failed: do not wait for an answer
  }
}

void FailureDetector::on_leave(Time now, const PeerId& peer, const Incarnation& incarnation) {
  const Descriptor* known = contacts_.find(peer);
  if (known == nullptr) return;
  Descriptor left = *known;
  left.incarnation = std::max(left.incarnation, incarnation);
  record_death(now, left, whole_rounds_);
}

// ---- rumours and helpers ----

FailureDetector::Accused FailureDetector::on_rumours(Time now, const PeerId& from, const Message& message, const Incarnation& own,
                                                     Output& out) {
  Accused accused = Accused::no;
  for (const Message::Rumour& rumour : message.rumours()) {
    const PeerId about = PeerId::from(rumour.peer());
    const Incarnation incarnation{rumour.boot(), rumour.stamp()};
    if (about != self_) {
      on_rumour(now, from, about, incarnation, out);
    } else if (incarnation >= own) {
      accused = Accused::yes;
    }
  }
  // An accusation may mean that this peer is slow.
  if (accused == Accused::yes) health_ = std::min(health_ + 1, config_.worst_health);
  return accused;
}

void FailureDetector::on_rumour(Time now, const PeerId& from, const PeerId& about, const Incarnation& incarnation, Output& out) {
  const Descriptor* known = contacts_.find(about);
  if (known == nullptr || is_outdated(incarnation, known->incarnation)) return;
  auto found = doubts_.find(about);
  if (found == doubts_.end()) {
    if (!may_follow(now, about) || ask(now, about, out) == nullptr) return;
    GW_REACHED("failure detector: a rumour is looked into");
    found = doubts_.find(about);
  }
  std::vector<PeerId>& accusers = found->second.accusers;
  if (accusers.size() < config_.witnesses && std::ranges::find(accusers, from) == accusers.end()) accusers.push_back(from);
}

bool FailureDetector::may_follow(Time now, const PeerId& about) {
  std::erase_if(rumoured_, [&](const auto& rumour) { return now - rumour.second > kRumourFollowedFor; });
  if (rumoured_.contains(about) || rumoured_.size() >= kRumoursFollowed || !rate_limit_.take(now)) return false;
  rumoured_.emplace(about, now);
  return true;
}

void FailureDetector::on_hearsay(Time now, const Descriptor& peer, Output& out) {
  if (doubts_.contains(peer.id) || !may_follow(now, peer.id)) return;
  // A ping as to a suspected peer: the answer is a newer descriptor.
  out.sends.push_back({peer.id, contact_of(peer), make_ping(rng_.next(), &peer.incarnation)});
}

void FailureDetector::on_ping_for(Time now, const PeerId& asker, const Message::PingFor& request, const Descriptor& about, Output& out) {
  if (about.id != self_) relay_.on_ping_for(now, asker, request, about, rng_.next(), out);
}

unsigned FailureDetector::tellings() const { return 2 + static_cast<unsigned>(std::bit_width(turn_.size())); }

// ---- time ----

void FailureDetector::on_tick(Time now, Output& out) {
  make_up_for_pause(now);
  std::vector<PeerId> due;
  for (const auto& [peer, doubt] : doubts_)
    if (doubt.until <= now) due.push_back(peer);
  for (const PeerId& peer : due) step(now, peer, out);
  spread_rumours(now, out);
}

// While this peer was paused it could receive no message: that time does not count against other peers.
void FailureDetector::make_up_for_pause(Time now) {
  const Time deadline = next_deadline();
  if (deadline == kNever || now - deadline < config_.late) return;
  GW_REACHED("failure detector: this peer was paused");
  health_ = std::min(health_ + 1, config_.worst_health);
  for (auto& [peer, doubt] : doubts_) {
    doubt.suspected += now - deadline;
    doubt.until = std::max(doubt.until, now) + config_.patience;
  }
}

void FailureDetector::spread_rumours(Time now, Output& out) {
  if (now < spread_at_ || !failure_reports_.has_news()) return;
  spread_at_ = now + config_.spread_every;
  for (const Descriptor* peer : some_others(self_, config_.spread))
    out.sends.push_back({peer->id, contact_of(*peer), make_ping(rng_.next(), nullptr)});
}

Time FailureDetector::next_deadline() const {
  Time next = kNever;
  for (const auto& [peer, doubt] : doubts_) next = std::min(next, doubt.until);
  if (failure_reports_.has_news()) next = std::min(next, spread_at_);
  return next;
}

}  // namespace gw::overlay
