#include "node/share.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

TEST(Share, ChangesWhatIsNamedAndRefusesWhatCannotBe) {
  const Share share{.cores = 4, .memory_bytes = 1u << 30, .cpu_percent = 100};
  EXPECT_EQ(changed(share, {.cpu_percent = 50}).value(), (Share{.cores = 4, .memory_bytes = 1u << 30, .cpu_percent = 50}));
  EXPECT_EQ(changed(share, {.cores = 0, .memory_bytes = 0}).value(), (Share{.cores = 0}));
  EXPECT_EQ(changed(share, {.nice = 20}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.bandwidth_bytes_per_s = 1}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.audience = "everybody"}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.when = "sometimes"}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cpu_percent = 0}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cpu_percent = 101}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.cores = 4097}).error().kind, Kind::invalid);
  EXPECT_EQ(changed(share, {.memory_bytes = 1000}).error().kind, Kind::invalid);
}

TEST(Share, TagsAreGivenAndTaken) {
  Share share = changed({}, {.tag = {"gpu", "fast"}}).value();
  share = changed(share, {.tag = {"lab-3"}, .untag = {"fast", "unknown"}}).value();
  EXPECT_EQ(share.tags, (std::set<std::string>{"gpu", "lab-3"}));
  EXPECT_EQ(changed(share, {.tag = {"a b"}}).error().kind, Kind::invalid);
  ShareChange many;
  for (int i = 0; i < 20; ++i) many.tag.push_back("t" + std::to_string(i));
  EXPECT_NE(changed(share, many).error().detail.find("at most 16"), std::string::npos);
  const os::TempDir folder = os::TempDir::make().value();
  ASSERT_TRUE(save_share(folder.path() / "share", share));
  EXPECT_EQ(load_share(folder.path() / "share").value(), share);
}

TEST(Share, NamesAreInOneListAtATime) {
  const job::ConsumerName one = sha256(as_bytes("one")), two = sha256(as_bytes("two"));
  Share share = changed({}, {.allow = {one, two}, .weights = {{one, 3}}}).value();
  EXPECT_EQ(share.rules.allowed, (std::set{one, two}));
  share = changed(share, {.block = {one}}).value();
  EXPECT_EQ(share.rules.allowed, std::set{two});
  EXPECT_EQ(share.rules.blocked, std::set{one});
  share = changed(share, {.unlist = {one, two}, .weights = {{one, 1}}}).value();
  EXPECT_EQ(share.rules, job::LendingRules());
  EXPECT_EQ(changed(share, {.weights = {{one, 0}}}).error().kind, Kind::invalid);
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
  const Share with_disk{.cores = 3,
                        .disk_bytes = 5u << 20,
                        .disk_bytes_per_peer = 3u << 20,
                        .disk_bytes_per_job = 2u << 20,
                        .disk_bytes_per_grid = 4u << 20,
                        .cache_bytes = 7u << 20};
  ASSERT_TRUE(save_share(file, with_disk));
  EXPECT_EQ(load_share(file).value(), with_disk);
  Share with_rules{.nice = 5, .bandwidth_bytes_per_s = 1u << 20, .idle_after_seconds = 7};
  with_rules.rules = {.audience = job::LendingAudience::parse("mine,grid lab").value(),
                      .when = job::LendingTimes::parse("idle,22:00-07:00").value(),
                      .allowed = {sha256(as_bytes("one"))},
                      .blocked = {sha256(as_bytes("two"))},
                      .weights = {{sha256(as_bytes("one")), 4}},
                      .stranger_memory_bytes = 1u << 30,
                      .stranger_cpu_seconds = 60,
                      .stranger_disk_bytes = 5,
                      .stranger_threads = 3};
  ASSERT_TRUE(save_share(file, with_rules));
  EXPECT_EQ(load_share(file).value(), with_rules);
}

TEST(Share, DamageIsNotTakenForAShare) {
  const os::TempDir folder = os::TempDir::make().value();
  const auto file = folder.path() / "share";
  ASSERT_TRUE(save_share(file, {}));
  const std::string good(as_text(os::read_file(file, 1u << 16).value()));
  for (const std::string& text : {std::string(), good.substr(0, good.size() - 1), good.substr(0, good.size() / 2), good + "more 1\n",
                                  good + "cores 1\n", good + "allow x\n", good + "weight " + std::string(64, 'a') + "\n",
                                  good + "weight " + std::string(64, 'a') + " 1000\n", good + "for nobody\n"}) {
    ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text), os::Durability::unflushed));
    EXPECT_EQ(load_share(file).error().kind, Kind::corrupt) << text;
  }
}

}  // namespace
}  // namespace gw::node
