#include "overlay/tables/ring.h"

#include <algorithm>
#include <array>

#include "base/reached.h"
#include "overlay/routing/key_space.h"

namespace gw::overlay {

namespace {

constexpr std::size_t kAsked = 8;  // a reply may come some rounds late

}  // namespace

Ring::Learned Ring::learn(const Descriptor& peer, float distance) {
  if (peer.age > config_.hearsay && leafset_.find(peer.id) == nullptr && table_.find(peer.id) == nullptr)
    return leafset_.wants(peer.id, peer.incarnation) ? Learned::hearsay : Learned::other;
  const Leafset::Offered leaf = leafset_.offer(peer);
  const PrefixTable::Offered entry = table_.offer(peer, distance);
  if (leaf == Leafset::Offered::entered || entry == PrefixTable::Offered::filled) unchanged_ = 0;
  return leaf == Leafset::Offered::entered ? Learned::new_leaf : Learned::other;
}

void Ring::forget(const PeerId& peer) {
  // A lost entry of the prefix table does not start exchanges: its slot has another, and the next exchanges bring a third.
  table_.remove(peer);
  if (leafset_.remove(peer)) unchanged_ = 0;
  if (waiting_for_ == peer) waiting_for_.reset();
}

void Ring::grow_older() {
  leafset_.grow_older();
  table_.grow_older();
}

std::optional<PeerId> Ring::on_round(const Descriptor& self, std::span<const Descriptor> samples, Output& out) {
  const std::optional<PeerId> silent = std::exchange(waiting_for_, std::nullopt);
  const bool is_due = !is_quiet() || unchanged_ % config_.quiet_every == 0 || silent;
  ++unchanged_;
  if (!is_due) return silent;
  const Descriptor* partner = choose_partner(samples, silent.has_value());
  if (partner == nullptr) return silent;
  Message message;
  write(self, *message.mutable_ring()->mutable_self());
  recommend(partner->id, {samples, {}}, *message.mutable_ring());
  waiting_for_ = partner->id;
  if (asked_.size() >= kAsked) asked_.erase(asked_.begin());
  asked_.push_back(partner->id);
  out.sends.push_back({partner->id, contact_of(*partner), std::move(message)});
  return silent;
}

void Ring::on_request(const Descriptor& partner, const Descriptor& self, Known known, Output& out) {
  Message message;
  write(self, *message.mutable_ring_reply()->mutable_self());
  recommend(partner.id, known, *message.mutable_ring_reply());
  out.sends.push_back({partner.id, contact_of(partner), std::move(message)});
}

bool Ring::on_reply(const PeerId& partner) {
  const auto asked = std::ranges::find(asked_, partner);
  if (asked == asked_.end()) return false;
  asked_.erase(asked);
  if (waiting_for_ == partner) waiting_for_.reset();
  return true;
}

const Descriptor* Ring::stale_leaf() {
  const std::span<const Descriptor> leaves = leafset_.members();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Descriptor& leaf = leaves[next_leaf_++ % leaves.size()];
    if (leaf.age > config_.hearsay) return &leaf;
  }
  return nullptr;
}

const Descriptor* Ring::choose_partner(std::span<const Descriptor> samples, bool is_cautious) {
  const std::span<const Descriptor> leaves = leafset_.members();
  std::vector<const Descriptor*> partners;
  const auto consider = [&](const Descriptor& peer) {
    if (can_be_dialled(peer) && !contacts_.is_suspected(peer.id)) partners.push_back(&peer);
  };
  const auto consider_heard = [&](std::span<const Descriptor> peers) {
    for (const Descriptor& peer : peers)
      if (contacts_.was_seen(peer.id)) consider(peer);
  };
  if (is_cautious) consider_heard(leaves);
  if (is_cautious && partners.empty()) {
    GW_REACHED("ring: no leaf was ever heard");
    consider_heard(samples);
  }
  if (partners.empty()) {
    const std::size_t near = std::max<std::size_t>(leafset_.half() / 2, 1);
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (i < near || i + near >= leaves.size()) consider(leaves[i]);
  }
  if (partners.empty()) {
    GW_REACHED("ring: nobody near can be asked");
    for (const Descriptor& leaf : leaves) consider(leaf);
    for (const Descriptor& sample : samples) consider(sample);
  }
  return partners.empty() ? nullptr : partners[rng_.below(partners.size())];
}

// All known peers except this one, the partner and those the partner knows too, each once, ordered by the way from the partner going up.
std::vector<const Descriptor*> Ring::candidates_for(const PeerId& partner, Known known) const {
  struct Candidate {
    RingPosition way;
    const Descriptor* peer;
    enum : std::uint8_t { ours, theirs } whose;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(leafset_.members().size() + table_.entries().size() + known.samples.size() + known.partners.size());
  const RingPosition start = position_of(partner.hash);
  const auto consider = [&](const Descriptor& peer) {
    if (peer.id != partner && peer.id != self_) candidates.push_back({clockwise(start, position_of(peer.id.hash)), &peer, Candidate::ours});
  };
  for (const Descriptor& leaf : leafset_.members()) consider(leaf);
  for (const PrefixTable::Entry& entry : table_.entries()) consider(entry.peer);
  for (const Descriptor& sample : known.samples) consider(sample);
  for (const Descriptor& peer : known.partners)
    candidates.push_back({clockwise(start, position_of(peer.id.hash)), &peer, Candidate::theirs});
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.way != b.way) return a.way < b.way;
    if (a.peer->id != b.peer->id) return a.peer->id < b.peer->id;
    return a.peer->incarnation != b.peer->incarnation ? a.peer->incarnation > b.peer->incarnation : a.whose > b.whose;
  });
  std::vector<const Descriptor*> peers;
  peers.reserve(candidates.size());
  const Descriptor* last = nullptr;
  for (const Candidate& candidate : candidates) {
    const bool is_again = last != nullptr && last->id == candidate.peer->id;  // and older, or the partner has it
    last = candidate.peer;
    if (!is_again && candidate.whose == Candidate::ours && !contacts_.is_suspected(last->id)) peers.push_back(last);
  }
  return peers;
}

void Ring::recommend(const PeerId& partner, Known known, Message::Gossip& gossip) {
  std::vector<const Descriptor*> candidates = candidates_for(partner, known);
  const auto add = [&](const Descriptor& peer) {
    if (static_cast<std::size_t>(gossip.others_size()) < config_.most) write(peer, *gossip.add_others());
  };
  // Candidates for the receiver's leafset: the first and the last.
  const std::size_t half = leafset_.half();
  const std::size_t before = std::min(half, candidates.size());
  const std::size_t after = std::min(half, candidates.size() - before);
  for (std::size_t i = 0; i < before; ++i) add(*candidates[i]);
  for (std::size_t i = candidates.size() - after; i < candidates.size(); ++i) add(*candidates[i]);
  // Candidates for the receiver's table: of the rest, in random order, those for slots that have got none yet before the second ones.
  const std::span<const Descriptor*> rest(candidates.data() + before, candidates.size() - before - after);
  for (std::size_t i = rest.size(); i > 1; --i) std::swap(rest[i - 1], rest[rng_.below(i)]);
  std::array<std::uint8_t, PrefixTable::kRows * 16> sent{};
  for (std::uint8_t turn = 0; turn < PrefixTable::kPerSlot; ++turn) {
    for (const Descriptor*& peer : rest) {
      if (peer == nullptr || !can_be_dialled(*peer)) continue;
      const std::uint16_t slot = PrefixTable::slot_of(partner, peer->id.hash);
      if (slot >= sent.size() || sent[slot] > turn) continue;
      ++sent[slot];
      add(*std::exchange(peer, nullptr));
    }
  }
}

}  // namespace gw::overlay
