#include "bare_tls.h"

#include <boost/asio/read.hpp>
#include <chrono>

namespace gw::bench {
namespace {

namespace asio = transport::asio;
using transport::kAsTuple;
using Stream = asio::ssl::stream<asio::ip::tcp::socket>;

asio::awaitable<void> echo(Stream& stream) {
  transport::PeerCheck anybody;
  transport::set_check(stream.native_handle(), anybody);
  stream.next_layer().set_option(asio::ip::tcp::no_delay(true));
  auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAsTuple);
  if (refused) co_return;
  Bytes buffer(16u << 10);
  while (true) {
    auto [error, count] = co_await stream.async_read_some(asio::buffer(buffer), kAsTuple);
    if (error) co_return;
    auto [broken, written] = co_await asio::async_write(stream, asio::buffer(buffer, count), kAsTuple);
    if (broken) co_return;
  }
}

struct RoundTrips {
  std::vector<double> microseconds;
  transport::error_code error;
};

asio::awaitable<void> ask(Stream& stream, transport::Endpoint server, Bytes message, std::size_t count, RoundTrips& result) {
  transport::PeerCheck anybody;
  transport::set_check(stream.native_handle(), anybody);
  std::tie(result.error) = co_await stream.next_layer().async_connect(server, kAsTuple);
  if (result.error) co_return;
  stream.next_layer().set_option(asio::ip::tcp::no_delay(true));
  std::tie(result.error) = co_await stream.async_handshake(asio::ssl::stream_base::client, kAsTuple);
  while (!result.error && result.microseconds.size() < count) {
    const auto began = std::chrono::steady_clock::now();
    std::size_t bytes = 0;
    std::tie(result.error, bytes) = co_await asio::async_write(stream, asio::buffer(message), kAsTuple);
    if (!result.error) std::tie(result.error, bytes) = co_await asio::async_read(stream, asio::buffer(message), kAsTuple);
    result.microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
  }
}

}  // namespace

asio::awaitable<void> serve_bare_tls(asio::ip::tcp::acceptor acceptor, asio::ssl::context& tls) {
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(kAsTuple);
    if (error) co_return;
    Stream stream(std::move(socket), tls);
    co_await echo(stream);
  }
}

Result<std::vector<double>> bare_tls_round_trips(const transport::Endpoint& server, std::size_t bytes, std::size_t count) {
  asio::io_context io(1);
  GW_TRY(const auto identity, transport::Identity::make());
  GW_TRY(auto tls, transport::make_tls_context(identity.key().get(), identity.certificate().get()));
  Stream stream(io, tls);
  RoundTrips result;
  transport::TaskGroup tasks(io.get_executor());
  tasks.spawn("ask", ask(stream, server, Bytes(bytes, 7), count, result));
  io.run();
  if (result.error) return fail(Kind::disconnected, "the connection to the bare TLS server broke: {}", result.error.message());
  return std::move(result.microseconds);
}

}  // namespace gw::bench
