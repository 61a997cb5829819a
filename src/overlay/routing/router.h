#pragma once
// Requests on their way to a key.

#include <vector>

#include "base/rng.h"
#include "overlay/output.h"
#include "overlay/routing/routing.h"

namespace gw::overlay {

// Forwards requests by next_hop(), own ones and those of others, and checks that the next hop is alive: a ping goes with each request, and
// if the hop sends nothing soon the request takes another way. Otherwise one dead leaf would make a part of the keys unreachable until the
// failure detector finds it.
//
// Invariants: a request makes at most Config::hops hops under any state of any table; it normally arrives at one peer, in bad cases at none
// or at several, and the asking peer takes the first answer. Limits: Config; beyond them requests are forwarded without the check. A
// machine without I/O or threads.
//
// Difference from Pastry: acknowledgement by hop, as FreePastry has it, but by any sign of life.
class Router {
 public:
  struct Config {
    std::uint32_t hops = 31;
    Time patience = std::chrono::milliseconds(1500);  // until a hop must be heard
    std::size_t watched = 256;
    std::size_t ways = 4;  // hops that are tried in vain, for one request at one peer
  };

  Router(const Config& config, const Descriptor& self, const Ring& ring, const Contacts& contacts, Rng rng)
      : config_(config), self_(self), ring_(ring), contacts_(contacts), rng_(rng) {}

  // Passes the request on, not to a hop in `avoid`. Returns the next hop; nullptr: the request has arrived.
  const Descriptor* send(Time now, Message::Route request, std::vector<PeerId> avoid, Output& out);

  void on_seen(const PeerId& peer);
  void on_unreachable(Time now, const PeerId& peer, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  // Requests for which this peer is the root.
  std::vector<Message::Route> take_arrived() { return std::exchange(arrived_, {}); }
  // Hops of which nothing was heard.
  std::vector<PeerId> take_silent() { return std::exchange(silent_, {}); }
  std::size_t size() const { return flights_.size(); }

 private:
  struct Flight {
    Message::Route request;  // as it was before this hop
    PeerId to;
    std::vector<PeerId> avoid;
    Time until;
  };

  void take_another_way(Time now, Flight flight, Output& out);

  const Config config_;
  const Descriptor& self_;
  const Ring& ring_;
  const Contacts& contacts_;
  Rng rng_;
  std::vector<Flight> flights_;  // by time
  std::vector<Message::Route> arrived_;
  std::vector<PeerId> silent_;
};

}  // namespace gw::overlay
