#include "node/discovery/dialer.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using transport::Identity;
using transport::Lane;
using transport::Transport;
using transport::Way;

class Inbox final : public transport::Receiver {
 public:
  void on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met) override {
    ways.push_back(met.way);
    if (dialer != nullptr) dialer->on_connected(peer, met);
  }
  void on_message(const transport::PeerId&, Lane, Bytes message) override { messages.emplace_back(message.begin(), message.end()); }
  void on_request(const transport::RequestId&, Bytes) override {}
  void on_disconnected(const transport::PeerId& peer, const transport::Ended& ended) override {
    if (dialer != nullptr) dialer->on_disconnected(peer, ended);
  }

  Dialer* dialer = nullptr;
  std::vector<Way> ways;  // of each connection
  std::vector<std::string> messages;
};

// Peers on the loopback interface. The first has a dialer; it wants to reach the far one, and two others may help.
class DialerTest : public testing::Test, public Dialer::Owner {
 protected:
  DialerTest() {
    inbox_.dialer = &dialer_;
    for (auto* helper : {first_.get(), second_.get()}) {
      const Endpoint at = helper->listen(loopback()).value();
      anchors_.push_back({{helper->self()}, text_of(at)});
    }
  }

  ~DialerTest() override {
    transport::TaskGroup tasks(io_.get_executor());
    for (auto* transport : {near_.get(), far_.get(), first_.get(), second_.get()}) tasks.spawn("stop", transport->stop());
    while (tasks.size() > 0) io_.run_one();
  }

  bool until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds() && std::chrono::steady_clock::now() < deadline) io_.run_one_for(std::chrono::milliseconds(50));
    return holds();
  }

  void on_reached(const transport::PeerId& peer, const std::string& address) override {
    EXPECT_EQ(peer, far_identity_.id());
    reached_.push_back(address);
  }
  void on_unreachable(const transport::PeerId& peer, Dialer::Failure failure) override {
    EXPECT_EQ(peer, far_identity_.id());
    failures_.push_back(failure);
  }

  void send(const wire::Contact& contact, std::string_view text) {
    dialer_.send(far_identity_.id(), contact, {Lane::control, Bytes(text.begin(), text.end())});
  }
  void send(const std::string& address, std::string_view text) { send(wire::Contact{.address = address}, text); }

  // The far peer cannot be dialled, and keeps connections to the helpers.
  wire::Contact hidden() {
    for (const wire::Anchor& anchor : anchors_)
      far_->connect(parse_endpoint(anchor.address).value(), anchor.peer.hash, [](const Result<transport::PeerId>&) {});
    far_->keep({anchors_[0].peer.hash, anchors_[1].peer.hash});
    EXPECT_TRUE(until([&] { return first_->connected(far_->self()) && second_->connected(far_->self()); }));
    return {.address = "", .reach = Reach::outbound, .anchors = anchors_};
  }
  // The near peer cannot be dialled either.
  void hide() { dialer_.set_self({.address = "", .reach = Reach::outbound, .anchors = {}}); }

  std::string far_address() { return text_of(far_->listen(loopback()).value()); }
  static Endpoint loopback() { return {boost::asio::ip::make_address("127.0.0.1"), 0}; }
  // An address without a listener.
  std::string closed() {
    boost::asio::ip::tcp::acceptor unused(io_, loopback());
    return text_of(unused.local_endpoint());
  }
  std::unique_ptr<Transport> make(const Identity& identity, Inbox& inbox) { return Transport::make(io_, identity, inbox, {}).value(); }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{io_.get_executor()};
  Identity identity_ = Identity::make().value(), far_identity_ = Identity::make().value();
  Identity first_identity_ = Identity::make().value(), second_identity_ = Identity::make().value();
  Inbox inbox_, far_inbox_, helper_inbox_;
  std::unique_ptr<Transport> near_ = make(identity_, inbox_), far_ = make(far_identity_, far_inbox_);
  std::unique_ptr<Transport> first_ = make(first_identity_, helper_inbox_), second_ = make(second_identity_, helper_inbox_);
  std::vector<wire::Anchor> anchors_;
  NameResolver names_{io_};
  std::vector<Dialer::Failure> failures_;
  std::vector<std::string> reached_;
  const std::uint16_t port_ = near_->listen(loopback()).value().port();
  Dialer dialer_{{.port = port_, .messages = 2, .upgrade_soon = std::chrono::milliseconds(1)}, io_, *near_, names_, *this};
};

TEST_F(DialerTest, DialsOnceForSeveralMessagesAndKeepsTheirOrder) {
  const std::string address = far_address();
  send(address, "first");
  send(address, "second");
  send(address, "one too many");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 2; }));
  send("", "over the connection");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 3; }));
  EXPECT_EQ(far_inbox_.messages, (std::vector<std::string>{"first", "second", "over the connection"}));
  EXPECT_EQ(far_inbox_.ways.size(), 1u);
  EXPECT_EQ(reached_, std::vector{address});
  EXPECT_TRUE(failures_.empty());
}

TEST_F(DialerTest, WithoutAnAddressOnlyAConnectionWillDo) {
  send("", "lost");
  dialer_.dial(far_address());
  ASSERT_TRUE(until([&] { return inbox_.ways.size() == 1; }));
  EXPECT_TRUE(far_inbox_.messages.empty());
  EXPECT_TRUE(failures_.empty());
}

TEST_F(DialerTest, DistinguishesARefusalFromNoAnswer) {
  send(closed(), "lost");
  ASSERT_TRUE(until([&] { return failures_.size() == 1; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::refused);
  send("no-such-host.invalid:1", "lost");
  ASSERT_TRUE(until([&] { return failures_.size() == 2; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::no_answer);
  const std::string own = fmt::format("127.0.0.1:{}", port_);
  send(own, "lost: somebody else is there");
  ASSERT_TRUE(until([&] { return failures_.size() == 3; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::no_answer);
}

TEST_F(DialerTest, WaitingMessagesLeaveOverWhicheverConnectionComesFirst) {
  boost::asio::ip::tcp::acceptor mute(io_, loopback());  // takes connections, says nothing
  send(text_of(mute.local_endpoint()), "patience");
  far_->connect({loopback().address(), port_}, identity_.id(), [](const Result<transport::PeerId>&) {});
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 1; }));
  EXPECT_EQ(far_inbox_.messages.front(), "patience");
}

TEST_F(DialerTest, APeerThatCannotBeDialledIsCalled) {
  send(hidden(), "are you there");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 1; }));
  EXPECT_EQ(near_->connection_origin(far_->self())->way, Way::reverse);
  EXPECT_EQ(near_->totals().connections[static_cast<std::size_t>(Way::relayed)], 0u);
}

TEST_F(DialerTest, BetweenTwoWhoCannotBeDialledARelayServesAndALostOneIsReplaced) {
  hide();
  send(hidden(), "one");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 1; }));
  EXPECT_EQ(near_->connection_origin(far_->self())->way, Way::relayed);
  EXPECT_EQ(first_->totals().circuits, 1u) << "the first anchor";
  transport::TaskGroup dying(io_.get_executor());
  dying.spawn("stop", first_->stop());
  ASSERT_TRUE(until([&] { return second_->totals().circuits == 1 && near_->connected(far_->self()); })) << "without another message";
  ASSERT_TRUE(until([&] { return dying.size() == 0; }));
  send(wire::Contact{}, "two");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 2; }));
  EXPECT_TRUE(failures_.empty());
}

TEST_F(DialerTest, ARelayIsLeftAsSoonAsThereIsABetterWay) {
  hide();
  wire::Contact contact = hidden();
  send(contact, "slowly");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 1; }));
  contact.address = far_address();
  contact.reach = Reach::open;
  send(contact, "it is elsewhere now");
  ASSERT_TRUE(until([&] { return near_->connection_origin(far_->self())->way == Way::direct && first_->totals().circuits == 0; }));
  EXPECT_EQ(far_inbox_.ways.back(), Way::direct);
}

TEST_F(DialerTest, ANewContactIsTriedAtOnce) {
  hide();
  boost::asio::ip::tcp::acceptor mute(io_, loopback());  // takes connections, says nothing
  send(text_of(mute.local_endpoint()), "first");
  send(hidden(), "second");
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 2; }));
  EXPECT_EQ(far_inbox_.messages, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(near_->connection_origin(far_->self())->way, Way::relayed);
}

TEST_F(DialerTest, NoWayIsReportedWithItsReason) {
  std::vector<Kind> reasons;
  const auto note = [&](const Status& status) { reasons.push_back(status ? Kind::internal : status.error().kind); };
  dialer_.reach(far_->self(), {}, note);
  EXPECT_TRUE(reasons.empty()) << "never from inside the call";
  hide();
  dialer_.reach(far_->self(), {.address = "", .reach = Reach::outbound, .anchors = anchors_}, note);
  ASSERT_TRUE(until([&] { return reasons.size() == 2; }));
  EXPECT_EQ(reasons, (std::vector{Kind::not_found, Kind::timeout})) << "none of its anchors knows it";
  EXPECT_EQ(failures_, std::vector{Dialer::Failure::no_answer});
}

}  // namespace
}  // namespace gw::node
