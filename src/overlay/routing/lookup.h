#pragma once
// Lookups of keys: the requests of this peer and its answers to others.

#include <map>
#include <vector>

#include "overlay/per_peer_rate_limit.h"
#include "overlay/routing/placer.h"
#include "overlay/routing/router.h"

namespace gw::overlay {

// Asks who answers for a key, or who has slots free near it, and answers the same of others: `Router` brings a request to its root,
// `Placer` decides there, the answer comes back directly. A request of this peer's own is sent again by another first hop when no answer
// comes, and under another key (salt) when it is refused; in the end it is answered, if only by "not found".
//
// Invariants: every own request ends with exactly one Located; an answer is taken only for an open request, whose number cannot be guessed.
// Limits: Config; a request beyond them is answered with "not found" at once. A machine without I/O or threads.
//
// Difference from PAST: between two salts there is a pause that doubles, because slots become free.
class Lookup {
 public:
  struct Config {
    Time resend_after = std::chrono::seconds(4);  // no answer: by another first hop
    int tries = 3;                                // for each salt
    std::uint32_t salts = 3;                      // besides the key itself
    Time pause = std::chrono::seconds(1);         // before the first other salt
    std::size_t requests = 256;
    PerPeerRateLimit::Config others{.period = std::chrono::seconds(1), .per_peer = 32, .peers = 256};  // whose requests come by
    Router::Config router;
    Placer::Config placer;
  };

  // `self` is kept: the descriptor as it is at any moment.
  Lookup(const Config& config, const Descriptor& self, const Signer& signer, const Ring& ring, const Contacts& contacts, Rng rng);

  // Returns the number that the Located will have. `demand` 0: only who answers for the key.
  std::uint64_t ask(Time now, const Hash256& key, std::uint32_t demand, Output& out);

  // Whether a request that this peer sends on is served: not if too many come. Asked before anything in it is read.
  bool admits(Time now, const PeerId& from) { return rate_limit_.admit(now, from); }
  // REQUIRES of both: the descriptor in it is genuine.
  void on_route(Time now, const Message::Route& request, Output& out);
  // Whether an answer of this number is expected: only then its signature is worth checking.
  bool waits_for(std::uint64_t number) const { return requests_.contains(number); }
  void on_found(Time now, const Message::Found& answer, const Descriptor& host, Output& out);
  void on_seen(const PeerId& peer) { router_.on_seen(peer); }
  void on_unreachable(Time now, const PeerId& peer, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  // Hops of which nothing was heard.
  std::vector<PeerId> take_silent() { return router_.take_silent(); }
  std::size_t size() const { return requests_.size(); }

 private:
  struct Request {
    Hash256 key;
    std::uint32_t demand;
    std::uint32_t salt = 0;
    int tries = 0;                   // of this salt
    std::vector<PeerId> first_hops;  // that brought no answer
    Time until{0};                   // the next step
  };

  void send(Time now, std::uint64_t number, Output& out);
  void take_another_salt(Time now, std::uint64_t number, Output& out);
  void end(std::uint64_t number, Located located, Output& out);
  void answer_arrived(Time now, Output& out);
  void decide(Time now, const Message::Route& request, Output& out);
  void answer(Time now, const Message::Route& request, const Message::Found& found, Output& out);

  const Config config_;
  const Descriptor& self_;
  const Signer& signer_;
  Rng rng_;
  PerPeerRateLimit rate_limit_;
  Router router_;
  Placer placer_;
  std::map<std::uint64_t, Request> requests_;
};

}  // namespace gw::overlay
