#include "overlay/tables/sampler.h"

#include <algorithm>
#include <numeric>

#include "base/reached.h"

namespace gw::overlay {
namespace {

constexpr std::size_t kMaxAsked = 8;
constexpr std::size_t kReferredTo = 2;

}  // namespace

Sampler::Need Sampler::on_round(Time now, Time round, const Descriptor& own, Output& out) {
  patience_ = std::min(round / 2, config_.patience);
  const Descriptor* target = sample();
  if (target == nullptr) return fall_back(now, own, out);
  attempt(now, Tier::cache, *target, own, out);
  return Need::nothing;
}

Sampler::Need Sampler::on_tick(Time now, const Descriptor& own, Output& out) {
  if (!attempt_ || now < attempt_->deadline) return Need::nothing;
  return fall_back(now, own, out);
}

Sampler::Need Sampler::on_unreachable(Time now, const PeerId& peer, const Descriptor& own, Output& out) {
  if (!attempt_ || attempt_->peer != peer) return Need::nothing;
  return fall_back(now, own, out);
}

// The attempt of this round, if there was one, has failed: the peer stays where it is.
Sampler::Need Sampler::fall_back(Time now, const Descriptor& own, Output& out) {
  const bool tried = attempt_ && attempt_->tier == Tier::fallback;
  attempt_.reset();
  const Descriptor* target = tried ? nullptr : any_of(fallback_);
  if (target == nullptr) {
    GW_REACHED("sampler: nobody has answered");
    return Need::bootstrap;
  }
  GW_REACHED("sampler: fell back");
  attempt(now, Tier::fallback, *target, own, out);
  return Need::nothing;
}

void Sampler::attempt(Time now, Tier tier, const Descriptor& target, const Descriptor& own, Output& out) {
  attempt_ = Attempt{target.id, tier, now + patience_};
  ask(now, target.id, contact_of(target), own, out);
}

void Sampler::ask(Time now, const PeerId& peer, Contact contact, const Descriptor& own, Output& out) {
  std::erase_if(asked_, [&](const Asked& asked) { return asked.until <= now || asked.peer == peer; });
  if (asked_.size() >= kMaxAsked) asked_.erase(asked_.begin());
  asked_.push_back({peer, now + config_.late});
  Send& send = out.sends.emplace_back(Send{peer, std::move(contact), {}});
  fill(peer, config_.sent, own, *send.message.mutable_gossip());
}

bool Sampler::answer(Time now, const PeerId& from, const Descriptor& own, Output& out) {
  const Turn turn = admit(now, from);
  if (turn == Turn::refused) return false;
  Send& send = out.sends.emplace_back(Send{from, {}, {}});
  fill(from, turn == Turn::answered ? config_.sent : kReferredTo, own, *send.message.mutable_gossip_reply());
  return turn == Turn::answered;
}

bool Sampler::waits_for(Time now, const PeerId& peer) const {
  const auto asked = std::ranges::find(asked_, peer, &Asked::peer);
  return asked != asked_.end() && asked->until > now;
}

bool Sampler::on_answer(Time now, const Descriptor& from) {
  if (!waits_for(now, from.id)) return false;
  std::erase_if(asked_, [&](const Asked& asked) { return asked.peer == from.id; });
  if (attempt_ && attempt_->peer == from.id) attempt_.reset();

  if (!fallback_.contains(from.id)) {
    if (fallback_.size() >= config_.fallback) fallback_.remove_at(rng_.below(fallback_.size()));
    fallback_.add(from);
  } else {
    fallback_.renew(from);
  }
  // Nine tenths: rounds are jittered by a tenth.
  if (now - aged_at_ >= config_.period * 9 / 10) {
    aged_at_ = now;
    cache_.grow_older(config_.max_age);
  }
  return true;
}

bool Sampler::wants(const Descriptor& descriptor) const {
  if (descriptor.id == self_ || descriptor.age > config_.max_age) return false;
  const Descriptor* known = cache_.find(descriptor.id);
  return known == nullptr || newer(descriptor, *known);
}

void Sampler::offer(const Descriptor& descriptor) {
  if (descriptor.id == self_ || descriptor.age > config_.max_age) return;
  const Descriptor* known = cache_.find(descriptor.id);
  if (known != nullptr && !newer(descriptor, *known)) return;
  fallback_.renew(descriptor);
  if (known != nullptr) {
    cache_.renew(descriptor);
    return;
  }
  // Merging, then dropping at random: the newcomer is as likely to go as any other.
  if (cache_.size() >= config_.cache) {
    const std::size_t victim = rng_.below(cache_.size() + 1);
    if (victim == cache_.size()) return;
    cache_.remove_at(victim);
  }
  cache_.add(descriptor);
}

void Sampler::remove(const PeerId& peer) {
  cache_.remove(peer);
  fallback_.remove(peer);
}

const Descriptor* Sampler::find(const PeerId& peer) const {
  const Descriptor* cached = cache_.find(peer);
  const Descriptor* kept = fallback_.find(peer);
  if (cached == nullptr || (kept != nullptr && newer(*kept, *cached))) return kept;
  return cached;
}

std::vector<Descriptor> Sampler::samples(std::size_t count) {
  std::vector<Descriptor> list;
  for (const std::size_t index : choose(count)) list.push_back(cache_[index]);
  return list;
}

const Descriptor* Sampler::any_of(const DescriptorSet& descriptors) {
  return descriptors.empty() ? nullptr : &descriptors[rng_.below(descriptors.size())];
}

void Sampler::fill(const PeerId& receiver, std::size_t count, const Descriptor& own, Message::Gossip& gossip) {
  write(own, *gossip.mutable_self());
  for (const std::size_t index : choose(count))
    if (cache_[index].id != receiver) write(cache_[index], *gossip.add_others());
}

// The first places of a shuffle of the whole cache.
std::vector<std::size_t> Sampler::choose(std::size_t count) {
  std::vector<std::size_t> indexes(cache_.size());
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  count = std::min(count, indexes.size());
  for (std::size_t i = 0; i < count; ++i) std::swap(indexes[i], indexes[i + rng_.below(indexes.size() - i)]);
  indexes.resize(count);
  return indexes;
}

Sampler::Turn Sampler::admit(Time now, const PeerId& from) {
  if (now - answered_from_ >= config_.answer_gap) {
    answered_.clear();
    answered_from_ = now;
  }
  const auto place = std::ranges::lower_bound(answered_, from);
  const std::size_t before = answered_.size();
  if (before >= config_.answers + config_.referrals || (place != answered_.end() && *place == from)) {
    GW_REACHED("sampler: too many questions");
    return Turn::refused;
  }
  answered_.insert(place, from);
  return before < config_.answers ? Turn::answered : Turn::referred;
}

}  // namespace gw::overlay
