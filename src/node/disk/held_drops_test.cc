#include "node/disk/held_drops.h"

#include <gmock/gmock.h>

namespace gw::node {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Hash256 kFirst = sha256(as_bytes("1")), kSecond = sha256(as_bytes("2")), kThird = sha256(as_bytes("3"));

TEST(HeldDrops, ADropIsDueAfterItsTicketInOrder) {
  HeldDrops drops;
  drops.hold(4, kSecond);
  drops.hold(4, kFirst);
  drops.hold(5, kThird);
  EXPECT_THAT(drops.take_due(3), IsEmpty());
  EXPECT_THAT(drops.take_due(4), ElementsAre(kSecond, kFirst));
  EXPECT_THAT(drops.take_due(5), ElementsAre(kThird));
  EXPECT_THAT(drops.take_due(6), IsEmpty());
}

TEST(HeldDrops, ABlobThatIsStoredAgainStays) {
  HeldDrops drops;
  drops.hold(1, kFirst);
  drops.hold(1, kSecond);
  drops.cancel(kFirst);
  drops.cancel(kThird);
  EXPECT_THAT(drops.take_due(1), ElementsAre(kSecond));
}

TEST(HeldDrops, ABlobThatIsDroppedStoredAndDroppedAgainIsDueAfterTheLastTicket) {
  HeldDrops drops;
  drops.hold(1, kFirst);
  drops.cancel(kFirst);
  drops.hold(2, kFirst);
  EXPECT_THAT(drops.take_due(1), IsEmpty());
  EXPECT_THAT(drops.take_due(2), ElementsAre(kFirst));
  drops.hold(3, kFirst);
  drops.hold(3, kFirst);
  EXPECT_THAT(drops.take_due(3), ElementsAre(kFirst));
}

}  // namespace
}  // namespace gw::node
