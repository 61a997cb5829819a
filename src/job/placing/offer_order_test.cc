#include "job/placing/offer_order.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace {

using std::chrono::milliseconds;
using test::id_of;

std::vector<PeerId> ids(const std::vector<RatedOffer>& offers) {
  std::vector<PeerId> list;
  for (const RatedOffer& offer : offers) list.push_back(offer.peer);
  return list;
}

TEST(OfferOrder, TheFasterMachineIsBetterHoweverFarAwayItIs) {
  EXPECT_EQ(ids(best_first({{.peer = id_of(1), .speed = 0.5, .distance = milliseconds(1)},
                            {.peer = id_of(2), .speed = 1, .distance = milliseconds(90)}})),
            (std::vector{id_of(2), id_of(1)}));
}

TEST(OfferOrder, CoresThatOthersUseCountLess) {
  EXPECT_EQ(ids(best_first({{.peer = id_of(1), .speed = 2, .load = 0.9}, {.peer = id_of(2), .speed = 1}})),
            (std::vector{id_of(2), id_of(1)}));
}

TEST(OfferOrder, OfEqualMachinesTheNearerOneIsBetter) {
  EXPECT_EQ(ids(best_first({{.peer = id_of(1), .speed = 1, .distance = milliseconds(30)},
                            {.peer = id_of(2), .speed = 0.9, .distance = milliseconds(2)}})),
            (std::vector{id_of(2), id_of(1)}));
}

TEST(OfferOrder, AtTheSameDistanceSuccessCountsAndThenTheTimeThatAMachineIsUp) {
  const RatedOffer good{.peer = id_of(1), .speed = 1, .distance = milliseconds(2), .success = 1, .uptime_s = 10};
  const RatedOffer old{.peer = id_of(2), .speed = 1, .distance = milliseconds(2), .success = 1, .uptime_s = 1000};
  const RatedOffer bad{.peer = id_of(3), .speed = 1, .distance = milliseconds(2), .success = 0.5, .uptime_s = 10'000};
  EXPECT_EQ(ids(best_first({bad, good, old})), (std::vector{id_of(2), id_of(1), id_of(3)}));
}

TEST(OfferOrder, AMachineThatIsNotMeasuredCountsAsAMiddleOne) {
  EXPECT_EQ(ids(best_first(
                {{.peer = id_of(1)}, {.peer = id_of(2), .speed = 4}, {.peer = id_of(3), .speed = 1}, {.peer = id_of(4), .speed = 0.2}})),
            (std::vector{id_of(2), std::min(id_of(1), id_of(3)), std::max(id_of(1), id_of(3)), id_of(4)}));
}

TEST(OfferOrder, FillsTheBestMachinesFirst) {
  const std::vector<RatedOffer> offers{{.peer = id_of(1), .slots = 2}, {.peer = id_of(2), .slots = 4}, {.peer = id_of(3), .slots = 1}};
  EXPECT_EQ(fill(offers, 3), (std::vector<SlotShare>{{id_of(1), 2}, {id_of(2), 1}}));
  EXPECT_TRUE(fill(offers, 0).empty());
  EXPECT_EQ(fill(offers, 100).size(), 3u);
}

TEST(OfferOrder, SpreadsOverNetworksThenMachinesThenSlots) {
  const std::vector<RatedOffer> offers{{.peer = id_of(1), .slots = 4, .network = "10.0.0"},
                                       {.peer = id_of(2), .slots = 4, .network = "10.0.0"},
                                       {.peer = id_of(3), .slots = 4, .network = "10.9.9"},
                                       {.peer = id_of(4), .slots = 1, .network = "10.7.7"}};
  EXPECT_EQ(spread(offers, 1, {}), (std::vector<SlotShare>{{id_of(1), 1}}));
  EXPECT_EQ(spread(offers, 1, {"10.0.0"}), (std::vector<SlotShare>{{id_of(3), 1}}));
  EXPECT_EQ(spread(offers, 3, {}), (std::vector<SlotShare>{{id_of(1), 1}, {id_of(3), 1}, {id_of(4), 1}}));
  EXPECT_EQ(spread(offers, 6, {}), (std::vector<SlotShare>{{id_of(1), 2}, {id_of(3), 2}, {id_of(4), 1}, {id_of(2), 1}}));
  EXPECT_EQ(spread(offers, 100, {}).size(), 4u);
}

}  // namespace
}  // namespace gw::job
