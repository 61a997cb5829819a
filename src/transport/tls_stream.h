#pragma once
// TLS over a socket, many records at a time.

#include <memory>
#include <span>
#include <tuple>

#include "base/bytes.h"
#include "transport/asio.h"

namespace gw::transport {

// What asio::ssl::stream does, but with room for several records on the way to and from the socket, so that bulk costs one system call for
// each 128 KiB instead of one for each record of 16 KiB, and one copy less in each direction.
//
// The rooms lie between OpenSSL and us (a BIO pair) and are taken from the system as far as they are used. One coroutine may read while
// another writes, never two of a kind; the handshake comes before both. Belongs to the thread of its socket.
class TlsStream {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  enum class Side : std::uint8_t { client, server };

  TlsStream(Socket socket, asio::ssl::context& tls);

  Socket& socket() { return socket_; }
  SSL* native_handle() { return ssl_.get(); }

  // Errors of TLS are of asio's ssl category; the other side has been sent the alert.
  asio::awaitable<error_code> handshake(Side side);
  // Waits for something, then gives all that is there and fits. REQUIRES: `space` is not empty.
  asio::awaitable<std::tuple<error_code, std::size_t>> read_some(std::span<std::uint8_t> space);
  // All of it. REQUIRES: `bytes` is not empty.
  asio::awaitable<error_code> write(ByteView bytes);

 private:
  // What one call of OpenSSL ended with.
  enum class Step : std::uint8_t { done, wants_input, wants_room, failed };
  Step step_of(int result, error_code& error);

  asio::awaitable<error_code> receive();
  asio::awaitable<error_code> flush();

  Socket socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::unique_ptr<BIO, decltype(&BIO_free)> network_;  // our end of the pair
  bool flushing_ = false;  // somebody writes to the socket what OpenSSL gave, and whatever it will give meanwhile
};

}  // namespace gw::transport
