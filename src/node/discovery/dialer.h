#pragma once
// Sends messages to peers, and makes the connections they need.

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "node/discovery/name_resolver.h"
#include "transport/transport.h"
#include "wire/contact.h"

namespace gw::node {

// Makes a connection when a message needs one, by the first way that works (transport/ways.h). The messages wait meanwhile and are sent in
// order when there is a connection, no matter which side made it. If no way works, the messages are lost and the owner is told why. The
// dialer tries to replace a relayed connection by a better one: soon, then at intervals, and when the peer publishes a new contact. If a
// relay is lost, the connection is made again at once.
//
// Invariant: the attempts to reach one peer belong to one plan; an attempt that ends after its plan is over changes nothing. Limits:
// Config; messages beyond them are lost. Belongs to the node thread. REQUIRES: the transport has stopped before the destructor.
class Dialer {
 public:
  using Time = transport::Time;
  struct Config {
    std::uint16_t port = 0;                           // where this peer listens; 0: other peers cannot dial it
    std::size_t dials = 64;                           // at once
    std::size_t messages = 64;                        // that wait for one dial
    std::size_t bytes = 4u << 20;                     // of them
    std::size_t remembered = 1024;                    // peers of which the way that worked is remembered
    std::chrono::milliseconds call_patience{3'000};   // for a peer that was asked to dial back
    std::chrono::milliseconds relay_patience{2'500};  // until another relay is tried as well
    std::chrono::milliseconds upgrade_soon{5'000};
    std::chrono::milliseconds upgrade_every{600'000};  // times a random factor of 0.5 to 1.5
    std::uint64_t seed = 0;
  };
  // refused: no process listens at the address. no_answer: nothing came back, or another peer is there.
  enum class Failure : std::uint8_t { refused, no_answer };
  // Receives the results of dials, never from inside a call of the dialer.
  class Owner {
   public:
    virtual void on_reached(const transport::PeerId& peer, const std::string& address) = 0;
    virtual void on_unreachable(const transport::PeerId& peer, Failure failure) = 0;

   protected:
    ~Owner() = default;
  };

  Dialer(Config config, boost::asio::io_context& io, transport::Transport& transport, NameResolver& names, Owner& owner);
  ~Dialer();

  // The contact of this peer: it decides which ways can work.
  void set_self(const wire::Contact& self) { self_ = self; }

  struct PendingMessage {
    transport::Lane lane;
    Bytes bytes;
  };
  // A contact without address and anchors sends only over a present connection.
  void send(const transport::PeerId& to, const wire::Contact& contact, PendingMessage message);
  using Reached = std::function<void(Status)>;
  // Makes a connection without a message. `done` is called once, later. Kind::not_found: there is no way to the peer; Kind::timeout: no way
  // worked; Kind::overloaded.
  void reach(const transport::PeerId& to, const wire::Contact& contact, Reached done);
  // Dials an address whose peer is unknown. A failure is not reported.
  void dial(const std::string& address);

  // Begins no new attempts.
  void stop();

  // Events of the transport.
  void on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met);
  void on_disconnected(const transport::PeerId& peer, const transport::Ended& ended);

 private:
  enum class Purpose : std::uint8_t { reach, upgrade };
  struct Step {
    enum class Kind : std::uint8_t { begin, next_relay, give_up_call };
    Kind kind;
    transport::Way way;
    Time at;
  };
  // The attempts to reach one peer.
  struct Plan {
    std::uint64_t number;
    Purpose purpose;
    wire::Contact contact;
    std::vector<PendingMessage> pending;
    std::size_t bytes = 0;
    std::vector<Reached> waiting;
    std::vector<Step> steps;           // that have not begun
    std::vector<wire::Anchor> relays;  // that have not been tried
    std::size_t running = 0;           // attempts
    bool refused = false;
    std::size_t changes = 0;
  };
  struct Upgrade {
    wire::Contact contact;
    Time at;
  };

  // The plan of a dial.
  Plan* plan_for(const transport::PeerId& peer, const wire::Contact& contact, Purpose purpose);
  void change(const transport::PeerId& peer, Plan& plan, const wire::Contact& contact);
  void hand_over(const transport::PeerId& to, PendingMessage message);
  void keep(Plan& plan, PendingMessage message) const;
  void note_relayed(const transport::PeerId& peer, const wire::Contact& contact);
  void succeed(const transport::PeerId& peer);
  void fail_plan(const transport::PeerId& peer);

  // The attempts of a plan.
  std::vector<Step> steps_for(const transport::PeerId& peer, const wire::Contact& contact, Purpose purpose) const;
  void arm();
  void on_timer();
  void run_steps(const transport::PeerId& peer, Plan& plan);
  void begin(const transport::PeerId& peer, Plan& plan, transport::Way way);
  void begin_direct(const transport::PeerId& peer, Plan& plan);
  void begin_call(const transport::PeerId& peer, Plan& plan);
  void begin_relayed(const transport::PeerId& peer, Plan& plan);
  void with_anchor(const wire::Anchor& anchor, std::function<void(Status)> then);
  std::function<void(Status)> attempt_of(const transport::PeerId& peer, const Plan& plan, transport::Way way);
  void on_attempt(const transport::PeerId& peer, std::uint64_t plan, transport::Way way, const Status& result);
  bool is_reached(const transport::PeerId& peer, const Plan& plan) const;
  void finish_or_advance(const transport::PeerId& peer, Plan& plan);
  bool has_carrier(const transport::PeerId& peer) const;
  void connect(const std::string& address, std::optional<transport::PeerId> expected, transport::Transport::Connected done);

  const Config config_;
  boost::asio::io_context& io_;
  transport::Transport& transport_;
  NameResolver& names_;
  Owner& owner_;
  Rng rng_;
  wire::Contact self_;
  transport::WayMemory memory_;
  std::uint64_t plans_made_ = 0;
  std::map<transport::PeerId, Plan> plans_;
  std::map<transport::PeerId, Upgrade> upgrades_;  // of relayed connections
  std::set<std::string> addresses_;                // being dialled; their peers are not known
  boost::asio::steady_timer due_;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_;  // shared with the callbacks of name lookups
};

}  // namespace gw::node
