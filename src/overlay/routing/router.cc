#include "overlay/routing/router.h"

#include <algorithm>
#include <iterator>

#include "base/reached.h"
#include "overlay/failures/ping_relay.h"

namespace gw::overlay {

const Descriptor* Router::send(Time now, Message::Route request, std::vector<PeerId> avoid, Output& out) {
  const Descriptor* hop = nullptr;
  if (request.hops() < config_.hops) hop = next_hop(wire::hash_of(request.key()), self_, ring_, contacts_, avoid);
  if (hop == nullptr) {
    arrived_.push_back(std::move(request));
    return nullptr;
  }
  Message message;
  *message.mutable_route() = request;
  message.mutable_route()->set_hops(request.hops() + 1);
  out.sends.push_back({hop->id, contact_of(*hop), std::move(message)});
  if (flights_.size() < config_.watched && avoid.size() < config_.ways) {
    out.sends.push_back({hop->id, contact_of(*hop), make_ping(rng_.next(), nullptr)});
    flights_.push_back({std::move(request), hop->id, std::move(avoid), now + config_.patience});
  }
  return hop;
}

void Router::on_seen(const PeerId& peer) {
  std::erase_if(flights_, [&](const Flight& flight) { return flight.to == peer; });
}

void Router::on_unreachable(Time now, const PeerId& peer, Output& out) {
  std::vector<Flight> again;
  std::erase_if(flights_, [&](Flight& flight) {
    if (flight.to != peer) return false;
    again.push_back(std::move(flight));
    return true;
  });
  for (Flight& flight : again) take_another_way(now, std::move(flight), out);
}

void Router::on_tick(Time now, Output& out) {
  std::vector<Flight> again;
  const auto due = std::ranges::find_if(flights_, [&](const Flight& flight) { return flight.until > now; });
  std::move(flights_.begin(), due, std::back_inserter(again));
  flights_.erase(flights_.begin(), due);
  for (Flight& flight : again) {
    silent_.push_back(flight.to);
    take_another_way(now, std::move(flight), out);
  }
}

void Router::take_another_way(Time now, Flight flight, Output& out) {
  GW_REACHED("router: a hop was silent");
  flight.avoid.push_back(flight.to);
  send(now, std::move(flight.request), std::move(flight.avoid), out);
}

Time Router::next_deadline() const { return flights_.empty() ? kNever : flights_.front().until; }

}  // namespace gw::overlay
