#include "job/lending/balance.h"

#include <gtest/gtest.h>

#include <array>

#include "job/records.h"

namespace gw::job {
namespace {

using std::chrono::seconds;

PeerId balance_peer(std::uint8_t number) { return {sha256(std::array{number})}; }
const ConsumerName kUser = sha256(as_bytes("a user"));

TEST(Balance, CountsWhatWasGivenAndUsedByPeerAndUser) {
  Balance balance{{}};
  balance.give({balance_peer(1), kUser}, seconds(3), seconds(100));
  balance.give({balance_peer(1), kUser}, seconds(4), seconds(101));
  balance.use(balance_peer(1), seconds(2), seconds(102));
  balance.use_bytes(balance_peer(2), 50, seconds(103));
  balance.give_bytes({balance_peer(2), kUser}, 7, seconds(104));
  const auto& entries = balance.entries();
  EXPECT_EQ(entries.at({balance_peer(1), kUser}), (Balance::Entry{.given = seconds(7), .changed_at = seconds(101)}));
  EXPECT_EQ(entries.at({balance_peer(1)}), (Balance::Entry{.used = seconds(2), .changed_at = seconds(102)}));
  EXPECT_EQ(entries.at({balance_peer(2)}), (Balance::Entry{.used_bytes = 50, .changed_at = seconds(103)}));
  EXPECT_EQ(entries.at({balance_peer(2), kUser}), (Balance::Entry{.given_bytes = 7, .changed_at = seconds(104)}));
}

TEST(Balance, TwoUsersBehindOneHomeAreTwoEntries) {
  Balance balance{{}};
  const ConsumerName other = sha256(as_bytes("another user"));
  balance.give({balance_peer(1), kUser}, seconds(3), seconds(100));
  balance.give({balance_peer(1), other}, seconds(5), seconds(100));
  EXPECT_EQ(balance.entries().at({balance_peer(1), kUser}).given, seconds(3));
  EXPECT_EQ(balance.entries().at({balance_peer(1), other}).given, seconds(5));
  Actions out;
  balance.record(seconds(1), out);
  ASSERT_EQ(out.records.size(), 2u);
  EXPECT_NE(out.records[0].key, out.records[1].key);
}

TEST(Balance, IsTheSameAfterARestart) {
  Balance balance{{}};
  balance.give({balance_peer(1), kUser}, seconds(3), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  ASSERT_EQ(out.records.size(), 1u);
  const RecordKey key = RecordKey::decode(out.records[0].key).value();
  EXPECT_EQ(key.kind, RecordKind::consumer_balance);
  Balance next{{}};
  const auto [name, entry] = Balance::decode(key, *out.records[0].value).value();
  next.recover(name, entry);
  EXPECT_EQ(next.entries(), balance.entries());
  EXPECT_EQ(Balance::decode(key, "rubbish").error().kind, Kind::corrupt);
}

TEST(Balance, TheRecordOfAnEarlierVersionBelongsToNoUser) {
  const RecordKey key{.kind = RecordKind::balance, .job = {balance_peer(1).hash}};
  const auto [name, entry] = Balance::decode(key, Balance::encode({balance_peer(1), kUser}, {.given = seconds(4)})).value();
  EXPECT_EQ(name, (Balance::Name{balance_peer(1)}));
  EXPECT_EQ(entry.given, seconds(4));
}

TEST(Balance, WritesSeldomAndOnlyWhatHasChanged) {
  Balance balance{{}};
  EXPECT_EQ(balance.next_deadline(), kNever);
  balance.give({balance_peer(1), kUser}, seconds(3), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  balance.give({balance_peer(2), kUser}, seconds(3), seconds(100));
  balance.record(seconds(5), out);
  EXPECT_EQ(out.records.size(), 1u);
  EXPECT_EQ(balance.next_deadline(), seconds(11));
  balance.record(seconds(11), out);
  EXPECT_EQ(out.records.size(), 2u);
}

TEST(Balance, ForgetsThePeerWithTheLeast) {
  Balance balance{{.entries = 2}};
  balance.give({balance_peer(1), kUser}, seconds(3), seconds(100));
  balance.use(balance_peer(2), seconds(1), seconds(100));
  Actions out;
  balance.record(seconds(1), out);
  balance.give({balance_peer(3), kUser}, seconds(1), seconds(100));
  EXPECT_FALSE(balance.entries().contains({balance_peer(2)}));
  EXPECT_EQ(balance.entries().size(), 2u);
  out = {};
  balance.record(seconds(20), out);
  ASSERT_EQ(out.records.size(), 2u) << "the new one, and the end of the old one";
}

}  // namespace
}  // namespace gw::job
