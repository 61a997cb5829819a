#pragma once
// The network as a peer sees it: authenticated peers, messages to and from them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/admission.h"
#include "transport/connection.h"
#include "transport/identity.h"

namespace gw::transport {

// Names a request that waits for our answer. The connection is part of it: after a new one there is nobody left who asked.
struct RequestId {
  PeerId peer;
  std::uint64_t connection;
  std::uint32_t stream;
};

// Whoever uses the transport. Called on the node thread, never from inside a call of the transport.
class Receiver {
 public:
  virtual void on_connected(const PeerId& peer, const Endpoint& remote, Dialer dialer) = 0;
  virtual void on_message(const PeerId& from, Lane lane, Bytes message) = 0;
  // To be answered with Transport::answer, at any time while the peer is connected.
  virtual void on_request(const RequestId& request, Bytes message) = 0;
  virtual void on_disconnected(const PeerId& peer, const Ended& ended) = 0;

 protected:
  ~Receiver() = default;
};

// One connection per pair of peers, whoever opened it (duplicate.h). A message arrives once or is lost, in order within its lane; when a
// connection ends, what was under way in it is lost and nobody is told which. Names are resolved by the caller: here are addresses only.
//
// Belongs to the thread of its io_context. REQUIRES: stop() has returned before it goes; identity and receiver outlive it.
class Transport final : Connection::Owner {
 public:
  struct Config {
    std::uint64_t boot = 1;  // grows with each start of this peer
    Connection::Config connection;
    Admission::Config admission;
    std::size_t dials = 1024;  // connections of ours, open or being opened
    // More are closed, those first that have not been used for longest, if that is `spare` at least: whoever needs one dials again.
    std::size_t kept = 256;
    std::chrono::milliseconds spare{30'000};
  };

  static Result<std::unique_ptr<Transport>> make(asio::io_context& io, const Identity& identity, Receiver& receiver, Config config);
  Transport(asio::io_context& io, asio::ssl::context tls, const PeerId& self, Receiver& receiver, Config config);
  ~Transport();

  // Where it listens now: port 0 becomes a real one. May be called for several addresses.
  Result<Endpoint> listen(const Endpoint& where);

  using Connected = std::function<void(Result<PeerId>)>;
  // `done` is called once: with who is there, or Kind::not_found (nobody listens there), invalid (not `expected`, no peer at all),
  // disconnected, timeout, overloaded.
  void connect(const Endpoint& where, std::optional<PeerId> expected, Connected done);

  // Kind::disconnected: there is no connection. Kind::overloaded: the peer does not keep up. Kind::invalid: too long.
  Status send(const PeerId& to, Lane lane, Bytes message);
  // `done` is called once, unless this fails: with the answer, the peer's refusal, or Kind::timeout or disconnected.
  Status request(const PeerId& to, Lane lane, Bytes message, std::chrono::milliseconds timeout, RequestTable::Done done);
  // Kind::not_found, disconnected: nobody waits for it any more.
  Status answer(const RequestId& request, Lane lane, Result<Bytes> answer);

  // Ends the connection, if there is one; the peer is told the reason.
  void disconnect(const PeerId& peer, std::string reason);

  // A message sent now would be on its way.
  bool connected(const PeerId& peer) const { return to(peer) != nullptr; }
  struct Peer {
    PeerId id;
    Endpoint remote;
  };
  std::vector<Peer> peers() const;

  // Says goodbye to everybody and waits until all is closed; nothing new begins.
  asio::awaitable<void> stop();

 private:
  void on_ready(Connection& connection) override;
  void on_message(Connection& connection, Message message) override;
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

  asio::io_context& io_;
  asio::ssl::context tls_;
  const PeerId self_;
  Receiver& receiver_;
  const Config config_;
  Admission admission_;
  bool stopping_ = false;
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // also those that have ended but still run
  std::map<PeerId, std::uint64_t> by_peer_;                           // the one connection to each
  std::map<std::uint64_t, Connected> dials_;
  TaskGroup acceptors_, servers_;
};

}  // namespace gw::transport
