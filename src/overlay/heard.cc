#include "overlay/heard.h"

#include <algorithm>

#include "base/near_search.h"
#include "overlay/key_space.h"

namespace gw::overlay {
namespace {

// Ordered as the ids are.
std::uint64_t head_of(const PeerId& peer) { return static_cast<std::uint64_t>(place_of(peer.hash) >> 64); }

}  // namespace

std::size_t Heard::seat(const PeerId& peer) const {
  const std::uint64_t wanted = head_of(peer);
  const auto guess = static_cast<std::size_t>((static_cast<unsigned __int128>(wanted) * heads_.size()) >> 64);  // ids are spread evenly
  const auto head = lower_bound_near(heads_, guess, wanted);
  auto seat = static_cast<std::size_t>(head - heads_.begin());
  while (seat < heads_.size() && entries_[seat].peer < peer) ++seat;  // ids that begin alike
  return seat;
}

bool Heard::is_at(std::size_t seat, const PeerId& peer) const { return seat < entries_.size() && entries_[seat].peer == peer; }

void Heard::remove_at(std::size_t seat) {
  heads_.erase(heads_.begin() + static_cast<std::ptrdiff_t>(seat));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(seat));
}

bool Heard::on_heard(Time now, const PeerId& peer) {
  const std::size_t place = seat(peer);
  if (is_at(place, peer)) {
    entries_[place].at = now;
    return false;
  }
  heads_.insert(heads_.begin() + static_cast<std::ptrdiff_t>(place), head_of(peer));
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), {peer, now});
  if (entries_.size() > config_.peers)
    remove_at(static_cast<std::size_t>(std::ranges::min_element(entries_, {}, &Entry::at) - entries_.begin()));
  return true;
}

bool Heard::forget(const PeerId& peer) {
  const std::size_t place = seat(peer);
  if (!is_at(place, peer)) return false;
  remove_at(place);
  return true;
}

Time Heard::last(const PeerId& peer) const {
  const std::size_t place = seat(peer);
  return is_at(place, peer) ? entries_[place].at : kNever;
}

std::vector<PeerId> Heard::silent_since(Time when) const {
  std::vector<PeerId> silent;
  for (const Entry& entry : entries_)
    if (entry.at < when) silent.push_back(entry.peer);
  return silent;
}

}  // namespace gw::overlay
