#include "node/dialer.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using transport::Identity;
using transport::Lane;
using transport::Transport;

class Inbox final : public transport::Receiver {
 public:
  void on_connected(const transport::PeerId& peer, const Endpoint&, transport::Dialer) override {
    ++connections;
    if (dialer != nullptr) dialer->on_connected(peer);
  }
  void on_message(const transport::PeerId&, Lane, Bytes message) override { messages.emplace_back(message.begin(), message.end()); }
  void on_request(const transport::RequestId&, Bytes) override {}
  void on_disconnected(const transport::PeerId&, const transport::Ended&) override {}

  Dialer* dialer = nullptr;
  int connections = 0;
  std::vector<std::string> messages;
};

// Two peers on the loopback interface, of which the first has a dialer.
class DialerTest : public testing::Test, public Dialer::Owner {
 protected:
  DialerTest() { inbox_.dialer = &dialer_; }

  ~DialerTest() override {
    transport::TaskGroup tasks(io_.get_executor());
    tasks.spawn("stop", near_->stop());
    tasks.spawn("stop", far_->stop());
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

  void send(const std::string& address, std::string_view text) {
    dialer_.send(far_identity_.id(), address, {Lane::control, Bytes(text.begin(), text.end())});
  }

  std::string far_address() { return text_of(far_->listen(loopback()).value()); }
  static Endpoint loopback() { return {boost::asio::ip::make_address("127.0.0.1"), 0}; }
  // Where nobody listens.
  std::string closed() {
    boost::asio::ip::tcp::acceptor unused(io_, loopback());
    return text_of(unused.local_endpoint());
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{io_.get_executor()};
  Identity identity_ = Identity::make().value(), far_identity_ = Identity::make().value();
  Inbox inbox_, far_inbox_;
  std::unique_ptr<Transport> near_ = Transport::make(io_, identity_, inbox_, {}).value();
  std::unique_ptr<Transport> far_ = Transport::make(io_, far_identity_, far_inbox_, {}).value();
  NameResolver names_{io_};
  std::vector<Dialer::Failure> failures_;
  std::vector<std::string> reached_;
  Dialer dialer_{{.messages = 2}, *near_, names_, *this};
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
  EXPECT_EQ(far_inbox_.connections, 1);
  EXPECT_EQ(reached_, std::vector{address});
  EXPECT_TRUE(failures_.empty());
}

TEST_F(DialerTest, WithoutAnAddressOnlyAConnectionWillDo) {
  send("", "lost");
  dialer_.dial(far_address());
  ASSERT_TRUE(until([&] { return inbox_.connections == 1; }));
  EXPECT_TRUE(far_inbox_.messages.empty());
  EXPECT_TRUE(failures_.empty());
}

TEST_F(DialerTest, TellsARefusalFromNoAnswer) {
  send(closed(), "lost");
  ASSERT_TRUE(until([&] { return failures_.size() == 1; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::refused);
  send("no-such-host.invalid:1", "lost");
  ASSERT_TRUE(until([&] { return failures_.size() == 2; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::no_answer);
  const std::string own = text_of(near_->listen(loopback()).value());
  send(own, "lost: somebody else is there");
  ASSERT_TRUE(until([&] { return failures_.size() == 3; }));
  EXPECT_EQ(failures_.back(), Dialer::Failure::no_answer);
}

TEST_F(DialerTest, WaitingMessagesLeaveOverWhicheverConnectionComesFirst) {
  boost::asio::ip::tcp::acceptor mute(io_, loopback());  // takes connections, says nothing
  send(text_of(mute.local_endpoint()), "patience");
  far_->connect(near_->listen(loopback()).value(), identity_.id(), [](const Result<transport::PeerId>&) {});
  ASSERT_TRUE(until([&] { return far_inbox_.messages.size() == 1; }));
  EXPECT_EQ(far_inbox_.messages.front(), "patience");
}

}  // namespace
}  // namespace gw::node
