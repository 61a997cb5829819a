#include "base/rng.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/ids.h"

namespace gw {
namespace {

TEST(Rng, SequenceNeverChanges) {
  Rng rng(1234567);  // first numbers of the reference implementation of SplitMix64
  EXPECT_EQ(rng.next(), 6457827717110365317u);
  EXPECT_EQ(rng.next(), 3203168211198807973u);
}

TEST(Rng, GoesOnFromItsState) {
  Rng rng(1);
  rng.next();
  Rng copy(rng.state());
  EXPECT_EQ(copy.next(), rng.next());
}

TEST(Rng, BelowReachesEveryValueAndNoMore) {
  Rng rng(2);
  std::unordered_set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.below(7));
  EXPECT_EQ(seen.size(), 7u);
  for (std::uint64_t value : seen) EXPECT_LT(value, 7u);
}

TEST(Ids, CompareAndHashByValue) {
  using IsolateId = Id<struct IsolateTag>;
  EXPECT_LT(IsolateId(1), IsolateId(2));
  std::unordered_set<IsolateId> seen{IsolateId(1), IsolateId(1), IsolateId(2)};
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace gw
