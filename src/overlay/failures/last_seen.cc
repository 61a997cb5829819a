#include "overlay/failures/last_seen.h"

#include <algorithm>

#include "base/near_search.h"
#include "overlay/routing/key_space.h"

namespace gw::overlay {
namespace {

// Ordered as the ids are.
std::uint64_t head_of(const PeerId& peer) { return static_cast<std::uint64_t>(position_of(peer.hash) >> 64); }

}  // namespace

std::size_t LastSeen::index_of(const PeerId& peer) const {
  const std::uint64_t wanted = head_of(peer);
  const auto guess = static_cast<std::size_t>((static_cast<unsigned __int128>(wanted) * heads_.size()) >> 64);  // ids are spread evenly
  const auto head = lower_bound_near(heads_, guess, wanted);
  auto index = static_cast<std::size_t>(head - heads_.begin());
  while (index < heads_.size() && entries_[index].peer < peer) ++index;  // ids that begin alike
  return index;
}

bool LastSeen::is_at(std::size_t index, const PeerId& peer) const { return index < entries_.size() && entries_[index].peer == peer; }

void LastSeen::remove_at(std::size_t index) {
  heads_.erase(heads_.begin() + static_cast<std::ptrdiff_t>(index));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool LastSeen::on_seen(Time now, const PeerId& peer) {
  const std::size_t index = index_of(peer);
  if (is_at(index, peer)) {
    entries_[index].at = now;
    return false;
  }
  heads_.insert(heads_.begin() + static_cast<std::ptrdiff_t>(index), head_of(peer));
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(index), {peer, now});
  if (entries_.size() > config_.peers)
    remove_at(static_cast<std::size_t>(std::ranges::min_element(entries_, {}, &Entry::at) - entries_.begin()));
  return true;
}

bool LastSeen::forget(const PeerId& peer) {
  const std::size_t index = index_of(peer);
  if (!is_at(index, peer)) return false;
  remove_at(index);
  return true;
}

Time LastSeen::last(const PeerId& peer) const {
  const std::size_t index = index_of(peer);
  return is_at(index, peer) ? entries_[index].at : kNever;
}

std::vector<PeerId> LastSeen::silent_since(Time when) const {
  std::vector<PeerId> silent;
  for (const Entry& entry : entries_)
    if (entry.at < when) silent.push_back(entry.peer);
  return silent;
}

}  // namespace gw::overlay
