// Strangers who do not keep to the rules: each is refused, for the reason it should be, and others are undisturbed.

#include <openssl/x509.h>

#include "transport/test/grid.h"

namespace gw::transport {
namespace {

using std::chrono::milliseconds;

class Hostile : public Grid {
 protected:
  // A message still goes from one honest peer to another.
  void expect_undisturbed(Node& node) {
    Node& honest = start();
    connect(honest, node);
    ASSERT_TRUE(honest.transport->send(node.id(), Lane::control, {1}));
    EXPECT_TRUE(until([&] { return !node.inbox.messages.empty(); }));
    EXPECT_EQ(node.inbox.messages[0].from, honest.id());
  }

  // The end of a connection whose peer says hello properly, then `bytes`.
  Ended fate_after(Bytes bytes, Transport::Config config = {}) {
    Node& node = start(config);
    Bytes all = hello();
    all.insert(all.end(), bytes.begin(), bytes.end());
    stranger(node, tls_of(Identity::make().value()), std::move(all));
    until([&] { return node.inbox.disconnected.size() == 1; });
    EXPECT_TRUE(node.inbox.messages.empty());
    return node.inbox.disconnected.at(0).second;
  }
};

asio::ssl::context tls_with(const Identity& identity, long from_seconds, long to_seconds, const Identity& signer) {
  CertificatePointer copy(X509_dup(identity.certificate().get()), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(copy.get()), from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(copy.get()), to_seconds);
  X509_sign(copy.get(), signer.key().get(), nullptr);
  return make_tls_context(identity.key().get(), copy.get()).value();
}

TEST_F(Hostile, AnExpiredCertificate) {
  Node& node = start();
  Identity identity = Identity::make().value();
  auto outcome = stranger(node, tls_with(identity, -7200, -3600, identity), hello());
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  expect_undisturbed(node);
  EXPECT_EQ(node.inbox.connected.size(), 1u) << "only the honest one";
}

TEST_F(Hostile, AForgedCertificate) {
  Node& node = start();
  auto outcome = stranger(node, tls_with(Identity::make().value(), -3600, 3600, Identity::make().value()), hello());
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  expect_undisturbed(node);
  EXPECT_EQ(node.inbox.connected.size(), 1u);
}

TEST_F(Hostile, NoCertificate) {
  Node& node = start();
  asio::ssl::context bare(asio::ssl::context::tlsv13_client);
  auto outcome = stranger(node, std::move(bare), hello());
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  expect_undisturbed(node);
  EXPECT_EQ(node.inbox.connected.size(), 1u);
}

TEST_F(Hostile, AnOlderTls) {
  Node& node = start();
  asio::ssl::context old(asio::ssl::context::tlsv12_client);
  auto outcome = stranger(node, std::move(old), {});
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  EXPECT_FALSE(outcome->secured);
}

TEST_F(Hostile, GarbageInsteadOfTls) {
  Node& node = start();
  auto outcome = plain_stranger(node, Bytes(100'000, 'x'));
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  expect_undisturbed(node);
}

TEST_F(Hostile, ASilentConnectionIsClosedAtTheDeadline) {
  Node& node = start({.connection = {.liveness = {.handshake = milliseconds(50)}}});
  auto outcome = plain_stranger(node, {});
  EXPECT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
}

TEST_F(Hostile, ASlowHandshakeGivesWayToOthers) {
  Node& node = start({.connection = {.liveness = {.handshake = std::chrono::minutes(10)}}, .admission = {.handshakes = 1}});
  auto outcome = plain_stranger(node, {});
  Node& honest = start();
  connect_at_last(honest, node);  // refused while the stranger may still be on its way
  EXPECT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
}

TEST_F(Hostile, TlsButNoHelloUntilTheDeadline) {
  Node& node = start({.connection = {.liveness = {.handshake = milliseconds(50)}}});
  auto outcome = stranger(node, tls_of(Identity::make().value()), {});
  EXPECT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  EXPECT_TRUE(node.inbox.connected.empty());
}

TEST_F(Hostile, AMessageBeforeTheHello) {
  Node& node = start();
  Bytes frame, payload{1};
  append_frame(frame, {.payload = payload});
  auto outcome = stranger(node, tls_of(Identity::make().value()), std::move(frame));
  ASSERT_TRUE(until([&] { return static_cast<bool>(outcome->end); }));
  EXPECT_TRUE(node.inbox.messages.empty());
  EXPECT_NE(as_text(outcome->received).find("before its hello"), std::string_view::npos) << "it is told why";
}

TEST_F(Hostile, AnOversizedFrame) {
  ByteWriter header;
  header.u32(1u << 30);
  header.u8(2);
  header.u8(0);
  header.u32(0);
  EXPECT_EQ(fate_after(header.take()).cause, Cause::broke_rules);
  expect_undisturbed(*nodes[0]);
}

TEST_F(Hostile, AMessageWithoutEnd) {
  Bytes frames, part(kMaxFramePayload);
  for (std::size_t i = 0; i <= kMaxMessageBytes / kMaxFramePayload; ++i) append_frame(frames, {.more = true, .payload = part});
  EXPECT_EQ(fate_after(std::move(frames)).cause, Cause::broke_rules);
}

TEST_F(Hostile, ASecondHello) { EXPECT_EQ(fate_after(hello()).cause, Cause::broke_rules); }

TEST_F(Hostile, GarbageInsideTls) { EXPECT_EQ(fate_after(Bytes(1000, 0xff)).cause, Cause::broke_rules); }

TEST_F(Hostile, HalfAFrameAndThenSilence) {
  Ended ended = fate_after(
      {1, 0, 0}, {.connection = {.liveness = {.ping_after = milliseconds(20), .silence = milliseconds(60), .idle = milliseconds(20)}}});
  EXPECT_EQ(ended.cause, Cause::silent);
}

TEST_F(Hostile, ARepeatedRequestNumberEndsTheConnection) {
  Bytes frames, payload{1};
  for (int i = 0; i < 2; ++i) append_frame(frames, {.kind = FrameKind::request, .stream = 7, .payload = payload});
  Node& node = start();
  node.inbox.mute = true;
  Bytes all = hello();
  all.insert(all.end(), frames.begin(), frames.end());
  stranger(node, tls_of(Identity::make().value()), std::move(all));
  ASSERT_TRUE(until([&] { return node.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(node.inbox.disconnected[0].second.cause, Cause::broke_rules);
}

TEST_F(Hostile, RequestsBeyondTheLimitAreRefused) {
  Node& node = start({.connection = {.open_requests = 2}});
  node.inbox.mute = true;
  Bytes all = hello(), payload{1};
  for (std::uint32_t i = 1; i <= 3; ++i) append_frame(all, {.kind = FrameKind::request, .stream = i, .payload = payload});
  auto outcome = stranger(node, tls_of(Identity::make().value()), std::move(all));
  ASSERT_TRUE(until([&] { return as_text(outcome->received).find("2 requests of this peer are open already") != std::string_view::npos; }));
  EXPECT_TRUE(node.inbox.disconnected.empty());
}

TEST_F(Hostile, APeerThatSendsTooFastIsReadSlowly) {
  constexpr std::size_t kMessages = 60;
  Node& node = start({.connection = {.read_frames = {.per_second = 100, .burst = 10}}});
  Bytes all = hello(), payload(1000);
  for (std::size_t i = 0; i < kMessages; ++i) append_frame(all, {.payload = payload});
  const auto began = std::chrono::steady_clock::now();
  stranger(node, tls_of(Identity::make().value()), std::move(all));
  ASSERT_TRUE(until([&] { return node.inbox.messages.size() == kMessages; }));
  // The bytes of the last read are free: the next read pays for them.
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(300));
  EXPECT_TRUE(node.inbox.disconnected.empty());
}

TEST_F(Hostile, CreditForBytesThatWereNotSentEndsTheConnection) {
  ByteWriter taken;
  taken.u64(1);
  Bytes frame;
  append_frame(frame, {.kind = FrameKind::credit, .payload = taken.view()});
  EXPECT_EQ(fate_after(std::move(frame)).cause, Cause::broke_rules);
}

TEST_F(Hostile, APeerThatNeverReadsIsDisconnected) {
  Node& node = start({.connection = {.liveness = {.write = milliseconds(100)}, .queue = {.bulk_bytes = 4u << 20}}});
  stranger(node, tls_of(Identity::make().value()), hello(), Manner::ignores);
  ASSERT_TRUE(until([&] { return node.inbox.connected.size() == 1; }));
  PeerId lazy = node.inbox.connected[0];
  auto send = [&] { return node.transport->send(lazy, Lane::bulk, Bytes(1u << 20)); };
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(send());
  EXPECT_EQ(send().error().kind, Kind::overloaded);
  // The connection takes what fits into the kernel's buffers; when they are full, the deadline passes.
  ASSERT_TRUE(until([&] { return (void)send(), node.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(node.inbox.disconnected[0].second.cause, Cause::silent);
}

TEST_F(Hostile, TooManyConnectionsFromOneAddress) {
  Node& node = start({.admission = {.per_address = 2}});
  std::vector<std::shared_ptr<StrangerOutcome>> outcomes;
  for (int i = 0; i < 2; ++i) outcomes.push_back(stranger(node, tls_of(Identity::make().value()), hello()));
  ASSERT_TRUE(until([&] { return node.inbox.connected.size() == 2; }));
  auto third = stranger(node, tls_of(Identity::make().value()), hello());
  ASSERT_TRUE(until([&] { return static_cast<bool>(third->end); }));
  EXPECT_FALSE(third->secured);
  sockets[0]->close();
  ASSERT_TRUE(until([&] { return node.inbox.disconnected.size() == 1; }));
  expect_undisturbed(node);
}

TEST_F(Hostile, AServerThatIsNoPeer) {
  // The other side accepts, and answers TLS with something else.
  Node& node = start({.connection = {.liveness = {.handshake = milliseconds(100)}}});
  asio::ip::tcp::acceptor acceptor(io, Endpoint(asio::ip::address_v4::loopback(), 0));
  std::optional<Result<PeerId>> result;
  node.transport->connect(acceptor.local_endpoint(), std::nullopt, [&](Result<PeerId> peer) { result = std::move(peer); });
  ASSERT_TRUE(until([&] { return result.has_value(); }));
  EXPECT_EQ(result->error().kind, Kind::timeout);
}

}  // namespace
}  // namespace gw::transport
