#pragma once
// An end of a circuit: a stream of bytes inside the frames of a connection to a relay.

#include <cstdint>
#include <functional>

#include "transport/connection/frame.h"
#include "transport/identity/tls_stream.h"
#include "transport/task_group.h"

namespace gw::transport {

using Socket = TlsStream::Socket;  // TCP, or one end of a pair within this process

// Two sockets of this process that are connected to each other. Kind::overloaded: the system has none left.
struct SocketPair {
  Socket inner;  // for the Connection that runs over the circuit
  Socket outer;  // for the Circuit
};
Result<SocketPair> make_socket_pair(asio::io_context& io);

// Pumps between a socket, at whose other end a Connection runs as over any other, and the frames of a circuit. No more than kCircuitCredit
// bytes are under way in each direction: it reads from the socket only for as long as the far end has room, and gives credit for what the
// Connection here has taken.
//
// run() is its whole life; it ends after close(), when the socket is closed at its other end, or when it cannot send. Belongs to the node
// thread. Deadlines are those of the Connection.
class Circuit {
 public:
  // Sends a frame of the circuit over the connection that carries it.
  using Send = std::function<Status(FrameKind, Lane, Bytes)>;

  Circuit(Socket outer, Send send);

  asio::awaitable<void> run();

  // Kind::invalid: the far end broke a rule.
  Status on_data(ByteView bytes);
  Status on_credit(std::uint32_t bytes);
  // The far end, or the relay, has closed it: what came before is still handed over.
  void on_close();
  // The connection that carries it is gone.
  void close();

 private:
  asio::awaitable<void> pump_out();
  asio::awaitable<void> pump_in();

  Socket outer_;
  const Send send_;
  std::size_t may_send_ = kCircuitCredit;
  std::size_t may_come_ = kCircuitCredit;
  Bytes came_;            // and has not been written to the socket
  bool closing_ = false;  // the far end is gone
  asio::steady_timer credit_came_, data_came_;
  TaskGroup tasks_;
};

}  // namespace gw::transport
