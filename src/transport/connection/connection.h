#pragma once
// A TLS connection to a peer.

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/token_bucket.h"
#include "transport/connection/bulk_window.h"
#include "transport/connection/liveness.h"
#include "transport/connection/message_assembler.h"
#include "transport/connection/request_table.h"
#include "transport/connection/send_queue.h"
#include "transport/identity/tls.h"
#include "transport/relay/circuit.h"
#include "transport/task_group.h"
#include "transport/ways.h"

namespace gw::transport {

using Endpoint = asio::ip::tcp::endpoint;

enum class Dialer : std::uint8_t { us, them };

// Why a connection is over.
enum class Cause : std::uint8_t {
  goodbye_ours,    // an orderly close by this side
  goodbye_theirs,  // an orderly close by the other side
  idle,            // an orderly close because the connection was unused: not a sign that the peer is dead
  carrier,         // the relay below is gone: not a sign that the peer is dead either
  nobody,          // no process listens at the dialled address
  reset,           // the connection broke without an orderly close
  silent,          // a deadline passed
  broke_rules,     // the other side broke the protocol
  untrusted,       // the other side is not the expected peer, or its certificate is bad
};

// The traffic of a connection so far, frames and their headers, without TLS.
struct Traffic {
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t messages_in = 0, messages_out = 0;  // requests and answers included
};

struct Ended {
  Cause cause;
  std::string sentence;  // for users, about the other side: "it sent ..."
};

// The reason in the goodbye frame.
enum class Goodbye : std::uint8_t { closing = 1, duplicate, overloaded, broke_rules, idle };

// Runs the handshake, then reads and writes until one side ends the connection. Deadlines are those of Liveness; memory is bounded by
// SendQueue, FrameDecoder, TlsStream and MessageAssembler, so a hostile peer can cost a few MiB and its own connection. Processor time is
// bounded by the read limits: a peer that sends faster is read slower. A BulkWindow limits the bulk bytes under way, so that control
// messages do not wait long behind them.
//
// run() is the whole life: connect, TLS, hello in both directions, then frames; it returns when no coroutine of the connection runs any
// more. A connection belongs to the node thread. It calls its Owner, never from inside a call of the owner.
class Connection {
 public:
  struct Config {
    Liveness::Config liveness;
    SendQueue::Config queue;
    BulkWindow::Config bulk;
    // Limits on reading from one peer. The bursts are worth a second at least, so that its pings are answered in time.
    TokenBucket::Config read_frames{.per_second = 1e6, .burst = 1e6};
    TokenBucket::Config read_bytes{.per_second = 4e9, .burst = 4e9};
    std::size_t open_requests = 1024;                // in each direction
    std::chrono::milliseconds relayed_idle{60'000};  // an unused circuit is closed after this: it occupies the relay
  };
  struct Start {
    Socket socket;    // connected if they dialled, or if it is one end of a circuit
    Endpoint remote;  // of a circuit: the relay
    Dialer dialer;
    std::optional<PeerId> expected;
    Way way = Way::direct;
    std::uint64_t number;  // of this connection, unique in its transport
    std::uint64_t boot;    // ours, for the hello
  };

  class Owner {
   public:
    // Both sides have sent their hello. The owner may end the connection here.
    virtual void on_ready(Connection& connection) = 0;
    // REQUIRES (of the connection): only after on_ready, and not after it has ended.
    virtual void on_message(Connection& connection, Message message) = 0;
    // A call, or a frame of a circuit, after on_ready. Kind::invalid: it broke a rule.
    virtual Status on_circuit_frame(Connection& connection, const Frame& frame) = 0;
    // Called once. Queued messages are lost; requests fail afterwards.
    virtual void on_ended(Connection& connection, const Ended& ended) = 0;

   protected:
    ~Owner() = default;
  };

  Connection(Start start, asio::ssl::context& tls, Config config, Owner& owner);

  asio::awaitable<void> run();

  // True from on_ready until it ends.
  bool open() const { return ready_ && !ended_; }
  // Valid also after the connection has ended.
  bool was_ready() const { return ready_; }
  std::uint64_t number() const { return number_; }
  Dialer dialer() const { return dialer_; }
  Way way() const { return way_; }
  // The other side has dialled because this side asked it to, through an anchor.
  void answers_call() { way_ = Way::reverse; }
  const Endpoint& remote() const { return remote_; }
  // Known once the handshake of TLS is over.
  const Result<PeerId>& peer() const { return check_.found; }
  std::uint64_t peer_boot() const { return peer_boot_; }
  const Traffic& traffic() const { return traffic_; }
  // When a message was last sent or received, or a ping received on a connection that is not relayed: a peer that pings often wants to keep
  // the connection.
  Time used() const { return used_; }

  // Kind::disconnected if it is not open, Kind::overloaded if the peer does not read, Kind::invalid if the message is too long.
  Status send(Lane lane, Bytes message);
  // `done` is called once, unless this fails.
  Status request(Lane lane, Bytes message, Time deadline, RequestTable::Done done);
  // To a request that came in on_message. Kind::not_found: there is no such request (any more).
  Status answer(Lane lane, std::uint32_t stream, Result<Bytes> answer);

  // A frame of a circuit, or a call. Kind::overloaded, Kind::disconnected.
  Status send_frame(Message frame);
  // A number for a circuit that no other one of this connection has.
  std::uint32_t next_circuit();
  // Sets whether the loss of the connection must be noticed soon.
  void set_loss_detection(Liveness::LossDetection detection);

  // The circuit below the connection is gone, or was never there.
  void lose_carrier(std::string sentence) { break_off({Cause::carrier, std::move(sentence)}); }
  // Closes the connection in order and tells the other side the reason. Unwritten messages are dropped, but a closing or idle goodbye comes
  // after the control messages. Only the first call counts.
  void say_goodbye(Goodbye reason, Ended ended);
  // The peer seems to have lost this connection: pings it, and the answer must come soon.
  void doubt();

 private:
  static Time now() { return std::chrono::steady_clock::now(); }

  asio::awaitable<void> establish();
  asio::awaitable<void> read();
  asio::awaitable<void> write();
  asio::awaitable<void> watch();
  asio::awaitable<void> report();
  asio::awaitable<void> pay();

  Status on_bytes();
  Status on_frame(const Frame& frame);
  Status on_hello(const Frame& frame);
  Status on_part(const Frame& frame);
  Status on_request(Message message);
  void on_goodbye(const Frame& frame);

  Status push(Message message);
  Status enqueue(Message message);
  Ended lost(const error_code& error) const;
  void push_hello();
  void end(Ended ended);
  void break_off(Ended ended);
  void close_socket();
  void wake_by(Time deadline);
  void wake_writer();
  void credit(const Frame& frame);

  const Endpoint remote_;
  const Dialer dialer_;
  Way way_;
  const std::uint64_t number_, boot_;
  const Config config_;
  Owner& owner_;
  PeerCheck check_;
  TlsStream stream_;
  Liveness liveness_;
  FrameDecoder decoder_;
  MessageAssembler assembler_;
  SendQueue queue_;
  BulkWindow window_;
  Traffic traffic_;
  Time used_;
  RequestTable requests_;          // ours
  std::set<std::uint32_t> asked_;  // requests of the other side that wait for an answer
  std::optional<Ended> ended_;
  bool secured_ = false;  // TLS is there, write() runs
  bool ready_ = false;    // their hello came
  std::uint64_t peer_boot_ = 0;
  std::uint64_t next_ping_ = 1;
  std::uint32_t next_circuit_;
  std::uint64_t bulk_taken_ = 0, bulk_credited_ = 0;  // from them: so far, and as far as they know
  TokenBucket read_frames_, read_bytes_;
  Time came_;  // when the bytes that are being handled arrived
  bool write_waits_ = false;
  asio::steady_timer to_write_;  // cancelled when there is something to write, or nothing ever again
  asio::steady_timer deadline_;
  asio::steady_timer read_pause_;
  TaskGroup tasks_;
};

}  // namespace gw::transport
