#include "node/worker/watch_set.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

namespace gw::node {
namespace {

struct Pair {
  os::UniqueFd a, b;
};

Pair make_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  return {os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

bool ready(const WatchSet& set) {
  pollfd one{set.fd(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(WatchSet, IsReadyWhileOneOfItsOwnIs) {
  WatchSet set = WatchSet::make().value();
  const Pair first = make_pair(), second = make_pair();
  ASSERT_TRUE(set.watch({{first.a.get(), POLLIN, 0}, {second.a.get(), POLLIN, 0}}));
  EXPECT_FALSE(ready(set));
  ASSERT_EQ(::write(second.b.get(), "x", 1), 1);
  EXPECT_TRUE(ready(set));
  EXPECT_TRUE(ready(set));
  char byte = 0;
  ASSERT_EQ(::read(second.a.get(), &byte, 1), 1);
  EXPECT_FALSE(ready(set));
}

TEST(WatchSet, FollowsWhatIsWanted) {
  WatchSet set = WatchSet::make().value();
  Pair pair = make_pair();
  ASSERT_TRUE(set.watch({{pair.a.get(), POLLIN, 0}}));
  EXPECT_FALSE(ready(set));
  ASSERT_TRUE(set.watch({{pair.a.get(), POLLIN | POLLOUT, 0}}));
  EXPECT_TRUE(ready(set));
  ASSERT_TRUE(set.watch({}));
  EXPECT_FALSE(ready(set));
  ASSERT_TRUE(set.watch({{pair.a.get(), POLLIN, 0}}));
  pair.a.reset();
  ASSERT_TRUE(set.watch({}));
}

}  // namespace
}  // namespace gw::node
