#include "transport/identity/tls_stream.h"

#include <gtest/gtest.h>

#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "transport/identity/identity.h"
#include "transport/identity/tls.h"
#include "transport/task_group.h"

namespace gw::transport {
namespace {

// An end of a pair of sockets, with an identity of its own.
struct End {
  explicit End(TlsStream::Socket socket) : stream(std::move(socket), tls) { set_check(stream.native_handle(), check); }

  Identity identity = Identity::make().value();
  asio::ssl::context tls = make_tls_context(identity.key().get(), identity.certificate().get()).value();
  PeerCheck check;
  TlsStream stream;
  error_code secured, wrote, read;
  Bytes received;
};

class TlsStreamPair : public testing::Test {
 protected:
  TlsStreamPair() {
    asio::local::stream_protocol::socket left(io), right(io);
    asio::local::connect_pair(left, right);
    client.emplace(std::move(left));
    server.emplace(std::move(right));
  }

  static asio::awaitable<void> handshake(End& end, TlsStream::Side side) { end.secured = co_await end.stream.handshake(side); }
  static asio::awaitable<void> write(End& end, Bytes bytes) { end.wrote = co_await end.stream.write(bytes); }
  static asio::awaitable<void> read(End& end, std::size_t size) {
    Bytes space(100'000);
    while (!end.read && end.received.size() < size) {
      std::size_t count = 0;
      std::tie(end.read, count) = co_await end.stream.read_some(space);
      end.received.insert(end.received.end(), space.begin(), space.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }

  void run() {
    io.restart();
    io.run();
  }
  void secure() {
    tasks.spawn("client", handshake(*client, TlsStream::Side::client));
    tasks.spawn("server", handshake(*server, TlsStream::Side::server));
    run();
  }

  asio::io_context io{1};
  TaskGroup tasks{io.get_executor()};
  std::optional<End> client, server;
};

Bytes pattern(std::size_t size, std::uint8_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(seed + i * 7 + i / 251);
  return bytes;
}

TEST_F(TlsStreamPair, CarriesMuchBothWaysAtOnce) {
  secure();
  ASSERT_FALSE(client->secured) << client->secured.message();
  ASSERT_EQ(server->check.found.value(), client->identity.id());
  const Bytes there = pattern(3'000'001, 1), back = pattern(2'000'003, 2);
  tasks.spawn("write", write(*client, there));
  tasks.spawn("write", write(*server, back));
  tasks.spawn("read", read(*client, back.size()));
  tasks.spawn("read", read(*server, there.size()));
  run();
  EXPECT_EQ(server->received, there);
  EXPECT_EQ(client->received, back);
}

TEST_F(TlsStreamPair, ARefusedPeerGetsAnAlert) {
  server->check.expected = Identity::make().value().id();
  secure();
  EXPECT_EQ(server->secured.category(), asio::error::get_ssl_category());
  tasks.spawn("read", read(*client, 1));  // in TLS 1.3 the client hears of it after its own handshake
  run();
  EXPECT_EQ(client->read.category(), asio::error::get_ssl_category()) << client->read.message();
}

TEST_F(TlsStreamPair, AnEndWithoutACloseIsAnError) {
  secure();
  client->stream.socket().close();
  tasks.spawn("read", read(*server, 1));
  run();
  EXPECT_EQ(server->read, asio::ssl::error::stream_truncated);
}

TEST_F(TlsStreamPair, AlteredBytesAreRefused) {
  secure();
  const Bytes record{23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  asio::write(client->stream.socket(), asio::buffer(record));
  tasks.spawn("read", read(*server, 1));
  run();
  EXPECT_EQ(server->read.category(), asio::error::get_ssl_category());
}

}  // namespace
}  // namespace gw::transport
