#include "job/placing/placing_names.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using Policy = wire::pb::Manifest::Policy;

TEST(PlacingNames, EveryValueHasTheWordThatUsersKnow) {
  EXPECT_EQ(name(Policy::NEAR), "near");
  EXPECT_EQ(name(Policy::SPREAD), "spread");
  EXPECT_EQ(name(Policy::REPLACE), "replace");
  EXPECT_EQ(name(Policy::CANCEL), "cancel");
}

TEST(PlacingNames, APolicyForALostHostIsReadAsItIsWritten) {
  for (const OnFailure policy : {Policy::REPLACE, Policy::IGNORE, Policy::CANCEL})
    EXPECT_EQ(parse_on_failure(name(policy)).value(), policy);
  EXPECT_EQ(parse_on_failure("").error().detail, "'' is none of replace, ignore, cancel");
}

TEST(PlacingNames, AWrongWordIsToldTheRightOnes) {
  for (const Placing place : {Policy::NEAR, Policy::HASH, Policy::SPREAD}) EXPECT_EQ(parse_placing(name(place)).value(), place);
  EXPECT_EQ(parse_placing("far").error().detail, "'far' is none of near, hash, spread");
}

TEST(PlacingNames, AValueOfANewerVersionHasNoName) { EXPECT_EQ(name(static_cast<Placing>(77)), ""); }

}  // namespace
}  // namespace gw::job
