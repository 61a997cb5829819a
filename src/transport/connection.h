#pragma once
// One TLS connection to one peer.

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/token_bucket.h"
#include "transport/bulk_window.h"
#include "transport/circuit.h"
#include "transport/liveness.h"
#include "transport/message_assembler.h"
#include "transport/request_table.h"
#include "transport/send_queue.h"
#include "transport/task_group.h"
#include "transport/tls.h"
#include "transport/ways.h"

namespace gw::transport {

using Endpoint = asio::ip::tcp::endpoint;

enum class Dialer : std::uint8_t { us, them };

// Why a connection is over.
enum class Cause : std::uint8_t {
  goodbye_ours,    // we ended it in order
  goodbye_theirs,  // they did
  idle,            // one of us closed it in order because nobody used it: not a word about who is there
  carrier,         // what it ran over is gone: not a word about who is there either
  nobody,          // nobody listens where we dialled
  reset,           // it broke without a word
  silent,          // a deadline passed
  broke_rules,     // they sent something wrong
  untrusted,       // they are not who they should be, or their certificate is bad
};

// What a connection has carried so far, frames and their headers, without TLS.
struct Traffic {
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t messages_in = 0, messages_out = 0;  // requests and answers included
};

struct Ended {
  Cause cause;
  std::string sentence;  // for people, about the other side: "it sent ..."
};

// In the goodbye frame: what the other side should make of it.
enum class Goodbye : std::uint8_t { closing = 1, duplicate, overloaded, broke_rules, idle };

// Runs the handshake, then reads and writes until somebody ends it. Deadlines are those of Liveness, memory is bounded by SendQueue,
// FrameDecoder, TlsStream and MessageAssembler, so a hostile peer can cost a few MiB and its own connection. Time is bounded by the read
// limits: who sends faster is read slower. Bulk on its way is kept to a BulkWindow, so that control does not wait long behind it.
//
// run() is the whole life: connect, TLS, hello in both directions, then frames; it returns when nothing of the connection is left running.
// It belongs to the node thread. What it finds goes to its Owner, never from inside a call of the owner's.
class Connection {
 public:
  struct Config {
    Liveness::Config liveness;
    SendQueue::Config queue;
    BulkWindow::Config bulk;
    // What is read of one peer. The bursts are worth a second at least, so that its pings are answered in time.
    TokenBucket::Config read_frames{.per_second = 1e6, .burst = 1e6};
    TokenBucket::Config read_bytes{.per_second = 4e9, .burst = 4e9};
    std::size_t open_requests = 1024;                // in each direction
    std::chrono::milliseconds relayed_idle{60'000};  // a circuit that nobody uses is closed: it takes a place at the relay
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
    // Both have said hello. The owner may end it.
    virtual void on_ready(Connection& connection) = 0;
    // REQUIRES (of the connection): only after on_ready, and not after it has ended.
    virtual void on_message(Connection& connection, Message message) = 0;
    // A call, or a frame of a circuit, after on_ready. Kind::invalid: it broke a rule.
    virtual Status on_circuit_frame(Connection& connection, const Frame& frame) = 0;
    // Once. What was queued is lost; requests fail afterwards.
    virtual void on_ended(Connection& connection, const Ended& ended) = 0;

   protected:
    ~Owner() = default;
  };

  Connection(Start start, asio::ssl::context& tls, Config config, Owner& owner);

  asio::awaitable<void> run();

  // True from on_ready until it ends.
  bool open() const { return ready_ && !ended_; }
  // Also after it has ended.
  bool was_ready() const { return ready_; }
  std::uint64_t number() const { return number_; }
  Dialer dialer() const { return dialer_; }
  Way way() const { return way_; }
  // They have dialled because we had them asked to.
  void answers_call() { way_ = Way::reverse; }
  const Endpoint& remote() const { return remote_; }
  // Known once the handshake of TLS is over.
  const Result<PeerId>& peer() const { return check_.found; }
  std::uint64_t peer_boot() const { return peer_boot_; }
  const Traffic& traffic() const { return traffic_; }
  // When a message last went or came, or a ping came over a wire of its own: whoever pings often wants to keep it.
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
  // Its end must be noticed soon, or not.
  void set_loss_detection(Liveness::LossDetection detection);

  // What it runs over is gone, or was never there.
  void lose_carrier(std::string sentence) { break_off({Cause::carrier, std::move(sentence)}); }
  // Ends it in order, and they are told why. What has not been written is dropped, but a closing or idle goodbye comes after the control
  // messages. Only the first end counts.
  void say_goodbye(Goodbye reason, Ended ended);
  // The peer seems to have lost this connection: it must show that it has not.
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
  std::set<std::uint32_t> asked_;  // theirs that wait for our answer
  std::optional<Ended> ended_;
  bool secured_ = false;  // TLS is there, write() runs
  bool ready_ = false;    // their hello came
  std::uint64_t peer_boot_ = 0;
  std::uint64_t next_ping_ = 1;
  std::uint32_t next_circuit_;
  std::uint64_t bulk_taken_ = 0, bulk_credited_ = 0;  // from them: so far, and as far as they know
  TokenBucket read_frames_, read_bytes_;
  Time came_;  // when the bytes that are looked at did
  bool write_waits_ = false;
  asio::steady_timer to_write_;  // cancelled when there is something to write, or nothing ever again
  asio::steady_timer deadline_;
  asio::steady_timer read_pause_;
  TaskGroup tasks_;
};

}  // namespace gw::transport
