#include "overlay/heard.h"

#include <algorithm>

namespace gw::overlay {

bool Heard::on_heard(Time now, const PeerId& peer) {
  const auto place = std::ranges::lower_bound(entries_, peer, {}, &Entry::peer);
  if (place != entries_.end() && place->peer == peer) {
    place->at = now;
    return false;
  }
  entries_.insert(place, {peer, now});
  if (entries_.size() > config_.peers) entries_.erase(std::ranges::min_element(entries_, {}, &Entry::at));
  return true;
}

bool Heard::forget(const PeerId& peer) {
  const auto place = std::ranges::lower_bound(entries_, peer, {}, &Entry::peer);
  if (place == entries_.end() || place->peer != peer) return false;
  entries_.erase(place);
  return true;
}

Time Heard::last(const PeerId& peer) const {
  const auto place = std::ranges::lower_bound(entries_, peer, {}, &Entry::peer);
  return place != entries_.end() && place->peer == peer ? place->at : kNever;
}

}  // namespace gw::overlay
