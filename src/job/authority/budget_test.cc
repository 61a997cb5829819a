#include "job/authority/budget.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace budget_test {

using test::id_of;

JobId job_of(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

StoredForOthers threads(std::uint64_t count) { return {.threads = count}; }

class SmallBudget : public testing::Test {
 protected:
  Budget budget_{
      {.job = {2, 100, 100, 100, 100}, .origin = {3, 100, 100, 100, 100}, .grid = {4, 100, 100, 100, 100}, .all = {5, 100, 100, 100, 100}}};
};

TEST_F(SmallBudget, EachLevelHasItsLimit) {
  ASSERT_TRUE(budget_.change({job_of(1), id_of(1), {}}, {}, threads(2)));
  EXPECT_EQ(budget_.change({job_of(1), id_of(1), {}}, {}, threads(1)).error().kind, Kind::overloaded) << "of the job";
  ASSERT_TRUE(budget_.change({job_of(2), id_of(1), {}}, {}, threads(1)));
  const Status origin = budget_.change({job_of(3), id_of(1), {}}, {}, threads(1));
  ASSERT_FALSE(origin);
  EXPECT_EQ(origin.error().detail, "this peer stores no more than 3 threads of the jobs of one peer");
  ASSERT_TRUE(budget_.change({job_of(4), id_of(2), {}}, {}, threads(1)));
  EXPECT_FALSE(budget_.change({job_of(5), id_of(3), {}}, {}, threads(1))) << "of the grid";
  const wire::GridId other{sha256(as_bytes("another grid"))};
  ASSERT_TRUE(budget_.change({job_of(5), id_of(3), other}, {}, threads(1)));
  EXPECT_FALSE(budget_.change({job_of(6), id_of(4), other}, {}, threads(1))) << "of all";
  EXPECT_EQ(budget_.used().threads, 5u);
  EXPECT_EQ(budget_.used_by(id_of(1)).threads, 3u);
}

TEST_F(SmallBudget, AReleasedAmountCanBeUsedAgain) {
  const Budget::Account account{job_of(1), id_of(1), {}};
  ASSERT_TRUE(budget_.change(account, {}, {.threads = 1, .bytes = 100}));
  EXPECT_FALSE(budget_.change(account, {.bytes = 100}, {.bytes = 101}));
  ASSERT_TRUE(budget_.change(account, {.threads = 1, .bytes = 100}, {.threads = 1, .bytes = 40}));
  EXPECT_TRUE(budget_.change(account, {}, {.bytes = 60}));
  ASSERT_TRUE(budget_.change(account, {.threads = 1, .bytes = 100}, {}));
  EXPECT_EQ(budget_.used(), StoredForOthers());
}

// An owner may lower a limit: stored amounts stay and may only shrink.
TEST_F(SmallBudget, AdoptedAmountsAreCountedAndMayOnlyShrink) {
  const Budget::Account account{job_of(1), id_of(1), {}};
  budget_.adopt(account, threads(9));
  EXPECT_FALSE(budget_.change({job_of(2), id_of(2), {}}, {}, threads(1)));
  EXPECT_TRUE(budget_.change(account, threads(9), threads(8)));
}

}  // namespace budget_test
}  // namespace gw::job
