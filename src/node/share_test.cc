#include "node/share.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

TEST(Share, ChangesWhatIsNamedAndRefusesWhatCannotBe) {
  const Share share{.cores = 4, .memory_bytes = 1u << 30, .cpu_percent = 100};
  EXPECT_EQ(changed(share, {.cpu_percent = 50}).value(), (Share{4, 1u << 30, 50, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(changed(share, {.cores = 0, .memory_bytes = 0}).value(), (Share{0, 0, 100, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(changed(share, {.cpu_percent = 0}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cpu_percent = 101}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cores = 4097}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.memory_bytes = 1000}).error().kind, Kind::invalid);
}

TEST(Share, SaysHowMuchIsStoredForOthers) {
  EXPECT_EQ(budget_of({}).all.bytes, std::uint64_t{64} << 30);
  const job::Budget::Limits some = budget_of({.disk_bytes = 1000});
  EXPECT_EQ(some.all.bytes, 1000u);
  EXPECT_EQ(some.origin.bytes, 500u);
  EXPECT_EQ(some.job.bytes, 250u);
  EXPECT_EQ(some.grid.bytes, 750u);
  EXPECT_EQ(budget_of({.disk_bytes_per_grid = 9}).grid.bytes, 9u);
  EXPECT_EQ(budget_of({.disk_bytes = 1000, .disk_bytes_per_peer = 7, .disk_bytes_per_job = 3}).job.bytes, 3u);
}

TEST(Share, SurvivesARestart) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "share";
  EXPECT_EQ(load_share(file).value(), std::nullopt);
  const Share share{.cores = 3, .memory_bytes = 256u << 20, .cpu_percent = 40, .slots_per_peer = 2, .jobs_per_peer = 1};
  ASSERT_TRUE(save_share(file, share));
  EXPECT_EQ(load_share(file).value(), share);
  const Share with_disk{
      .cores = 3, .disk_bytes = 5u << 20, .disk_bytes_per_peer = 3u << 20, .disk_bytes_per_job = 2u << 20, .disk_bytes_per_grid = 4u << 20};
  ASSERT_TRUE(save_share(file, with_disk));
  EXPECT_EQ(load_share(file).value(), with_disk);
  const std::string_view of_an_earlier_version = "cores 3 memory_bytes 0 cpu_percent 100 slots_per_peer 0 jobs_per_peer 0";
  ASSERT_TRUE(os::write_file_atomic(file, as_bytes(of_an_earlier_version), os::Durability::unflushed));
  EXPECT_EQ(load_share(file).value(), Share{.cores = 3});
}

TEST(Share, DamageIsNotTakenForAShare) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "share";
  for (const char* text :
       {"", "cores 1", "cores 1 memory_bytes 0 cpu_percent 50", "cores 1 memory_bytes 0 cpu_percent 500 slots_per_peer 0 jobs_per_peer 0",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0 more",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0 disk_bytes x",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0 disk_bytes 1 disk_bytes_per_job 1",
        "slots 1 memory_bytes 0 cpu_percent 50 slots_per_peer 0 jobs_per_peer 0",
        "cores 1 memory_bytes 0 cpu_percent 50 slots_per_peer -1 jobs_per_peer x"}) {
    ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text), os::Durability::unflushed));
    EXPECT_EQ(load_share(file).error().kind, Kind::corrupt) << text;
  }
}

}  // namespace
}  // namespace gw::node
