#include "peer/member_list.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

using std::chrono::seconds;

PeerId peer(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

class Members : public testing::Test {
 protected:
  Rng rng_{1};
  MemberList list_{{.address = "a", .known = {"b"}}, peer(0), rng_};
  Actions out_;
};

TEST_F(Members, JoinsThroughAKnownAddress) {
  list_.on_tick(seconds(1), out_);
  ASSERT_EQ(out_.now.size(), 1u);
  EXPECT_EQ(std::get<job::Connect>(out_.now[0]).address, "b");
}

TEST_F(Members, TakesAPeerForDeadAfterSilenceAndTriesToReachIt) {
  list_.on_heard(seconds(1), peer(1), 1, out_);
  Message::Heartbeat heartbeat;
  heartbeat.set_address("b");
  list_.on_heartbeat(seconds(1), peer(1), heartbeat);
  EXPECT_TRUE(list_.alive(peer(1)));
  EXPECT_TRUE(list_.on_tick(seconds(6), out_).empty());
  EXPECT_EQ(list_.on_tick(seconds(8), out_), std::vector{peer(1)});
  EXPECT_FALSE(list_.alive(peer(1)));
  EXPECT_TRUE(std::ranges::any_of(out_.now, [](const job::Action& action) { return std::holds_alternative<job::Connect>(action); }));
}

TEST_F(Members, ListensToTheLatestLifeOnly) {
  EXPECT_EQ(list_.on_heard(seconds(1), peer(1), 3, out_), MemberList::Heard::same_life);
  EXPECT_EQ(list_.on_heard(seconds(1), peer(1), 2, out_), MemberList::Heard::old_life);
  EXPECT_EQ(list_.on_heard(seconds(1), peer(1), 4, out_), MemberList::Heard::new_life);
  EXPECT_EQ(list_.on_heard(seconds(1), peer(1), 4, out_), MemberList::Heard::same_life);
}

}  // namespace
}  // namespace gw::peer
