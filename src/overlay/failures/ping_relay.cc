#include "overlay/failures/ping_relay.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::overlay {

Message make_ping(std::uint64_t number, const Incarnation* suspected) {
  Message message;
  Message::Ping& ping = *message.mutable_ping();
  ping.set_number(number);
  if (suspected != nullptr) {
    ping.set_suspected_boot(suspected->boot);
    ping.set_suspected_stamp(suspected->stamp);
  }
  return message;
}

void PingRelay::on_ping_for(Time now, const PeerId& asker, const Message::PingFor& request, const Descriptor& about, std::uint64_t ping,
                            Output& out) {
  std::erase_if(relayed_pings_, [&](const RelayedPing& relayed) { return relayed.until <= now; });
  const auto of_asker = std::ranges::count(relayed_pings_, asker, &RelayedPing::asker);
  if (relayed_pings_.size() >= config_.most || static_cast<std::size_t>(of_asker) >= config_.per_asker || !rate_limit_.take(now)) {
    GW_REACHED("ping relay: too many errands");
    return;
  }
  relayed_pings_.push_back({asker, request.number(), about.id, about.incarnation, now + config_.patience});
  out.sends.push_back({about.id, contact_of(about), make_ping(ping, &about.incarnation)});
}

bool PingRelay::wants(const Descriptor& peer) const {
  return std::ranges::any_of(
      relayed_pings_, [&](const RelayedPing& relayed) { return relayed.about == peer.id && relayed.incarnation < peer.incarnation; });
}

void PingRelay::on_descriptor(const Descriptor& peer, Output& out) {
  std::erase_if(relayed_pings_, [&](const RelayedPing& relayed) {
    if (relayed.about != peer.id || relayed.incarnation >= peer.incarnation) return false;
    GW_REACHED("ping relay: it answered");
    Message message;
    Message::PingFor& answer = *message.mutable_pong_for();
    answer.set_number(relayed.number);
    answer.set_peer(peer.id.bytes());
    write(peer, *answer.mutable_self());
    out.sends.push_back({relayed.asker, {}, std::move(message)});  // it has just asked, so there is a connection
    return true;
  });
}

}  // namespace gw::overlay
