#pragma once
// Transports on the loopback interface, and strangers who talk to them.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace gw::transport {

// Writes down what a transport tells it. Answers a request with the same bytes, and refuses an empty one.
class Inbox final : public Receiver {
 public:
  struct Got {
    PeerId from;
    Lane lane;
    Bytes message;
  };

  void on_connected(const PeerId& peer, const ConnectionOrigin& origin) override {
    connected.push_back(peer);
    ways.push_back(origin.way);
  }
  void on_message(const PeerId& from, Lane lane, Bytes message) override { messages.push_back({from, lane, std::move(message)}); }
  void on_request(const RequestId& request, Bytes message) override {
    if (mute) return;
    Result<Bytes> answer = std::move(message);
    if (answer->empty()) answer = fail(Kind::not_found, "nothing was asked");
    EXPECT_TRUE(transport->answer(request, Lane::bulk, std::move(answer)));
  }
  void on_disconnected(const PeerId& peer, const Ended& ended) override { disconnected.emplace_back(peer, ended); }

  Transport* transport = nullptr;
  bool mute = false;  // never answers
  std::vector<PeerId> connected;
  std::vector<Way> ways;  // of `connected`
  std::vector<Got> messages;
  std::vector<std::pair<PeerId, Ended>> disconnected;
};

struct Node {
  Identity identity;
  Inbox inbox;
  std::unique_ptr<Transport> transport;
  Endpoint at;

  const PeerId& id() const { return identity.id(); }
};

// The outcome of a stranger's connection, seen from its side.
struct StrangerOutcome {
  bool secured = false;  // the handshake succeeded on its side
  Bytes received;
  error_code end;
};

class Grid : public testing::Test {
 protected:
  Node& start(Transport::Config config = {}) { return start(config, Identity::make().value()); }
  Node& start(Transport::Config config, Identity identity);

  // Runs everything until it holds. False, and a failed test, if that takes far too long.
  bool until(const std::function<bool()>& holds);
  // Connects two nodes.
  Result<PeerId> connect(Node& from, const Node& to, std::optional<PeerId> expected);
  void connect(Node& from, const Node& to) { ASSERT_TRUE(connect(from, to, to.id())); }
  // Tries again and again while it is refused.
  void connect_at_last(Node& from, const Node& to);

  // A stranger connects to `to`, sends bytes as they are, without TLS or over it, then reads to the end or not at all.
  enum class Manner { reads, ignores };
  std::shared_ptr<StrangerOutcome> plain_stranger(const Node& to, Bytes bytes);
  std::shared_ptr<StrangerOutcome> stranger(const Node& to, asio::ssl::context tls, Bytes bytes, Manner manner = Manner::reads);

  void TearDown() override;

  asio::io_context io{1};
  std::vector<std::unique_ptr<Node>> nodes;
  TaskGroup strangers{io.get_executor()};
  std::vector<std::shared_ptr<asio::ip::tcp::socket>> sockets;  // of the strangers, so that a test can break one

 private:
  asio::awaitable<void> stop_all();
  asio::awaitable<void> talk(Endpoint to, Bytes bytes, std::shared_ptr<StrangerOutcome> outcome);
  asio::awaitable<void> talk_tls(Endpoint to, asio::ssl::context tls, Bytes bytes, Manner manner, std::shared_ptr<StrangerOutcome> outcome);
};

// The TLS side of an honest peer.
asio::ssl::context tls_of(const Identity& identity);
Bytes hello();

}  // namespace gw::transport
