#include "overlay/tables/prefix_table.h"

#include <algorithm>
#include <limits>

#include "overlay/routing/key_space.h"

namespace gw::overlay {

namespace {

// Ids that agree in more digits than the table has rows: the leafset has them.
bool is_beyond(std::uint16_t slot) { return slot >= PrefixTable::kRows * 16; }

}  // namespace

std::uint16_t PrefixTable::slot_of(const PeerId& owner, const Hash256& peer) {
  const unsigned row = common_digits(owner.hash, peer);
  GW_DCHECK(row < kDigits);
  return static_cast<std::uint16_t>(row * 16 + digit(peer, row));
}

std::span<const PrefixTable::Entry> PrefixTable::slot(std::uint16_t number) const {
  const auto range = std::ranges::equal_range(slots_, number);
  return {entries_.data() + (range.begin() - slots_.begin()), range.size()};
}

std::span<const PrefixTable::Entry> PrefixTable::next(const Hash256& key) const { return slot(slot_of(self_, key)); }

const Descriptor* PrefixTable::find(const PeerId& peer) const {
  if (peer == self_) return nullptr;
  const std::span<const Entry> there = slot(slot_of(self_, peer.hash));
  const auto found = std::ranges::find(there, peer, [](const Entry& entry) { return entry.peer.id; });
  return found != there.end() ? &found->peer : nullptr;
}

bool PrefixTable::wants(const Descriptor& peer, float distance) const {
  if (peer.id == self_) return false;
  const std::uint16_t number = slot_of(self_, peer.id.hash);
  if (is_beyond(number)) return false;
  const std::span<const Entry> there = slot(number);
  for (const Entry& entry : there)
    if (entry.peer.id == peer.id) return entry.peer.incarnation < peer.incarnation;
  if (!can_be_dialled(peer)) return false;
  return there.size() < kPerSlot || distance < there.back().distance;
}

PrefixTable::Offered PrefixTable::offer(const Descriptor& peer, float distance) {
  if (!wants(peer, distance)) return Offered::ignored;
  const std::uint16_t number = slot_of(self_, peer.id.hash);
  const std::span<const Entry> there = slot(number);
  const auto first = entries_.begin() + (there.data() - entries_.data());
  const auto last = first + static_cast<std::ptrdiff_t>(there.size());
  if (const auto known = std::find_if(first, last, [&](const Entry& entry) { return entry.peer.id == peer.id; }); known != last) {
    if (!can_be_dialled(peer)) {  // not any more, so it leaves its slot
      remove_at(static_cast<std::size_t>(known - entries_.begin()));
      return Offered::renewed;
    }
    *known = {peer, number, distance};
    std::ranges::sort(first, last, {}, &Entry::distance);
    return Offered::renewed;
  }
  const std::size_t others = there.size();
  const auto index = static_cast<std::size_t>(first - entries_.begin());
  entries_.insert(std::ranges::upper_bound(first, last, distance, {}, &Entry::distance), {peer, number, distance});
  slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(index), number);
  if (others >= kPerSlot) remove_at(index + others);
  return others == 0 ? Offered::filled : Offered::added;
}

void PrefixTable::remove_at(std::size_t index) {
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(index));
}

void PrefixTable::grow_older() {
  for (Entry& entry : entries_)
    if (entry.peer.age < std::numeric_limits<std::uint16_t>::max()) ++entry.peer.age;
}

bool PrefixTable::remove(const PeerId& peer) {
  if (peer == self_) return false;
  const std::span<const Entry> there = slot(slot_of(self_, peer.hash));
  const auto found = std::ranges::find(there, peer, [](const Entry& entry) { return entry.peer.id; });
  if (found == there.end()) return false;
  remove_at(static_cast<std::size_t>(&*found - entries_.data()));
  return true;
}

}  // namespace gw::overlay
