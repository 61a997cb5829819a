#include "peer/boot_numbers.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::peer {

BootNumbers::Change BootNumbers::on_seen(Time now, const PeerId& from, std::uint64_t boot) {
  const auto found = boot_numbers_.find(from);
  if (found == boot_numbers_.end()) {
    if (boot_numbers_.size() >= config_.peers)
      boot_numbers_.erase(std::ranges::min_element(boot_numbers_, {}, [](const auto& one) { return one.second.last_seen; }));
    boot_numbers_[from] = {boot, now};
    return Change::same;
  }
  Entry& entry = found->second;
  if (boot < entry.boot) {
    GW_REACHED("boot numbers: a message of an older boot");
    return Change::older;
  }
  const bool reborn = boot > entry.boot;
  entry = {boot, now};
  return reborn ? Change::newer : Change::same;
}

}  // namespace gw::peer
