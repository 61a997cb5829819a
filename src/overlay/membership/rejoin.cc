#include "overlay/membership/rejoin.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::overlay {
namespace {

constexpr std::size_t kMaxDialled = 64;

}  // namespace

void Rejoin::start(Time now, const std::vector<std::string>& remembered, Output& out) {
  remembered_.assign(remembered.begin(), remembered.begin() + static_cast<std::ptrdiff_t>(std::min(remembered.size(), config_.remembered)));
  next_ = now + config_.every;
  on_need(now, out);
}

void Rejoin::on_need(Time now, Output& out) {
  dial_some(now, configured_, out);
  dial_some(now, remembered_, out);
  dial_lost(now, out);
}

void Rejoin::on_tick(Time now, Output& out) {
  if (now < next_) return;
  next_ = now + config_.every / 2 + Time(rng_.below(static_cast<std::uint64_t>(config_.every.count())));
  if (!lost_.empty()) {
    dial_lost(now, out);
  } else if (!configured_.empty() && rng_.below(config_.configured_every) == 0) {
    dial(now, configured_[rng_.below(configured_.size())], out);
  }
}

void Rejoin::try_address(Time now, const std::string& address, Output& out) {
  const auto dialled = std::ranges::find(dialled_, address, &Dialled::address);
  if (dialled == dialled_.end() || dialled->until <= now) dial(now, address, out);
}

void Rejoin::on_lost(const std::string& address) {
  if (address.empty() || std::ranges::find(lost_, address, &Lost::address) != lost_.end()) return;
  if (lost_.size() < config_.lost) {
    lost_.push_back({address, 0});
  } else {
    lost_[rng_.below(lost_.size())] = {address, 0};
  }
}

void Rejoin::on_found(const std::string& address) {
  std::erase_if(lost_, [&](const Lost& lost) { return lost.address == address; });
}

bool Rejoin::on_connected(Time now, const std::string& address) {
  on_found(address);
  const auto dialled = std::ranges::find(dialled_, address, &Dialled::address);
  if (dialled == dialled_.end()) return false;
  const bool in_time = now < dialled->until;
  dialled_.erase(dialled);
  return in_time;
}

void Rejoin::dial(Time now, const std::string& address, Output& out) {
  if (address.empty() || address == own_) return;
  std::erase_if(dialled_, [&](const Dialled& dialled) { return dialled.until <= now || dialled.address == address; });
  if (dialled_.size() >= kMaxDialled) dialled_.erase(dialled_.begin());
  dialled_.push_back({address, now + config_.patience});
  out.dials.push_back({address});
}

void Rejoin::dial_some(Time now, const std::vector<std::string>& list, Output& out) {
  if (list.empty()) return;
  const std::size_t first = rng_.below(list.size());
  for (std::size_t i = 0; i < std::min(config_.at_once, list.size()); ++i) dial(now, list[(first + i) % list.size()], out);
}

void Rejoin::dial_lost(Time now, Output& out) {
  if (lost_.empty()) return;
  GW_REACHED("rejoin: a lost peer is tried again");
  const std::size_t index = rng_.below(lost_.size());
  dial(now, lost_[index].address, out);
  if (++lost_[index].tries >= config_.tries) lost_.erase(lost_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace gw::overlay
