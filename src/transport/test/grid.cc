#include "transport/test/grid.h"

namespace gw::transport {
namespace {

constexpr std::chrono::seconds kPatience{30};

// Reads until the other side ends it.
template <class Stream>
asio::awaitable<void> read_to_end(Stream& stream, std::shared_ptr<StrangerOutcome> outcome) {
  Bytes buffer(64u << 10);
  while (!outcome->end) {
    auto [error, count] = co_await stream.async_read_some(asio::buffer(buffer), kAsTuple);
    outcome->received.insert(outcome->received.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
    outcome->end = error;
  }
}

}  // namespace

asio::ssl::context tls_of(const Identity& identity) { return make_tls_context(identity.key().get(), identity.certificate().get()).value(); }

Bytes hello() {
  ByteWriter payload;
  payload.u16(1);
  payload.u64(1);
  Bytes frame;
  append_frame(frame, {.kind = FrameKind::hello, .payload = payload.view()});
  return frame;
}

Node& Grid::start(Transport::Config config, Identity identity) {
  auto& node = *nodes.emplace_back(new Node{std::move(identity), {}, {}, {}});
  node.transport = Transport::make(io, node.identity, node.inbox, config).value();
  node.inbox.transport = node.transport.get();
  node.at = node.transport->listen({asio::ip::address_v4::loopback(), 0}).value();
  return node;
}

bool Grid::until(const std::function<bool()>& holds) {
  auto end = std::chrono::steady_clock::now() + kPatience;
  io.restart();
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "it did not happen within " << kPatience.count() << " s";
      return false;
    }
    io.run_one_for(std::chrono::milliseconds(100));
    if (io.stopped()) io.restart();
  }
  return true;
}

Result<PeerId> Grid::connect(Node& from, const Node& to, std::optional<PeerId> expected) {
  std::optional<Result<PeerId>> result;
  from.transport->connect(to.at, expected, [&](Result<PeerId> peer) { result = std::move(peer); });
  if (!until([&] { return result.has_value(); })) return fail(Kind::timeout, "no result");
  // The one who was dialled may know a moment later.
  if (*result) until([&] { return to.transport->peers().size() > 0; });
  return *result;
}

void Grid::connect_at_last(Node& from, const Node& to) {
  while (!connect(from, to, to.id())) {
    ASSERT_FALSE(HasFailure());
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    until([&] { return std::chrono::steady_clock::now() >= next; });
  }
}

std::shared_ptr<StrangerOutcome> Grid::plain_stranger(const Node& to, Bytes bytes) {
  auto outcome = std::make_shared<StrangerOutcome>();
  strangers.spawn("stranger", talk(to.at, std::move(bytes), outcome));
  return outcome;
}

std::shared_ptr<StrangerOutcome> Grid::stranger(const Node& to, asio::ssl::context tls, Bytes bytes, Manner manner) {
  auto outcome = std::make_shared<StrangerOutcome>();
  strangers.spawn("stranger", talk_tls(to.at, std::move(tls), std::move(bytes), manner, outcome));
  return outcome;
}

asio::awaitable<void> Grid::talk(Endpoint to, Bytes bytes, std::shared_ptr<StrangerOutcome> outcome) {
  auto socket = sockets.emplace_back(std::make_shared<asio::ip::tcp::socket>(io));
  co_await socket->async_connect(to, kAsTuple);
  co_await asio::async_write(*socket, asio::buffer(bytes), kAsTuple);
  co_await read_to_end(*socket, outcome);
  socket->close();
}

asio::awaitable<void> Grid::talk_tls(Endpoint to, asio::ssl::context tls, Bytes bytes, Manner manner,
                                     std::shared_ptr<StrangerOutcome> outcome) {
  auto socket = sockets.emplace_back(std::make_shared<asio::ip::tcp::socket>(io));
  co_await socket->async_connect(to, kAsTuple);
  asio::ssl::stream<asio::ip::tcp::socket&> stream(*socket, tls);
  PeerCheck anybody;
  set_check(stream.native_handle(), anybody);
  auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::client, kAsTuple);
  outcome->secured = !refused;
  outcome->end = refused;
  if (refused) co_return;
  co_await asio::async_write(stream, asio::buffer(bytes), kAsTuple);
  if (manner == Manner::ignores) co_return;
  co_await read_to_end(stream, outcome);
  socket->close();
}

asio::awaitable<void> Grid::stop_all() {
  strangers.stop();
  co_await strangers.wait();
  for (auto& node : nodes) co_await node->transport->stop();
}

void Grid::TearDown() {
  for (auto& socket : sockets) socket->close();
  TaskGroup stopping(io.get_executor());
  stopping.spawn("stop", stop_all());
  ASSERT_TRUE(until([&] { return stopping.size() == 0; }));
}

}  // namespace gw::transport
