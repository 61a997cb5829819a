#include "job/home/placement.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace placement_test {

using std::chrono::minutes;
using std::chrono::seconds;
using test::id_of;

class Placing : public testing::Test {
 protected:
  ClaimTable claims_;
  Placement placement_{{}, 100};
};

TEST_F(Placing, DistrustsAPeerForAWhile) {
  placement_.distrust(seconds(1), id_of(2));
  EXPECT_TRUE(placement_.is_distrusted(minutes(10), id_of(2)));
  EXPECT_FALSE(placement_.is_distrusted(minutes(11), id_of(2)));
  EXPECT_FALSE(placement_.is_distrusted(seconds(1), id_of(1)));
}

// Defect 8: a lender with little memory took thread after thread and killed them all.
TEST_F(Placing, TakesNoMoreSlotsThanThePeerHasMemoryFor) {
  EXPECT_EQ(placement_.usable(4, 1000), 4u);
  EXPECT_EQ(placement_.usable(4, 250), 2u);
  EXPECT_EQ(placement_.usable(4, 99), 0u);
  EXPECT_EQ(placement_.usable(4, 0), 4u) << "not said";
}

TEST_F(Placing, PutsAThreadWhereItHasNotDied) {
  claims_.add(id_of(1), {.claim = 1, .slots = 1});
  claims_.add(id_of(2), {.claim = 2, .slots = 4});
  HomeThread thread;
  EXPECT_EQ(placement_.host_for(thread, claims_, false), id_of(2));
  thread.avoid = {id_of(2)};
  EXPECT_EQ(placement_.host_for(thread, claims_, false), id_of(1));
  claims_.remove(id_of(1));
  EXPECT_EQ(placement_.host_for(thread, claims_, false), id_of(2)) << "better there than nowhere";
}

// Without images and before the first end there was no bound: a host that only answers kept its threads for ever.
TEST_F(Placing, AThreadWithoutImagesIsNotWaitedForWithoutEnd) {
  const Placement::Config config;
  Time bound = placement_.stall_bound(Time(0));
  EXPECT_EQ(bound, config.own_word * config.stall);
  Time lost{0};
  for (int stall = 0; stall < 12; ++stall) {
    lost += bound;
    placement_.on_stall(seconds(1), id_of(1));
    EXPECT_EQ(placement_.stall_bound(Time(0)), 2 * bound);
    bound = placement_.stall_bound(Time(0));
    EXPECT_LE(lost, bound) << "the lost runs cost no more than one that is long enough";
  }
}

TEST_F(Placing, TheBoundOfThreadsWithImagesStopsToDouble) {
  const Time first = placement_.stall_bound(seconds(1));
  for (int stall = 0; stall < 12; ++stall) placement_.on_stall(seconds(1), id_of(1));
  EXPECT_EQ(placement_.stall_bound(seconds(1)), 64 * first);
}

TEST_F(Placing, GivesWorkInAdvanceToWhoIsFast) {
  const Claim fast{.claim = 1, .slots = 2, .since = seconds(0), .finished = 100};
  EXPECT_EQ(placement_.ahead(seconds(10), fast, 1000, 1), 20u);
  EXPECT_EQ(placement_.ahead(seconds(10), fast, 4, 1), 2u) << "the last ones are for all";
  claims_.add(id_of(1), {.claim = 1, .slots = 1, .extra_threads = 1});
  claims_.attach(id_of(1), ThreadId{1});
  EXPECT_EQ(placement_.host_for({}, claims_, false), std::nullopt);
  EXPECT_EQ(placement_.host_for({}, claims_, true), id_of(1));
}

}  // namespace placement_test
}  // namespace gw::job
