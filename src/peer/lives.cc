#include "peer/lives.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::peer {

Lives::Heard Lives::on_seen(Time now, const PeerId& from, std::uint64_t boot) {
  const auto found = lives_.find(from);
  if (found == lives_.end()) {
    if (lives_.size() >= config_.peers)
      lives_.erase(std::ranges::min_element(lives_, {}, [](const auto& one) { return one.second.heard; }));
    lives_[from] = {boot, now};
    return Heard::same_life;
  }
  Life& life = found->second;
  if (boot < life.boot) {
    GW_REACHED("lives: a message of an older life");
    return Heard::old_life;
  }
  const bool reborn = boot > life.boot;
  life = {boot, now};
  return reborn ? Heard::new_life : Heard::same_life;
}

}  // namespace gw::peer
