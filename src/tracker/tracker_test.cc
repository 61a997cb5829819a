#include "tracker/tracker.h"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>

#include "os/files/file.h"
#include "overlay/test/test_peers.h"
#include "tracker/inquiry.h"
#include "tracker/tracker_json.h"
#include "transport/identity/identity.h"
#include "transport/task_group.h"

namespace gw::tracker {
namespace {

using overlay::Descriptor;
using overlay::test_key;
using overlay::test_peer;
using overlay::TestSigner;

constexpr WallSeconds kToday = std::chrono::days(20'000);
const GridId kGrid{sha256(as_bytes("a grid"))};

wire::pb::Announcement announcement_of(std::uint64_t number, std::uint32_t stamp = 1) {
  Descriptor descriptor = test_peer(number, stamp);
  sign(kGrid, TestSigner(test_key(number)), descriptor);
  wire::pb::Announcement announcement;
  announcement.set_grid(kGrid.bytes());
  write(descriptor, *announcement.mutable_descriptor());
  return announcement;
}

TEST(PeerDirectory, ListsWhoAnnouncedItselfUntilItExpires) {
  const TestSigner signer;
  PeerDirectory directory({}, signer);
  Rng rng(1);
  ASSERT_TRUE(directory.announce(kToday, announcement_of(1)));
  EXPECT_EQ(directory.some(kToday + std::chrono::minutes(10), kGrid, 5, rng).size(), 1u);
  EXPECT_TRUE(directory.some(kToday, GridId{}, 5, rng).empty());
  EXPECT_TRUE(directory.some(kToday + std::chrono::minutes(10) + WallSeconds(1), kGrid, 5, rng).empty());
  EXPECT_EQ(directory.size(), 0u);
}

TEST(PeerDirectory, TakesOnlyWhatItsOwnerSignedAndTheNewest) {
  const TestSigner signer;
  PeerDirectory directory({}, signer);
  wire::pb::Announcement forged = announcement_of(1);
  forged.mutable_descriptor()->set_address("victim:1");
  EXPECT_FALSE(directory.announce(kToday, forged));
  wire::pb::Announcement elsewhere = announcement_of(1);
  elsewhere.set_grid(GridId{}.bytes());
  EXPECT_FALSE(directory.announce(kToday, elsewhere)) << "signed for another grid";
  ASSERT_TRUE(directory.announce(kToday, announcement_of(1, 5)));
  EXPECT_FALSE(directory.announce(kToday, announcement_of(1, 4)));
  EXPECT_TRUE(directory.announce(kToday, announcement_of(1, 6)));
  EXPECT_EQ(directory.size(), 1u);
}

TEST(PeerDirectory, IsBoundedAndComesBackFromDisk) {
  const TestSigner signer;
  PeerDirectory directory({.peers = 3, .peers_of_grid = 3}, signer);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(directory.announce(kToday, announcement_of(i)));
  EXPECT_EQ(directory.announce(kToday, announcement_of(4)).error().kind, Kind::overloaded);
  PeerDirectory again({}, signer);
  wire::pb::TrackerState state = directory.state();
  state.mutable_entries(1)->mutable_announcement()->mutable_descriptor()->set_address("victim:1");
  again.restore(kToday + WallSeconds(1), state);
  EXPECT_EQ(again.size(), 2u) << "what was altered on disk is left out";
}

TEST(PerAddressRateLimit, OneAddressCannotKeepOthersOut) {
  PerAddressRateLimit rate_limit({.every = std::chrono::seconds(1), .most = 3, .addresses = 2});
  const wire::Time now = std::chrono::seconds(100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate_limit.admit(now, "a"));
  EXPECT_FALSE(rate_limit.admit(now, "a"));
  EXPECT_TRUE(rate_limit.admit(now, "b"));
  EXPECT_TRUE(rate_limit.admit(now + std::chrono::seconds(1), "a"));
}

TEST(TrackerJson, GarbageIsLeftOut) {
  const std::string good = list_text({announcement_of(1).descriptor()});
  EXPECT_EQ(parse_list(good).value().size(), 1u);
  for (const char* wrong : {"", "{}", "[]", "{\"peers\": 1}", "null", "{\"peers\":"}) EXPECT_FALSE(parse_list(wrong)) << wrong;
  for (const char* nobody : {"{\"peers\": [1, {}, {\"descriptor\": \"zz\"}, {\"descriptor\": \"00\"}, {\"descriptor\": \"0\"}]}"})
    EXPECT_TRUE(parse_list(nobody).value().empty()) << nobody;
  const std::vector<wire::pb::Descriptor> thousands(3000, announcement_of(1).descriptor());
  EXPECT_EQ(parse_list(list_text(thousands)).value().size(), kMaxListed);
  EXPECT_EQ(parse_announcement(announcement_text(announcement_of(2))).value().SerializeAsString(), announcement_of(2).SerializeAsString());
}

// A real tracker and peers with real keys, or a liar in its place, all on one loop.
class TrackerOnLoopback : public testing::Test {
 protected:
  wire::pb::Announcement real_announcement() {
    const transport::Identity identity = transport::Identity::make().value();
    class IdentitySigner final : public overlay::Signer {
     public:
      explicit IdentitySigner(const transport::Identity& who) : who_(who) {}
      PeerId id_of(const PublicKey& key) const override { return {transport::id_of(key)}; }
      Signature sign(ByteView text) const override { return who_.sign(text); }
      bool is_signed(const PublicKey&, ByteView, const Signature&) const override { return false; }

     private:
      const transport::Identity& who_;
    };
    Descriptor descriptor = test_peer(1);
    descriptor.key = identity.public_key();
    sign(kGrid, IdentitySigner(identity), descriptor);
    wire::pb::Announcement announcement;
    announcement.set_grid(kGrid.bytes());
    write(descriptor, *announcement.mutable_descriptor());
    return announcement;
  }
  void open() { tracker = Tracker::open(io, {.listen = loopback(0), .file = folder.path() / "file"}).value(); }
  static asio::ip::tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }
  Where where() const { return {tracker->listening(), "tracker"}; }
  void run(asio::awaitable<void> body) {
    tasks.spawn("test", std::move(body));
    io.restart();
    io.run_for(std::chrono::seconds(30));
  }
  asio::awaitable<void> close() {
    co_await tracker->stop();
    tracker.reset();
  }

  // Answers the first client with `text` and closes; repeats the text without end if `endless`.
  asio::awaitable<void> lie(asio::ip::tcp::acceptor& acceptor, std::string text, bool endless) {
    auto [error, socket] = co_await acceptor.async_accept(httpd::kAsTuple);
    if (error) co_return;
    std::string request(4096, '\0');
    co_await socket.async_read_some(asio::buffer(request), httpd::kAsTuple);
    for (bool gone = false; !gone;) {
      auto [failed, bytes] = co_await asio::async_write(socket, asio::buffer(text), httpd::kAsTuple);
      gone = failed || !endless;
    }
  }
  Result<std::vector<wire::pb::Descriptor>> asked_of_liar(const std::string& text, bool endless = false) {
    asio::ip::tcp::acceptor acceptor(io, loopback(0));
    Result<std::vector<wire::pb::Descriptor>> result = fail(Kind::internal, "nothing");
    tasks.spawn("liar", lie(acceptor, text, endless));
    run(ask_liar({acceptor.local_endpoint(), "liar"}, result));
    return result;
  }
  static asio::awaitable<void> ask_liar(Where where, Result<std::vector<wire::pb::Descriptor>>& result) {
    result = co_await list_peers(where, kGrid);
  }

  os::TempDir folder = os::TempDir::make().value();
  asio::io_context io{1};
  transport::TaskGroup tasks{io.get_executor()};
  std::unique_ptr<Tracker> tracker;
};

TEST_F(TrackerOnLoopback, PeersFindEachOtherAlsoAfterItsRestart) {
  open();
  const wire::pb::Announcement mine = real_announcement();
  const auto talk = [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await announce(where(), mine));
    wire::pb::Announcement forged = mine;
    forged.mutable_descriptor()->set_address("victim:1");
    const Status refused = co_await announce(where(), forged);
    EXPECT_NE(refused.error().detail.find("not signed"), std::string::npos);
    const auto listed = co_await list_peers(where(), kGrid);
    EXPECT_EQ(listed.value().size(), 1u);
    co_await close();
    open();
    const auto again = co_await list_peers(where(), kGrid);
    EXPECT_EQ(again.value().size(), 1u);
    const auto nobody = co_await list_peers(where(), GridId{});
    EXPECT_TRUE(nobody.value().empty());
    co_await close();
  };
  run(talk());
}

TEST_F(TrackerOnLoopback, SilentConnectionsDoNotKeepPeersOut) {
  open();
  const auto talk = [&]() -> asio::awaitable<void> {
    std::vector<asio::ip::tcp::socket> silent;
    for (std::size_t i = 0; i < Tracker::Config{}.connections + 44; ++i) {
      auto& socket = silent.emplace_back(io);
      co_await socket.async_connect(tracker->listening(), httpd::kAsTuple);
    }
    EXPECT_TRUE(co_await list_peers(where(), kGrid));
    co_await close();
  };
  run(talk());
}

TEST_F(TrackerOnLoopback, TooManyRequestsAreRefused) {
  open();
  const auto talk = [&]() -> asio::awaitable<void> {
    Status last = ok();
    for (int i = 0; i < 10'000 && last; ++i) {
      const auto listed = co_await list_peers(where(), kGrid);
      last = listed ? ok() : Status(listed.error());
    }
    EXPECT_EQ(last ? Kind::internal : last.error().kind, Kind::overloaded);
    co_await close();
  };
  run(talk());
}

TEST_F(TrackerOnLoopback, ALyingTrackerIsHarmless) {
  EXPECT_FALSE(asked_of_liar(""));
  EXPECT_FALSE(asked_of_liar("garbage\r\n\r\n"));
  EXPECT_FALSE(asked_of_liar("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}"));
  EXPECT_FALSE(asked_of_liar("HTTP/1.1 200 OK\r\n\r\n<html>"));
  EXPECT_NE(asked_of_liar("HTTP/1.1 200 OK\r\n\r\n{\"peers\":[" + std::string(10'000, ' '), true).error().detail.find("more than"),
            std::string::npos);
  EXPECT_EQ(asked_of_liar("HTTP/1.1 200 OK\r\n\r\n" + list_text({announcement_of(1).descriptor()})).value().size(), 1u)
      << "whether it is genuine is found out by the overlay";
}

}  // namespace
}  // namespace gw::tracker
