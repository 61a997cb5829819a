#include "os/cage/cage_features.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/cage/cgroup.h"
#include "os/cage/landlock.h"

namespace gw::os {
namespace {

TEST(CageFeatures, AreThoseACageWouldFind) {
  const CageFeatures found = find_cage_features();
  EXPECT_TRUE(found.seccomp);  // without it no test of a cage could run here
  EXPECT_EQ(found.landlock, landlock_version().value());
  EXPECT_EQ(found.own_user, ::geteuid() == 0);
  const auto group = Cgroup::make({.memory_bytes = 64u << 20, .tasks = 8});
  EXPECT_EQ(found.control_group, group ? group->description() : "");
  EXPECT_EQ(found.no_control_group.empty(), group.has_value());
}

}  // namespace
}  // namespace gw::os
