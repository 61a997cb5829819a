#include "overlay/distance/ranging.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::overlay {

void Ranging::measure(Time now, const PeerId& peer, Output& out) {
  if (under_way_.size() >= config_.at_once || std::ranges::find(under_way_, peer, &UnderWay::peer) != under_way_.end()) return;
  ping(now, under_way_.emplace_back(UnderWay{.peer = peer}), out);
}

void Ranging::ping(Time now, UnderWay& one, Output& out) {
  one.number = rng_.next();
  one.sent = now;
  out.sends.emplace_back(Send{one.peer, {}, {}}).message.mutable_ping()->set_number(one.number);
}

void Ranging::on_pong(Time now, const PeerId& from, const Message::Ping& pong, Output& out) {
  const auto one = std::ranges::find(under_way_, from, &UnderWay::peer);
  if (one == under_way_.end() || one->number != pong.number()) return;
  // The first one may have waited for a connection.
  if (one->answered++ > 0) one->shortest = std::min(one->shortest, now - one->sent);
  one->coordinate = read(pong.coordinate());
  if (one->answered <= config_.pings) return ping(now, *one, out);
  finish(*one);
  under_way_.erase(one);
}

void Ranging::on_unreachable(const PeerId& peer) {
  std::erase_if(under_way_, [&](const UnderWay& one) { return one.peer == peer; });
}

void Ranging::on_tick(Time now) {
  std::erase_if(under_way_, [&](const UnderWay& one) {
    if (now - one.sent < config_.patience) return false;
    GW_REACHED("ranging: an answer is missing");
    finish(one);
    return true;
  });
}

Time Ranging::next_deadline() const {
  const auto next = std::ranges::min_element(under_way_, {}, &UnderWay::sent);
  return next == under_way_.end() ? kNever : next->sent + config_.patience;
}

std::vector<Ranging::Range> Ranging::take() { return std::exchange(ranges_, {}); }

void Ranging::finish(const UnderWay& one) {
  if (one.shortest != kNever) ranges_.push_back({one.peer, one.shortest, one.coordinate});
}

}  // namespace gw::overlay
