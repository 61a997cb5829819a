// Three transports in one process: two ends and a relay.

#include <algorithm>
#include <string>

#include "transport/test/grid.h"

namespace gw::transport {
namespace {

Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

class CircuitTest : public Grid {
 protected:
  // Both ends have dialled the relay, as peers behind NATs have.
  Node& relay(Transport::Config config = {}) {
    Node& node = start(config);
    connect(near, node);
    connect(far, node);
    return node;
  }

  Result<PeerId> connect_through(const Node& relay) {
    std::optional<Result<PeerId>> result;
    near.transport->connect_through(relay.id(), far.id(), [&](Result<PeerId> peer) { result = std::move(peer); });
    if (!until([&] { return result.has_value(); })) return fail(Kind::timeout, "no result");
    if (*result) until([&] { return far.transport->connected(near.id()); });
    return *result;
  }

  bool exchange(std::string_view there, std::string_view back) {
    const std::size_t at_far = far.inbox.messages.size(), at_near = near.inbox.messages.size();
    EXPECT_TRUE(near.transport->send(far.id(), Lane::control, text_bytes(there)));
    if (!until([&] { return far.inbox.messages.size() > at_far; })) return false;
    EXPECT_TRUE(far.transport->send(near.id(), Lane::bulk, text_bytes(back)));
    if (!until([&] { return near.inbox.messages.size() > at_near; })) return false;
    return as_text(far.inbox.messages.back().message) == there && as_text(near.inbox.messages.back().message) == back;
  }

  Way way() { return near.transport->connection_origin(far.id())->way; }

  Node& near = start();
  Node& far = start();
};

TEST_F(CircuitTest, MessagesPassThroughARelayThatCannotReadThem) {
  Node& middle = relay();
  ASSERT_EQ(connect_through(middle).value(), far.id());
  EXPECT_TRUE(exchange("there and", "back again"));
  EXPECT_EQ(way(), Way::relayed);
  EXPECT_EQ(far.transport->connection_origin(near.id())->way, Way::relayed);
  EXPECT_TRUE(middle.inbox.messages.empty());
  const Transport::Totals totals = middle.transport->totals();
  EXPECT_EQ(totals.relayed.opened, 1u);
  EXPECT_EQ(totals.circuits, 1u);
  EXPECT_GT(totals.relayed.bytes, 1000u) << "two handshakes at least";
  const auto relayed = static_cast<std::size_t>(Way::relayed);
  EXPECT_EQ(near.transport->totals().traffic[relayed].messages_out, 1u);
  EXPECT_EQ(near.transport->totals().traffic[relayed].messages_in, 1u);
  EXPECT_EQ(middle.transport->totals().traffic[relayed].bytes_in, 0u) << "it has no connection of that way itself";
}

TEST_F(CircuitTest, MoreThanTheCreditComesWholeAndInOrder) {
  Node& middle = relay();
  ASSERT_TRUE(connect_through(middle));
  Bytes longest(kMaxMessageBytes);
  for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(near.transport->send(far.id(), Lane::bulk, longest));
  ASSERT_TRUE(near.transport->send(far.id(), Lane::control, text_bytes("urgent")));
  ASSERT_TRUE(until([&] { return far.inbox.messages.size() == 3; }));
  EXPECT_EQ(as_text(far.inbox.messages[0].message), "urgent");
  EXPECT_EQ(far.inbox.messages[2].message, longest);
  EXPECT_GT(middle.transport->totals().relayed.bytes, 2 * kMaxMessageBytes);
}

TEST_F(CircuitTest, AGoodbyePassesThroughIt) {
  Node& middle = relay();
  ASSERT_TRUE(connect_through(middle));
  ASSERT_TRUE(near.transport->send(far.id(), Lane::control, text_bytes("last words")));
  near.transport->disconnect(far.id(), "work is done");
  ASSERT_TRUE(until([&] { return !far.inbox.disconnected.empty() && middle.transport->totals().circuits == 0; }));
  EXPECT_EQ(as_text(far.inbox.messages.at(0).message), "last words");
  EXPECT_EQ(far.inbox.disconnected[0].second.cause, Cause::goodbye_theirs);
  EXPECT_TRUE(near.transport->connected(middle.id()));
  EXPECT_TRUE(far.transport->connected(middle.id()));
}

TEST_F(CircuitTest, TheDeathOfARelayIsNotThatOfThePeerAndAnotherOneServes) {
  Node& first = relay();
  Node& second = relay();
  ASSERT_TRUE(connect_through(first));
  ASSERT_TRUE(exchange("one", "two"));
  TaskGroup dying(io.get_executor());
  dying.spawn("stop", first.transport->stop());
  const auto lost = [&](const Node& at, const Node& whom) {
    return std::ranges::any_of(at.inbox.disconnected,
                               [&](const auto& one) { return one.first == whom.id() && one.second.cause == Cause::carrier; });
  };
  ASSERT_TRUE(until([&] { return lost(near, far) && lost(far, near) && dying.size() == 0; }));
  ASSERT_TRUE(connect_through(second));
  EXPECT_TRUE(exchange("three", "four"));
}

TEST_F(CircuitTest, ARelayThatFallsSilentIsNoticedSoon) {
  const Liveness::Config hasty{.fast_ping = std::chrono::milliseconds(50), .fast_silence = std::chrono::milliseconds(400)};
  Node& one = start({.connection = {.liveness = hasty}});
  auto outcome = stranger(one, tls_of(Identity::make().value()), hello(), Manner::ignores);
  ASSERT_TRUE(until([&] { return one.inbox.connected.size() == 1; }));
  one.transport->keep({one.inbox.connected[0]});
  ASSERT_TRUE(until([&] { return one.inbox.disconnected.size() == 1; })) << "though nothing was sent";
  EXPECT_EQ(one.inbox.disconnected[0].second.cause, Cause::silent);
}

TEST_F(CircuitTest, ABetterWayTakesItsPlaceAndAWorseOneDoesNot) {
  Node& middle = relay();
  ASSERT_TRUE(connect_through(middle));
  ASSERT_TRUE(exchange("slow", "ly"));
  connect(near, far);
  ASSERT_TRUE(until([&] { return way() == Way::direct && far.transport->connection_origin(near.id())->way == Way::direct; }));
  ASSERT_TRUE(until([&] { return middle.transport->totals().circuits == 0; }));
  EXPECT_TRUE(exchange("fast", "er"));
  EXPECT_EQ(near.inbox.ways, (std::vector{Way::direct, Way::relayed, Way::direct})) << "the relay, then the far end twice";
  ASSERT_EQ(connect_through(middle).value(), far.id()) << "there is a connection";
  EXPECT_TRUE(until([&] { return middle.transport->totals().circuits == 0; }));
  EXPECT_EQ(way(), Way::direct);
  EXPECT_TRUE(near.inbox.disconnected.empty());
  EXPECT_TRUE(far.inbox.disconnected.empty());
}

TEST_F(CircuitTest, AnUnusedCircuitIsClosed) {
  const Connection::Config hasty{.liveness = {.fast_ping = std::chrono::milliseconds(20)}, .relayed_idle = std::chrono::milliseconds(1)};
  Node &one = start({.connection = hasty}), &middle = start();
  connect(one, middle);
  connect(far, middle);
  one.transport->connect_through(middle.id(), far.id(), [](const Result<PeerId>&) {});
  ASSERT_TRUE(until([&] { return middle.transport->totals().relayed.opened == 1 && middle.transport->totals().circuits == 0; }));
  ASSERT_TRUE(until([&] { return one.inbox.disconnected.size() == 1 && far.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(one.inbox.disconnected[0].second.cause, Cause::idle);
  EXPECT_EQ(far.inbox.disconnected[0].second.cause, Cause::idle) << "no evidence of death";
}

TEST_F(CircuitTest, ACalledPeerDials) {
  Node& middle = relay();
  far.transport->keep({middle.id()});
  ASSERT_TRUE(near.transport->call(middle.id(), far.id(), near.at.port()));
  ASSERT_TRUE(until([&] { return near.transport->connected(far.id()) && far.transport->connected(near.id()); }));
  EXPECT_TRUE(exchange("hello", "you called"));
  EXPECT_EQ(way(), Way::reverse);
  EXPECT_EQ(near.transport->connection_origin(far.id())->dialer, Dialer::them);
  EXPECT_EQ(far.transport->connection_origin(near.id())->way, Way::reverse);
  EXPECT_EQ(middle.transport->totals().relayed.opened, 0u);
}

TEST_F(CircuitTest, CallsAreTakenFromAnchorsOnly) {
  Node& middle = relay();
  ASSERT_TRUE(near.transport->call(middle.id(), far.id(), near.at.port()));
  // A message sent after the call arrives after it.
  ASSERT_TRUE(near.transport->send(middle.id(), Lane::control, text_bytes("ping")));
  ASSERT_TRUE(until([&] { return middle.inbox.messages.size() == 1; }));
  ASSERT_TRUE(middle.transport->send(far.id(), Lane::control, text_bytes("ping")));
  ASSERT_TRUE(until([&] { return far.inbox.messages.size() == 1; }));
  EXPECT_EQ(far.transport->totals().connections, (std::array<std::uint64_t, 3>{1, 0, 0}));
  EXPECT_FALSE(near.transport->connected(far.id()));
}

TEST_F(CircuitTest, ARelayRefusesWithAReason) {
  Node& middle = start();
  connect(near, middle);
  const auto unknown = connect_through(middle);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, Kind::disconnected);
  EXPECT_NE(unknown.error().detail.find("no connection"), std::string::npos) << unknown.error().detail;
  Node& unwilling = relay({.relay = {.circuits = 0}});
  const auto refused = connect_through(unwilling);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find("circuits already"), std::string::npos) << refused.error().detail;
  const Node& stranger = start();
  std::optional<Result<PeerId>> result;
  near.transport->connect_through(stranger.id(), far.id(), [&](Result<PeerId> peer) { result = std::move(peer); });
  EXPECT_FALSE(result) << "never from inside the call";
  ASSERT_TRUE(until([&] { return result.has_value(); }));
  EXPECT_EQ(result->error().kind, Kind::disconnected);
}

TEST_F(CircuitTest, AnEndThatExceedsItsCreditIsDisconnected) {
  Node& middle = relay();
  const Identity mute = Identity::make().value();
  stranger(middle, tls_of(mute), hello(), Manner::ignores);
  ASSERT_TRUE(until([&] { return middle.transport->connected(mute.id()); }));
  Bytes bytes = hello();
  append_frame(bytes, {.kind = FrameKind::circuit_open, .stream = 1, .payload = mute.id().bytes});
  const Bytes piece(kMaxCircuitPayload);
  for (std::size_t i = 0; i <= kCircuitCredit / kMaxCircuitPayload; ++i)
    append_frame(bytes, {.kind = FrameKind::circuit_data, .stream = 1, .payload = piece});
  stranger(middle, tls_of(Identity::make().value()), bytes);
  ASSERT_TRUE(until([&] { return middle.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(middle.inbox.disconnected[0].second.cause, Cause::broke_rules);
  ASSERT_TRUE(until([&] { return middle.transport->totals().circuits == 0; }));
  ASSERT_TRUE(connect_through(middle)) << "others are not disturbed";
  EXPECT_TRUE(exchange("still", "here"));
}

TEST_F(CircuitTest, AProbeFindsWhoIsThereAndLeavesNoConnection) {
  std::vector<Status> results;
  const auto note = [&](Status result) { results.push_back(std::move(result)); };
  near.transport->probe(far.at, far.id(), note);
  ASSERT_TRUE(until([&] { return results.size() == 1; }));
  EXPECT_TRUE(results[0]);
  near.transport->probe(far.at, near.id(), note);
  ASSERT_TRUE(until([&] { return results.size() == 2; }));
  EXPECT_EQ(results[1].error().kind, Kind::invalid);
  Endpoint nowhere;
  {
    asio::ip::tcp::acceptor unused(io, Endpoint(asio::ip::address_v4::loopback(), 0));
    nowhere = unused.local_endpoint();
  }
  near.transport->probe(nowhere, far.id(), note);
  ASSERT_TRUE(until([&] { return results.size() == 3; }));
  EXPECT_EQ(results[2].error().kind, Kind::not_found);
  asio::ip::tcp::acceptor mute(io, Endpoint(asio::ip::address_v4::loopback(), 0));
  near.transport->probe(mute.local_endpoint(), far.id(), note);
  ASSERT_TRUE(until([&] { return results.size() == 4; }));
  EXPECT_EQ(results[3].error().kind, Kind::timeout);
  EXPECT_TRUE(near.inbox.connected.empty());
  EXPECT_TRUE(far.inbox.connected.empty());
}

TEST_F(CircuitTest, OverTheNewerInternetProtocolToo) {
  Node& six = start();
  const auto at = six.transport->listen({asio::ip::address_v6::loopback(), 0});
  ASSERT_TRUE(at) << at.error().detail;
  const auto both = six.transport->listen({asio::ip::address_v4::loopback(), at->port()});
  ASSERT_TRUE(both) << "the same port of both: " << both.error().detail;
  six.at = *at;
  connect(near, six);
  connect(far, six);
  far.transport->keep({six.id()});
  EXPECT_TRUE(near.transport->connection_origin(six.id())->remote.address().is_v6());
  const auto own = near.transport->listen({asio::ip::address_v6::loopback(), 0}).value();
  ASSERT_TRUE(near.transport->call(six.id(), far.id(), own.port()));
  ASSERT_TRUE(until([&] { return near.transport->connected(far.id()) && far.transport->connected(near.id()); }));
  EXPECT_TRUE(far.transport->connection_origin(near.id())->remote.address().is_v6());
  EXPECT_TRUE(exchange("six", "six"));
}

}  // namespace
}  // namespace gw::transport
