#include "job/placing/placing_names.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using Policy = wire::pb::Manifest::Policy;

TEST(PlacingNames, EveryValueIsReadAsItIsWritten) {
  for (const Placing place : {Policy::NEAR, Policy::HASH, Policy::SPREAD}) EXPECT_EQ(parse_placing(name(place)).value(), place);
  for (const OnFailure policy : {Policy::REPLACE, Policy::IGNORE, Policy::CANCEL})
    EXPECT_EQ(parse_on_failure(name(policy)).value(), policy);
}

TEST(PlacingNames, AWrongWordIsToldTheRightOnes) {
  EXPECT_EQ(parse_placing("far").error().detail, "'far' is none of near, hash, spread");
  EXPECT_EQ(parse_on_failure("").error().detail, "'' is none of replace, ignore, cancel");
}

TEST(PlacingNames, AValueOfANewerVersionHasNoName) { EXPECT_EQ(name(static_cast<Placing>(77)), ""); }

}  // namespace
}  // namespace gw::job
