#include "overlay/rumours.h"

#include <algorithm>
#include <vector>

#include "base/reached.h"

namespace gw::overlay {

void Rumours::add(const PeerId& peer, const Incarnation& incarnation, unsigned times) {
  const auto known = rumours_.find(peer);
  if (known != rumours_.end()) {
    if (known->second.incarnation < incarnation) known->second = {incarnation, times};
    return;
  }
  if (rumours_.size() >= config_.most) {
    GW_REACHED("rumours: one made room for another");
    rumours_.erase(std::ranges::min_element(rumours_, {}, [](const auto& rumour) { return rumour.second.left; }));
  }
  rumours_.emplace(peer, Rumour{incarnation, times});
}

void Rumours::add_to(Message& message) {
  if (rumours_.empty()) return;
  std::vector<std::pair<const PeerId, Rumour>*> order;
  for (auto& rumour : rumours_)
    if (rumour.second.left > 0) order.push_back(&rumour);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return a->second.left != b->second.left ? a->second.left > b->second.left : a->first < b->first;
  });
  if (order.size() > static_cast<std::size_t>(config_.per_message)) order.resize(static_cast<std::size_t>(config_.per_message));
  for (auto* rumour : order) {
    --rumour->second.left;
    Message::Rumour& told = *message.add_rumours();
    told.set_peer(rumour->first.bytes());
    told.set_boot(rumour->second.incarnation.boot);
    told.set_stamp(rumour->second.incarnation.stamp);
  }
}

bool Rumours::has_news() const {
  return std::ranges::any_of(rumours_, [](const auto& rumour) { return rumour.second.left > 0; });
}

}  // namespace gw::overlay
