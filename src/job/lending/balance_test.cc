#include "job/lending/balance.h"

#include <gtest/gtest.h>

#include <array>

#include "job/records.h"

namespace gw::job {
namespace {

using std::chrono::seconds;

PeerId balance_peer(std::uint8_t number) { return {sha256(std::array{number})}; }
const ConsumerName kUser = sha256(as_bytes("a user"));

TEST(Balance, CountsWhatWasGivenAndUsedByPeer) {
  Balance balance{{}};
  balance.give(balance_peer(1), kUser, seconds(3), seconds(100));
  balance.give(balance_peer(1), kUser, seconds(4), seconds(101));
  balance.use(balance_peer(1), seconds(2), seconds(102));
  balance.use_bytes(balance_peer(2), 50, seconds(103));
  balance.give_bytes(balance_peer(2), 7, seconds(104));
  EXPECT_EQ(balance.entries().at(balance_peer(1)),
            (Balance::Entry{.given = seconds(7), .used = seconds(2), .user = kUser, .changed_at = seconds(102)}));
  EXPECT_EQ(balance.entries().at(balance_peer(2)), (Balance::Entry{.given_bytes = 7, .used_bytes = 50, .changed_at = seconds(104)}));
}

TEST(Balance, IsTheSameAfterARestart) {
  Balance balance{{}};
  balance.give(balance_peer(1), kUser, seconds(3), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  ASSERT_EQ(out.records.size(), 1u);
  const RecordKey key = RecordKey::decode(out.records[0].key).value();
  EXPECT_EQ(key.kind, RecordKind::balance);
  Balance next{{}};
  next.recover({key.job.hash}, Balance::decode(*out.records[0].value).value());
  EXPECT_EQ(next.entries(), balance.entries());
  EXPECT_EQ(Balance::decode("rubbish").error().kind, Kind::corrupt);
}

TEST(Balance, WritesSeldomAndOnlyWhatHasChanged) {
  Balance balance{{}};
  EXPECT_EQ(balance.next_deadline(), kNever);
  balance.give(balance_peer(1), kUser, seconds(3), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  balance.give(balance_peer(2), kUser, seconds(3), seconds(100));
  balance.record(seconds(5), out);
  EXPECT_EQ(out.records.size(), 1u);
  EXPECT_EQ(balance.next_deadline(), seconds(11));
  balance.record(seconds(11), out);
  EXPECT_EQ(out.records.size(), 2u);
}

TEST(Balance, ForgetsThePeerWithTheLeast) {
  Balance balance{{.peers = 2}};
  balance.give(balance_peer(1), kUser, seconds(3), seconds(100));
  balance.use(balance_peer(2), seconds(1), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  balance.give(balance_peer(3), kUser, seconds(1), seconds(100));
  EXPECT_FALSE(balance.entries().contains(balance_peer(2)));
  EXPECT_EQ(balance.entries().size(), 2u);
  out = {};
  balance.record(seconds(20), out);
  ASSERT_EQ(out.records.size(), 2u) << "the new one, and the end of the old one";
}

}  // namespace
}  // namespace gw::job
