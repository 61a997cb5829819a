#include "fabric.h"

#include <algorithm>

namespace gw::network_switch {
namespace {

constexpr std::size_t kHeader = 14;  // of Ethernet: receiver, sender, type
constexpr std::size_t kMaxCards = 4096;

}  // namespace

Fabric::Port Fabric::add_port() { return ports_++; }

void Fabric::on_frame(Time now, Port from, Bytes frame) {
  if (frame.size() < kHeader) return;
  Card receiver, sender;
  std::copy_n(frame.begin(), receiver.size(), receiver.begin());
  std::copy_n(frame.begin() + 6, sender.size(), sender.begin());
  if (where_.size() < kMaxCards || where_.contains(sender)) where_[sender] = from;
  const auto shared = std::make_shared<const Bytes>(std::move(frame));
  const auto known = where_.find(receiver);
  if (known != where_.end()) return carry(now, from, known->second, shared);
  for (Port to = 0; to < ports_; ++to)
    if (to != from) carry(now, from, to, shared);
}

void Fabric::carry(Time now, Port from, Port to, const std::shared_ptr<const Bytes>& frame) {
  const Link& link = links_[{from, to}];
  if (from == to || under_way_.size() >= kMaxUnderWay || static_cast<double>(rng_.below(1'000'000)) < link.loss * 1e6) return;
  const auto jitter = std::chrono::microseconds(rng_.below(static_cast<std::uint64_t>(link.jitter.count()) + 1));
  Time& last = last_arrival_[{from, to}];
  last = std::max(last, now + link.delay + jitter);
  under_way_.push({last, next_order_++, {to, frame}});
}

std::optional<Fabric::Arrival> Fabric::take(Time now) {
  if (under_way_.empty() || under_way_.top().at > now) return std::nullopt;
  Arrival arrival = under_way_.top().arrival;
  under_way_.pop();
  return arrival;
}

}  // namespace gw::network_switch
