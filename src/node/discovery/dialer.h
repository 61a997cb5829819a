#pragma once
// Messages to peers, whether there is a connection or not.

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

// Makes a connection when a message needs one, by whichever way works (transport/ways.h). The messages wait meanwhile, and leave in their
// order once there is a connection, whoever made it; if there is no way, they are lost, and the owner is told how. A relayed connection is
// tried to be replaced by a better one soon, then now and then, and when the peer says something new about where it is; one whose relay
// is lost is made again at once.
//
// Invariant: the attempts to reach one peer belong to one plan; an attempt that ends after its plan is over changes nothing. Limits:
// Config; what is beyond them is lost like any other message. Belongs to the node thread. REQUIRES: the transport has stopped before this
// goes.
class Dialer {
 public:
  using Time = transport::Time;
  struct Config {
    std::uint16_t port = 0;                           // where this peer listens; 0: it cannot be called
    std::size_t dials = 64;                           // at once
    std::size_t messages = 64;                        // that wait for one dial
    std::size_t bytes = 4u << 20;                     // of them
    std::size_t remembered = 1024;                    // peers of which the way that worked is remembered
    std::chrono::milliseconds call_patience{3'000};   // for the peer that was called to dial us
    std::chrono::milliseconds relay_patience{2'500};  // until another relay is tried as well
    std::chrono::milliseconds upgrade_soon{5'000};
    std::chrono::milliseconds upgrade_every{600'000};  // half of it up to one and a half
    std::uint64_t seed = 0;
  };
  // Nobody listens where the peer was said to be; or: nothing came back, or somebody else is there.
  enum class Failure : std::uint8_t { refused, no_answer };
  // Told how a dial ended, never from inside a call of this.
  class Owner {
   public:
    virtual void on_reached(const transport::PeerId& peer, const std::string& address) = 0;
    virtual void on_unreachable(const transport::PeerId& peer, Failure failure) = 0;

   protected:
    ~Owner() = default;
  };

  Dialer(Config config, boost::asio::io_context& io, transport::Transport& transport, NameResolver& names, Owner& owner);
  ~Dialer();

  // How others reach this peer: decides what makes sense to try.
  void set_self(const wire::Contact& self) { self_ = self; }

  struct PendingMessage {
    transport::Lane lane;
    Bytes bytes;
  };
  // Without address and anchors only over a connection that is there.
  void send(const transport::PeerId& to, const wire::Contact& contact, PendingMessage message);
  using Reached = std::function<void(Status)>;
  // Makes a connection without a message. `done` is called once, later. Kind::not_found: there is no way to it; Kind::timeout: none of
  // them worked; Kind::overloaded.
  void reach(const transport::PeerId& to, const wire::Contact& contact, Reached done);
  // Whoever is there. Nobody is told if nobody is.
  void dial(const std::string& address);

  // Nothing new begins.
  void stop();

  // As the transport tells it.
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
  // What is done to reach one peer.
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

  // dialer.cc
  Plan* plan_for(const transport::PeerId& peer, const wire::Contact& contact, Purpose purpose);
  void change(const transport::PeerId& peer, Plan& plan, const wire::Contact& contact);
  void hand_over(const transport::PeerId& to, PendingMessage message);
  void keep(Plan& plan, PendingMessage message) const;
  void note_relayed(const transport::PeerId& peer, const wire::Contact& contact);
  void succeed(const transport::PeerId& peer);
  void fail_plan(const transport::PeerId& peer);

  // dialer_attempts.cc
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
  std::set<std::string> addresses_;                // being dialled for nobody in particular
  boost::asio::steady_timer due_;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_;  // shared with questions for the address of a name
};

}  // namespace gw::node
