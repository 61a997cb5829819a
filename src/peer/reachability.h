#pragma once
// Whether other peers can dial this peer, and through which peers they can reach it if not.
//
// The problem. A peer behind a NAT or firewall does not know its public address, nor whether a dial from outside arrives. A wrong contact
// makes every other peer wait for dials that fail. Peers that answer questions about this one may lie, may be in the same private network,
// or may have a bad connection at the moment.
//
// Ways that were rejected. Believing the configured address: it is often a private one. A hub that is set up by hand and tests a machine
// once (SmartSockets): it has to be operated, and networks change; here any three connected peers do, repeatedly. Dialling an address that
// the asking peer names: a peer could be made to dial a third party; the dial goes to the source address of the connection instead.
//
// Invariants.
// 1. No peer is believed about itself, and no single peer about this one: the majority of the asked peers decides (up to Config::ask), and
//    a single failed dial-back never makes this peer outbound.
// 2. A published address was observed by a peer that has reached it, or is the configured one. A loopback address is never taken from an
//    observation.
// 3. A peer that is not confirmed open names up to Config::anchors anchors: open, connected peers, longest connected first. A lost anchor
// is replaced at once.
// 4. A dial for another peer goes to the address its connection comes from, at most once per Config::errand_pause and peer.
// 5. A changed contact is published once (take_change()).

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "wire/contact.h"

namespace gw::peer {

using job::Actions;
using job::PeerId;
using job::Time;
using wire::Contact;

// How a connection was made.
enum class Link : std::uint8_t {
  dialled,   // this side dialled the address that the other side publishes
  accepted,  // the other side dialled
  reversed,  // one side dialled because the other asked it to, through an anchor
  relayed,   // through a relay, at the wish of this side
  carried,   // through a relay, at the wish of the other side
};
inline bool is_relayed(Link link) { return link == Link::relayed || link == Link::carried; }

// Asks connected peers to dial this one and publishes the result as its contact; docs/design/006-connectivity.md, "Knowing oneself".
// Limits: Config; dials for others are limited in number and rate. A machine without I/O or threads.
class Reachability {
 public:
  enum class Address : std::uint8_t { observed, given };  // given: the user has configured it, and it is published unchanged
  struct Config {
    std::string address;  // where this peer listens, as far as it knows; empty: nowhere
    Address kind = Address::observed;
    std::size_t ask = 3;
    std::size_t anchors = 3;
    std::size_t links = 4096;  // connections that are remembered
    Time soon = std::chrono::milliseconds(200);
    Time patience = std::chrono::seconds(5);
    Time retry_after = std::chrono::seconds(5);  // after a tie, and after the first negative result; doubles with each further one
    Time every = std::chrono::minutes(10);
    std::size_t errands = 16;                     // dials for others at once
    Time errand_pause = std::chrono::seconds(1);  // between two for the same peer
    std::size_t in_vain = 3;                      // open peers reached by relay only, after which this peer publishes relay_only
  };
  // The contact that a peer publishes.
  using ContactOf = std::function<Contact(const PeerId&)>;

  Reachability(Config config, ContactOf contact_of, Rng rng);

  void on_connected(Time now, const PeerId& peer, Link link);
  void on_disconnected(Time now, const PeerId& peer);
  // A peer asks to be dialled; this peer has dialled it; another peer has dialled this one.
  void on_dial_back(Time now, const PeerId& from, std::uint16_t port, Actions& out);
  void on_dialled(const PeerId& peer, const job::PeerMessage::DialedBack& result, Actions& out);
  void on_answer(Time now, const PeerId& from, const job::PeerMessage::DialedBack& answer);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

  const Contact& contact() const { return contact_; }
  // The answers of the peers asked last.
  struct Verdict {
    std::size_t reached = 0, missed = 0;
  };
  const Verdict& verdict() const { return verdict_; }
  // The new contact of this peer, if it has changed since the last call.
  std::optional<Contact> take_change();

 private:
  struct Linked {
    Link link;
    Time since;
    Time asked{0};  // when it was last asked to dial back
  };
  struct Answer {
    std::string address;
    bool reached;
  };

  void begin_check(Time now, Actions& out);
  void decide(Time now);
  std::string best_of(const std::map<std::string, std::size_t>& seen) const;
  void confirm_reach(Reach reach, const std::string& address);
  std::vector<PeerId> askable() const;
  std::vector<wire::Anchor> choose_anchors() const;
  void renew_contact(Time now);

  const Config config_;
  const ContactOf contact_of_;
  Rng rng_;
  const std::uint16_t port_;
  Contact contact_;
  Verdict verdict_;
  bool changed_ = false;
  Reach reach_ = Reach::unknown;
  bool confirmed_ = false;  // by dial-backs
  std::string address_;
  std::map<PeerId, Linked> links_;
  std::map<PeerId, std::optional<Answer>> asked_;
  std::size_t last_asked_ = 0;
  std::size_t in_vain_ = 0;
  std::size_t noes_ = 0;  // failed dial-backs since the last success
  Time pause_;            // until the next check
  Time check_at_ = job::kNever;
  Time decide_at_ = job::kNever;
  Time review_at_ = job::kNever;    // of the anchors: a connected peer may have become open
  std::map<PeerId, Time> errands_;  // when the next dial for that peer may begin
  std::size_t errands_under_way_ = 0;
};

}  // namespace gw::peer
