#include "transport/identity/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace gw::transport {
namespace {

// Room for eight full records and their headers, in each direction.
constexpr std::size_t kRoomBytes = 132u << 10;

int clamped(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max())); }

}  // namespace

TlsStream::TlsStream(Socket socket, asio::ssl::context& tls)
    : socket_(std::move(socket)), ssl_(SSL_new(tls.native_handle()), SSL_free), network_(nullptr, BIO_free) {
  BIO *inner = nullptr, *outer = nullptr;
  GW_ASSERT(ssl_ && BIO_new_bio_pair(&inner, kRoomBytes, &outer, kRoomBytes) == 1);  // fails without memory only
  network_.reset(outer);
  SSL_set_bio(ssl_.get(), inner, inner);
  // A write that found no room is made again with the bytes that are left, wherever they lie.
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}

TlsStream::Step TlsStream::step_of(int result, error_code& error) {
  if (result > 0) return Step::done;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::wants_input;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_room;
    case SSL_ERROR_ZERO_RETURN:
      error = asio::error::eof;
      return Step::failed;
    default:
      error = error_code(static_cast<int>(ERR_get_error()), asio::error::get_ssl_category());
      ERR_clear_error();
      return Step::failed;
  }
}

asio::awaitable<error_code> TlsStream::handshake(Side side) {
  side == Side::client ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  while (true) {
    ERR_clear_error();
    error_code error;
    const Step step = step_of(SSL_do_handshake(ssl_.get()), error);
    error_code unsent = co_await flush();
    if (step == Step::failed) co_return error;
    if (unsent) co_return unsent;
    if (step == Step::done) co_return error_code();
    if (step == Step::wants_room) continue;
    if (error_code lost = co_await receive(); lost) co_return lost;
  }
}

asio::awaitable<std::tuple<error_code, std::size_t>> TlsStream::read_some(std::span<std::uint8_t> space) {
  std::size_t count = 0;
  while (true) {
    ERR_clear_error();
    error_code error;
    const auto rest = space.subspan(count);
    const int got = SSL_read(ssl_.get(), rest.data(), clamped(rest.size()));
    const Step step = step_of(got, error);
    if (step == Step::done) count += static_cast<std::size_t>(got);
    if (count > 0 && (step != Step::done || count == space.size())) co_return std::tuple(error_code(), count);
    if (step == Step::done) continue;
    // A read makes output only if the other side asks for new keys, which our peers never do; a peer that does not read the answers is
    // lost.
    if (step == Step::wants_room) error = asio::error::no_buffer_space;
    if (step == Step::failed) co_await flush();  // the alert
    if (step == Step::wants_input) error = co_await receive();
    if (error) co_return std::tuple(error, std::size_t{0});
  }
}

asio::awaitable<error_code> TlsStream::write(ByteView bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    error_code error;
    const int put = SSL_write(ssl_.get(), bytes.data(), clamped(bytes.size()));
    const Step step = step_of(put, error);
    if (step == Step::failed) co_return error;
    if (step == Step::done) bytes = bytes.subspan(static_cast<std::size_t>(put));
    if (step == Step::done && !bytes.empty()) continue;  // more fits, perhaps
    if (error_code unsent = co_await flush(); unsent) co_return unsent;
  }
  co_return error_code();
}

asio::awaitable<error_code> TlsStream::receive() {
  char* room = nullptr;
  const int size = BIO_nwrite0(network_.get(), &room);
  GW_ASSERT(size > 0);  // OpenSSL wants input: it has taken all there was
  auto [error, count] = co_await socket_.async_read_some(asio::buffer(room, static_cast<std::size_t>(size)), kAsTuple);
  if (!error) GW_ASSERT(BIO_nwrite(network_.get(), &room, clamped(count)) == clamped(count));
  co_return error == asio::error::eof ? error_code(asio::ssl::error::stream_truncated) : error;
}

asio::awaitable<error_code> TlsStream::flush() {
  if (flushing_) co_return error_code();
  flushing_ = true;
  error_code error;
  char* waiting = nullptr;
  for (int size = 0; !error && (size = BIO_nread0(network_.get(), &waiting)) > 0;) {
    std::size_t count = 0;
    std::tie(error, count) = co_await socket_.async_write_some(asio::buffer(waiting, static_cast<std::size_t>(size)), kAsTuple);
    if (!error) GW_ASSERT(BIO_nread(network_.get(), &waiting, clamped(count)) == clamped(count));
  }
  flushing_ = false;
  co_return error;
}

}  // namespace gw::transport
