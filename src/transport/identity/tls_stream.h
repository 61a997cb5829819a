#pragma once
// TLS over a socket, many records at a time.

#include <memory>
#include <span>
#include <tuple>

#include "base/bytes.h"
#include "transport/asio.h"

namespace gw::transport {

// A TLS stream like asio::ssl::stream, but with room for several records on the way to and from the socket, so that bulk costs one system
// call for each 128 KiB instead of one for each record of 16 KiB, and one copy less in each direction.
//
// The buffers lie between OpenSSL and the socket (a BIO pair) and use memory only as far as they are filled. One coroutine may read while
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
  // Waits for bytes, then returns as many as there are and fit. REQUIRES: `space` is not empty.
  asio::awaitable<std::tuple<error_code, std::size_t>> read_some(std::span<std::uint8_t> space);
  // Writes all bytes. REQUIRES: `bytes` is not empty.
  asio::awaitable<error_code> write(ByteView bytes);

 private:
  // The outcome of one call of OpenSSL.
  enum class Step : std::uint8_t { done, wants_input, wants_room, failed };
  Step step_of(int result, error_code& error);

  asio::awaitable<error_code> receive();
  asio::awaitable<error_code> flush();

  Socket socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::unique_ptr<BIO, decltype(&BIO_free)> network_;  // our end of the pair
  bool flushing_ = false;  // a coroutine is writing OpenSSL's output to the socket, including output that is added meanwhile
};

}  // namespace gw::transport
