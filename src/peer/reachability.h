#pragma once
// Whether others can dial this peer, and whom they can ask if not.

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

// How a connection came about.
enum class Link : std::uint8_t {
  dialled,   // from here, at the address that the other side names
  accepted,  // the other side has dialled
  reversed,  // one side has dialled because the other had it asked to
  relayed,   // because this side wanted it
  carried,   // relayed, because the other side did
};
inline bool is_relayed(Link link) { return link == Link::relayed || link == Link::carried; }

// Has this peer dialled by others, and says accordingly where it is; docs/design/006-connectivity.md. No peer is believed about itself,
// and none about this one: what most of those asked say counts. A peer that nobody could dial names anchors, open peers that it stays
// connected to; one that is lost is replaced at once.
//
// Difference from SmartSockets: there a hub is set up by hand and tests a machine once; here any three peers do, again and again.
// Limits: Config; what others ask for is done at a limited rate. A machine without I/O or threads.
class Reachability {
 public:
  enum class Address : std::uint8_t { observed, given };  // given: people have said so, and it is published as it is
  struct Config {
    std::string address;  // where it listens, as far as it knows; empty: nowhere
    Address kind = Address::observed;
    std::size_t ask = 3;
    std::size_t anchors = 3;
    std::size_t links = 4096;  // that it remembers
    Time soon = std::chrono::milliseconds(200);
    Time patience = std::chrono::seconds(5);
    Time retry_after = std::chrono::seconds(5);  // when the answers did not agree, and after the first no; doubled after each further one
    Time every = std::chrono::minutes(10);
    std::size_t errands = 16;                     // dials for others at once
    Time errand_pause = std::chrono::seconds(1);  // between two for the same peer
    std::size_t in_vain = 3;                      // open peers that could be reached by relay only, before it is said to be the only way
  };
  // What peers say of themselves.
  using ContactOf = std::function<Contact(const PeerId&)>;

  Reachability(Config config, ContactOf contact_of, Rng rng);

  void on_connected(Time now, const PeerId& peer, Link link);
  void on_disconnected(Time now, const PeerId& peer);
  // Somebody asks to be dialled; that has been done; somebody has done so for us.
  void on_dial_back(Time now, const PeerId& from, std::uint16_t port, Actions& out);
  void on_dialled(const PeerId& peer, const job::PeerMessage::DialedBack& result, Actions& out);
  void on_answer(Time now, const PeerId& from, const job::PeerMessage::DialedBack& answer);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

  const Contact& contact() const { return contact_; }
  // What those said who were asked last.
  struct Verdict {
    std::size_t reached = 0, missed = 0;
  };
  const Verdict& verdict() const { return verdict_; }
  // Where it is from now on, if that has changed since the last call.
  std::optional<Contact> take_change();

 private:
  struct Linked {
    Link link;
    Time since;
    Time asked{0};  // the last time
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
  bool confirmed_ = false;  // by those who were asked
  std::string address_;
  std::map<PeerId, Linked> links_;
  std::map<PeerId, std::optional<Answer>> asked_;
  std::size_t last_asked_ = 0;
  std::size_t in_vain_ = 0;
  std::size_t noes_ = 0;  // since somebody has reached it
  Time pause_;            // until the next check
  Time check_at_ = job::kNever;
  Time decide_at_ = job::kNever;
  Time review_at_ = job::kNever;    // anchors: whoever is connected may have turned out to be open
  std::map<PeerId, Time> errands_;  // when the next one for that peer may begin
  std::size_t errands_under_way_ = 0;
};

}  // namespace gw::peer
