#pragma once
// The network interface of a peer: authenticated connections to other peers and messages over them.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "transport/admission.h"
#include "transport/connection/connection.h"
#include "transport/identity/identity.h"
#include "transport/relay/relay.h"

namespace gw::transport {

// Names a request of another peer that waits for an answer. The connection is part of the name: a request ends with its connection.
struct RequestId {
  PeerId peer;
  std::uint64_t connection;
  std::uint32_t stream;
};

// How a connection was made.
struct ConnectionOrigin {
  Endpoint remote;  // relayed: the relay's
  Dialer dialer;
  Way way;
};

// The user of the transport. Called on the node thread, never from inside a call of the transport.
class Receiver {
 public:
  // Called again when a better way has replaced the first.
  virtual void on_connected(const PeerId& peer, const ConnectionOrigin& origin) = 0;
  virtual void on_message(const PeerId& from, Lane lane, Bytes message) = 0;
  // To be answered with Transport::answer, at any time while the peer is connected.
  virtual void on_request(const RequestId& request, Bytes message) = 0;
  virtual void on_disconnected(const PeerId& peer, const Ended& ended) = 0;

 protected:
  ~Receiver() = default;
};

// Connections to other peers: one per pair, whichever of the two opened it (duplicate.h). A message arrives once or is lost, in order
// within its lane; when a connection ends, messages under way are lost without notice. The caller resolves names: this class takes
// addresses only.
//
// A connection is made by one of three ways (ways.h). The last two need another peer to which both sides are connected: call() asks it to
// tell the target to dial this peer; connect_through() asks it to carry a circuit, in which the two ends run TLS as over any other
// connection. A connected peer may ask the same of this one, within the limits of Relay.
//
// Belongs to the thread of its io_context. REQUIRES: stop() has returned before the destructor; identity and receiver outlive this object.
class Transport final : Connection::Owner {
 public:
  struct Config {
    std::uint64_t boot = 1;  // grows with each start of this peer
    Connection::Config connection;
    Admission::Config admission;
    std::size_t dials = 1024;  // connections of ours, open or being opened
    Relay::Config relay;
    std::size_t calls = 32;  // of others, being answered
    std::size_t probes = 32;
    TokenBucket::Config called{.per_second = 10, .burst = 30};  // calls of one peer that are handed on
    // Beyond this, the least recently used connections are closed if they were unused for `spare`: a peer that needs one dials again.
    std::size_t kept = 256;
    std::chrono::milliseconds spare{30'000};
  };

  static Result<std::unique_ptr<Transport>> make(asio::io_context& io, const Identity& identity, Receiver& receiver, Config config);
  Transport(asio::io_context& io, asio::ssl::context tls, const PeerId& self, Receiver& receiver, Config config);
  ~Transport();

  // Returns the address with its real port (port 0: any). May be called for several addresses; [::] includes those of IPv4.
  // Kind::overloaded: another process has the port.
  Result<Endpoint> listen(const Endpoint& where);

  using Connected = std::function<void(Result<PeerId>)>;
  // `done` is called once: with the id of the peer, or Kind::not_found (no process listens there), invalid (not `expected`, or not a peer),
  // disconnected, timeout, overloaded.
  void connect(const Endpoint& where, std::optional<PeerId> expected, Connected done);

  // The same over a circuit that `relay` carries. Kind::disconnected also: there is no connection to it, or it does not know the target.
  void connect_through(const PeerId& relay, const PeerId& target, Connected done);
  // Asks `anchor` to tell the target to dial this peer, at `port` of the address from which the anchor sees it. on_connected() follows, or
  // nothing. Kind::disconnected, Kind::overloaded.
  Status call(const PeerId& anchor, const PeerId& target, std::uint16_t port);
  using Probed = std::function<void(Status)>;
  // Checks whether `expected` answers there: only a handshake, so that neither side takes it for a connection. `done` is called once,
  // later. Kind::not_found, invalid, timeout, overloaded.
  void probe(const Endpoint& where, const PeerId& expected, Probed done);
  // The anchors of this peer: connections to them are watched closely and not closed when unused, and only their calls are answered.
  void keep(std::set<PeerId> anchors);

  // Kind::disconnected: there is no connection. Kind::overloaded: the peer does not keep up. Kind::invalid: too long.
  Status send(const PeerId& to, Lane lane, Bytes message);
  // `done` is called once, unless this fails: with the answer, the peer's refusal, or Kind::timeout or disconnected.
  Status request(const PeerId& to, Lane lane, Bytes message, std::chrono::milliseconds timeout, RequestTable::Done done);
  // Kind::not_found, disconnected: the request has ended meanwhile.
  Status answer(const RequestId& request, Lane lane, Result<Bytes> answer);

  // Ends the connection, if there is one; the peer is told the reason.
  void disconnect(const PeerId& peer, std::string reason);

  const PeerId& self() const { return self_; }
  // A message sent now would be on its way.
  bool connected(const PeerId& peer) const { return to(peer) != nullptr; }
  struct Peer {
    PeerId id;
    ConnectionOrigin origin;
    Traffic traffic;
  };
  std::vector<Peer> peers() const;
  // nullopt: there is no connection.
  std::optional<ConnectionOrigin> connection_origin(const PeerId& peer) const;
  // Since the start.
  struct Totals {
    std::array<std::uint64_t, 3> connections{};  // by Way
    std::array<Traffic, 3> traffic{};
    Relay::Counters relayed;   // for others
    std::size_t circuits = 0;  // for others, now
  };
  Totals totals() const;

  // Closes all connections in order and waits until they are closed; opens no new ones.
  asio::awaitable<void> stop();

 private:
  void on_ready(Connection& connection) override;
  void on_message(Connection& connection, Message message) override;
  Status on_circuit_frame(Connection& connection, const Frame& frame) override;
  void on_ended(Connection& connection, const Ended& ended) override;

  asio::awaitable<void> accept(asio::ip::tcp::acceptor acceptor);
  void admit(asio::ip::tcp::socket socket);
  std::uint64_t start(Connection::Start start);
  asio::awaitable<void> serve(std::uint64_t number);
  Connection* to(const PeerId& peer) const;
  const PeerId& dialer_of(const Connection& connection) const { return connection.dialer() == Dialer::us ? self_ : *connection.peer(); }
  void finish_dial(const Connection& connection, Result<PeerId> result);
  void release(const Connection& connection);
  void close_spare();
  void make_room();
  void refuse(Connected done, Error why);
  bool is_kept(const Connection& connection) const;
  void set_loss_detection(Connection& connection);

  // Circuits through relays.
  Connection* carrier_to(const PeerId& peer) const;
  Status on_call(Connection& connection, const Frame& frame);
  Status on_called(Connection& connection, const Frame& frame);
  Status on_circuit_open(Connection& connection, const Frame& frame);
  Status on_circuit_offer(Connection& connection, const Frame& frame);
  Status accept_circuit(Connection& connection, const Port& port, const PeerId& caller);
  Status on_carried(const Port& port, const Frame& frame);
  Status on_own(const Port& port, const Frame& frame);
  bool is_free(const Connection& connection, const Port& port) const;
  void begin_circuit(const Port& port, Socket outer, std::uint64_t inside);
  asio::awaitable<void> serve_circuit(Port port);
  void end_circuits(const Connection& carrier);
  void hand_on(std::vector<Relay::Outgoing> frames);
  asio::awaitable<void> tend_relay();
  asio::awaitable<void> run_probe(Endpoint where, PeerId expected, Probed done);

  asio::io_context& io_;
  asio::ssl::context tls_;
  const PeerId self_;
  Receiver& receiver_;
  const Config config_;
  Admission admission_;
  Time room_made_{};
  bool stopping_ = false;
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // also those that have ended but still run
  std::map<PeerId, std::uint64_t> by_peer_;                           // the one connection to each
  std::map<std::uint64_t, Connected> dials_;
  struct CircuitEnd {
    std::unique_ptr<Circuit> circuit;
    std::uint64_t inside;  // the connection that runs over it
  };
  std::map<Port, CircuitEnd> ends_;
  std::set<PeerId> anchors_;
  std::map<PeerId, Time> calls_;              // ours: until when they may be answered
  std::map<PeerId, TokenBucket> call_rates_;  // of others that are connected
  std::size_t probes_ = 0;
  Relay relay_;
  asio::steady_timer relay_due_;
  bool relay_tended_ = false;
  Totals ended_;  // of connections that are over
  TaskGroup acceptors_, servers_;
};

}  // namespace gw::transport
