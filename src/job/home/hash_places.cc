#include "job/home/hash_places.h"

#include <algorithm>
#include <utility>

#include "base/reached.h"

namespace gw::job {

HashPlaces::HashPlaces(const Config& config, const Hash256& manifest, std::uint32_t slots) : config_(config), manifest_(manifest) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) free_.insert(free_.end(), slot);
}

Hash256 HashPlaces::key_of(const Entry& entry) const {
  ByteWriter text;
  text.bytes(manifest_.bytes);
  text.u32(entry.slot);
  text.u32(entry.salt);
  return sha256(text.take());
}

std::uint32_t HashPlaces::pending() const {
  std::size_t count = free_.size() + again_.size() + looked_up_.size();
  for (const auto* peers : {&located_, &asked_})
    for (const auto& [peer, slots] : *peers) count += slots.size();
  return static_cast<std::uint32_t>(count);
}

std::vector<HashPlaces::Lookup> HashPlaces::next_lookups(std::uint32_t wanted) {
  std::size_t under_way = looked_up_.size();
  for (const auto* peers : {&located_, &asked_})
    for (const auto& [peer, slots] : *peers) under_way += slots.size();
  std::vector<Lookup> lookups;
  const auto look_up = [&](const Entry& entry) {
    looked_up_.emplace(entry.slot, entry.salt);
    lookups.push_back({entry.slot, key_of(entry)});
    ++under_way;
  };
  const std::size_t most = std::min<std::size_t>(wanted, config_.at_once);
  while (under_way < most && !again_.empty()) {
    const auto [slot, salt] = *again_.begin();
    again_.erase(again_.begin());
    look_up({slot, salt});
  }
  while (under_way < most && !free_.empty()) look_up({free_.extract(free_.begin()).value(), 0});
  return lookups;
}

void HashPlaces::take_next_salt(const Entry& entry) {
  if (entry.salt >= config_.salts) {
    GW_REACHED("home: a slot that is placed by hash was given up");
    return;
  }
  GW_REACHED("home: a slot took the next salt");
  again_.emplace(entry.slot, entry.salt + 1);
}

void HashPlaces::on_located(Time now, std::uint32_t slot, const std::optional<PeerId>& peer, bool usable) {
  const auto found = looked_up_.find(slot);
  if (found == looked_up_.end()) return;
  const Entry entry{slot, found->second};
  looked_up_.erase(found);
  if (!peer) return;
  if (!usable) return take_next_salt(entry);
  if (located_.empty()) located_since_ = now;
  located_[*peer].push_back(entry);
}

std::map<PeerId, std::uint32_t> HashPlaces::take_located(Time now) {
  std::map<PeerId, std::uint32_t> peers;
  if (!looked_up_.empty() && now < located_since_ + config_.patience) return peers;
  for (auto& [peer, slots] : std::exchange(located_, {})) {
    Slots& asked = asked_[peer];
    asked.insert(asked.end(), slots.begin(), slots.end());
    peers[peer] = static_cast<std::uint32_t>(asked.size());
  }
  return peers;
}

void HashPlaces::on_answer(const PeerId& peer, std::uint32_t slots) {
  const auto found = asked_.find(peer);
  if (found == asked_.end()) return;
  for (const Entry& entry : std::exchange(found->second, {})) {
    if (slots == 0) {
      take_next_salt(entry);
    } else {
      placed_[peer].push_back(entry);
      --slots;
    }
  }
  asked_.erase(peer);
}

void HashPlaces::give_up_silent() {
  while (!asked_.empty()) on_answer(PeerId(asked_.begin()->first), 0);
}

void HashPlaces::on_lost(const PeerId& peer) {
  const auto found = placed_.find(peer);
  if (found == placed_.end()) return;
  for (const Entry& entry : found->second) free_.insert(entry.slot);
  placed_.erase(found);
}

}  // namespace gw::job
