#include "node/share.h"

#include <gtest/gtest.h>

#include "os/file.h"

namespace gw::node {
namespace {

TEST(Share, ChangesWhatIsNamedAndRefusesWhatCannotBe) {
  const Share share{.cores = 4, .memory_bytes = 1u << 30, .cpu_percent = 100};
  EXPECT_EQ(changed(share, {.cpu_percent = 50}).value(), (Share{4, 1u << 30, 50, 0, 0}));
  EXPECT_EQ(changed(share, {.cores = 0, .memory_bytes = 0}).value(), (Share{0, 0, 100, 0, 0}));
  EXPECT_EQ(changed(share, {.cpu_percent = 0}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cpu_percent = 101}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cores = 4097}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.memory_bytes = 1000}).error().kind, Kind::invalid);
}

TEST(Share, SurvivesARestart) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "share";
  EXPECT_EQ(load_share(file).value(), std::nullopt);
  const Share share{.cores = 3, .memory_bytes = 256u << 20, .cpu_percent = 40, .slots_per_peer = 2, .jobs_per_peer = 1};
  ASSERT_TRUE(save_share(file, share));
  EXPECT_EQ(load_share(file).value(), share);
}

TEST(Share, DamageIsNotTakenForAShare) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "share";
  for (const char* text :
       {"", "cores 1", "cores 1 memory_bytes 0 cpu_percent 50", "cores 1 memory_bytes 0 cpu_percent 500 slots_per_peer 0 jobs_per_peer 0",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0 more",
        "slots 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer -1 jobs_per_peer x"}) {
    ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text), os::Durability::unflushed));
    EXPECT_EQ(load_share(file).error().kind, Kind::corrupt) << text;
  }
}

}  // namespace
}  // namespace gw::node
