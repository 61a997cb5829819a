#include "transport/transport.h"

#include <algorithm>
#include <string>

#include "transport/test/grid.h"

namespace gw::transport {
namespace {

using std::chrono::milliseconds;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

TEST_F(Grid, MessagesGoBothWaysOverOneConnection) {
  Node &first = start(), &second = start();
  connect(first, second);
  ASSERT_TRUE(first.transport->send(second.id(), Lane::control, bytes_of("there")));
  ASSERT_TRUE(until([&] { return second.inbox.messages.size() == 1; }));
  ASSERT_TRUE(second.transport->send(first.id(), Lane::bulk, bytes_of("back")));
  ASSERT_TRUE(until([&] { return first.inbox.messages.size() == 1; }));
  EXPECT_EQ(second.inbox.messages[0].from, first.id());
  EXPECT_EQ(as_text(second.inbox.messages[0].message), "there");
  EXPECT_EQ(first.inbox.messages[0].from, second.id());
  EXPECT_EQ(first.inbox.messages[0].lane, Lane::bulk);
  EXPECT_EQ(first.inbox.connected, std::vector{second.id()});
  EXPECT_EQ(second.inbox.connected, std::vector{first.id()});
}

TEST_F(Grid, TenThousandSmallMessagesComeInOrder) {
  constexpr std::uint64_t kCount = 10'000;
  Node &first = start(), &second = start();
  connect(first, second);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ByteWriter number;
    number.u64(i);
    ASSERT_TRUE(first.transport->send(second.id(), Lane::control, number.take()));
  }
  ASSERT_TRUE(until([&] { return second.inbox.messages.size() == kCount; }));
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(ByteReader(second.inbox.messages[i].message).u64().value(), i);
}

TEST_F(Grid, TheLongestMessageComesWholeAndControlOvertakesIt) {
  Node &first = start(), &second = start();
  connect(first, second);
  Bytes longest(kMaxMessageBytes);
  for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(first.transport->send(second.id(), Lane::bulk, longest));
  ASSERT_TRUE(first.transport->send(second.id(), Lane::control, bytes_of("urgent")));
  EXPECT_EQ(first.transport->send(second.id(), Lane::bulk, Bytes(kMaxMessageBytes + 1)).error().kind, Kind::invalid);
  ASSERT_TRUE(until([&] { return second.inbox.messages.size() == 5; }));
  EXPECT_EQ(as_text(second.inbox.messages[0].message), "urgent");
  EXPECT_EQ(second.inbox.messages[4].message, longest);
}

TEST_F(Grid, RequestsAreAnsweredRefusedOrTimeOut) {
  Node &first = start(), &second = start();
  connect(first, second);
  std::vector<std::string> ends;
  auto ask = [&](Bytes question, milliseconds timeout) {
    auto done = [&](Result<Bytes> answer) { ends.emplace_back(answer ? as_text(*answer) : name(answer.error().kind)); };
    ASSERT_TRUE(first.transport->request(second.id(), Lane::control, std::move(question), timeout, done));
  };
  ask(bytes_of("echo"), milliseconds(20'000));
  ASSERT_TRUE(until([&] { return ends.size() == 1; }));
  ask({}, milliseconds(20'000));
  ASSERT_TRUE(until([&] { return ends.size() == 2; }));
  second.inbox.mute = true;
  ask(bytes_of("silence"), milliseconds(20));
  ASSERT_TRUE(until([&] { return ends.size() == 3; }));
  ask(bytes_of("lost"), milliseconds(20'000));
  second.transport->disconnect(first.id(), "enough");
  ASSERT_TRUE(until([&] { return ends.size() == 4; }));
  EXPECT_EQ(ends, (std::vector<std::string>{"echo", std::string(name(Kind::not_found)), std::string(name(Kind::timeout)),
                                            std::string(name(Kind::disconnected))}));
}

TEST_F(Grid, AnotherPeerThanExpectedIsRefused) {
  Node &first = start(), &second = start(), &third = start();
  auto result = connect(first, second, third.id());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Kind::invalid);
  EXPECT_NE(result.error().detail.find(second.id().hex()), std::string::npos) << "says who is there: " << result.error().detail;
  EXPECT_TRUE(first.inbox.connected.empty());
  EXPECT_TRUE(second.inbox.connected.empty());
  EXPECT_EQ(first.transport->send(second.id(), Lane::control, {}).error().kind, Kind::disconnected);
  EXPECT_EQ(connect(first, second, std::nullopt).value(), second.id()) << "who expects nobody learns who it is";
}

TEST_F(Grid, ToOneselfIsRefused) {
  Node& node = start();
  EXPECT_EQ(connect(node, node, std::nullopt).error().kind, Kind::invalid);
  EXPECT_TRUE(node.inbox.connected.empty());
}

TEST_F(Grid, ARefusedDialIsDistinguishedFromSilence) {
  Node &first = start(), &gone = start();
  Endpoint where = gone.at;
  asio::ip::tcp::acceptor unused(io, Endpoint(where.address(), 0));
  gone.at = unused.local_endpoint();
  unused.close();
  EXPECT_EQ(connect(first, gone, gone.id()).error().kind, Kind::not_found);
  Node& hasty = start({.connection = {.liveness = {.handshake = milliseconds(50)}}});
  asio::ip::tcp::acceptor mute(io, Endpoint(where.address(), 0));
  gone.at = mute.local_endpoint();
  EXPECT_EQ(connect(hasty, gone, gone.id()).error().kind, Kind::timeout);
}

TEST_F(Grid, MessagesSentBeforeAGoodbyeArrive) {
  Node &first = start(), &second = start();
  connect(first, second);
  ASSERT_TRUE(first.transport->send(second.id(), Lane::control, bytes_of("I leave")));
  first.transport->disconnect(second.id(), "it is late");
  ASSERT_TRUE(until([&] { return second.inbox.disconnected.size() == 1; }));
  ASSERT_EQ(second.inbox.messages.size(), 1u);
  EXPECT_EQ(as_text(second.inbox.messages[0].message), "I leave");
}

TEST_F(Grid, TheConnectionUnusedForLongestMakesRoom) {
  Node& busy = start({.kept = 2, .spare = milliseconds(0)});
  Node &first = start(), &second = start(), &third = start();
  connect(busy, first);
  connect(busy, second);
  ASSERT_TRUE(first.transport->send(busy.id(), Lane::control, bytes_of("of use")));
  ASSERT_TRUE(until([&] { return busy.inbox.messages.size() == 1; }));
  connect(third, busy);
  ASSERT_TRUE(until([&] { return busy.inbox.disconnected.size() == 1 && second.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(busy.inbox.disconnected[0].second.cause, Cause::idle);
  EXPECT_EQ(second.inbox.disconnected[0].second.cause, Cause::idle) << "no evidence of death";
  EXPECT_EQ(busy.transport->peers().size(), 2u);
}

TEST_F(Grid, AtTheLimitTheOneUnusedForLongestMakesRoom) {
  Node& busy = start({.admission = {.connections = 1}});
  Node &first = start(), &second = start();
  connect(first, busy);
  connect_at_last(second, busy);  // refused until the first has gone
  EXPECT_EQ(busy.inbox.disconnected.size(), 1u);
  ASSERT_TRUE(until([&] { return first.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(first.inbox.disconnected[0].second.cause, Cause::idle);
}

TEST_F(Grid, AnOrderlyCloseIsDistinguishedFromABrokenConnection) {
  Node &first = start(), &second = start();
  connect(first, second);
  first.transport->disconnect(second.id(), "work is done");
  ASSERT_TRUE(until([&] { return first.inbox.disconnected.size() == 1 && second.inbox.disconnected.size() == 1; }));
  EXPECT_EQ(first.inbox.disconnected[0].second.cause, Cause::goodbye_ours);
  EXPECT_EQ(second.inbox.disconnected[0].second.cause, Cause::goodbye_theirs);
  EXPECT_NE(second.inbox.disconnected[0].second.sentence.find("work is done"), std::string::npos);

  stranger(second, tls_of(Identity::make().value()), hello());
  ASSERT_TRUE(until([&] { return second.inbox.connected.size() == 2; }));
  sockets.back()->set_option(asio::socket_base::linger(true, 0));
  sockets.back()->close();
  ASSERT_TRUE(until([&] { return second.inbox.disconnected.size() == 2; }));
  EXPECT_EQ(second.inbox.disconnected[1].second.cause, Cause::reset);
}

TEST_F(Grid, TwoWhoDialEachOtherAtOnceKeepOneConnection) {
  Node &first = start(), &second = start();
  int dialled = 0;
  auto done = [&](Result<PeerId>) { ++dialled; };
  first.transport->connect(second.at, second.id(), done);
  second.transport->connect(first.at, first.id(), done);
  ASSERT_TRUE(until([&] { return dialled == 2 && first.transport->peers().size() == 1 && second.transport->peers().size() == 1; }));
  // A message that is lost with the replaced connection is sent again, as peers do.
  auto send = [&] {
    (void)first.transport->send(second.id(), Lane::control, bytes_of("there"));
    (void)second.transport->send(first.id(), Lane::control, bytes_of("back"));
    return !first.inbox.messages.empty() && !second.inbox.messages.empty();
  };
  ASSERT_TRUE(until(send));
  EXPECT_EQ(first.inbox.connected, std::vector{second.id()});
  EXPECT_EQ(second.inbox.connected, std::vector{first.id()});
  EXPECT_TRUE(first.inbox.disconnected.empty());
  EXPECT_TRUE(second.inbox.disconnected.empty());
}

TEST_F(Grid, ALaterLifeOfAPeerTakesThePlaceOfTheEarlier) {
  Node &other = start(), &before = start({.boot = 1});
  connect(other, before);
  Node& after = start({.boot = 2}, before.identity);
  connect(after, other);
  ASSERT_TRUE(until([&] { return before.inbox.disconnected.size() == 1; }));
  ASSERT_TRUE(other.transport->send(after.id(), Lane::control, bytes_of("still you?")));
  ASSERT_TRUE(until([&] { return after.inbox.messages.size() == 1; }));
  EXPECT_TRUE(before.inbox.messages.empty());
  EXPECT_EQ(other.transport->peers().size(), 1u);
}

}  // namespace
}  // namespace gw::transport
