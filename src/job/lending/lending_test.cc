#include "job/lending/lending.h"

#include <gtest/gtest.h>

#include <array>

#include "job/test/signers.h"

namespace gw::job {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

ConsumerName user(std::uint8_t number) { return sha256(std::array{number}); }

const PeerId kSelf{user(100)}, kHome{user(101)};

class LendingPolicy : public testing::Test {
 protected:
  std::optional<std::string> refusal(const LendingAsker& asker) const { return lending_.refusal(asker); }
  void set(const LendingRules& rules) { lending_.set_rules(rules, minutes(3)); }

  LendingAsker stranger_{.home = kHome, .submitter = user(2), .grid = "open"};
  LendingAsker mine_{.home = kHome, .submitter = user(1), .grid = "open"};
  LendingAsker friend_{.home = kHome, .submitter = user(3), .grid = "lab", .private_grid = true};
  Lending lending_{{.owner = user(1), .rules = {}}, kSelf};
};

TEST_F(LendingPolicy, LendsByDefaultToItsOwnerAndItsPrivateGrids) {
  EXPECT_FALSE(refusal(mine_));
  EXPECT_FALSE(refusal(friend_));
  EXPECT_EQ(refusal(stranger_), "it lends only to jobs of its owner and to its private grids");
  stranger_.home = kSelf;
  EXPECT_FALSE(refusal(stranger_)) << "the owner let it be submitted here";
}

TEST_F(LendingPolicy, NobodyGetsAMachineWhoseWorkersCannotStart) {
  set({.audience = {.anyone = true}});
  lending_.set_workers_fail("libuv.so.1 is missing");
  EXPECT_EQ(refusal(stranger_), "its workers cannot start: libuv.so.1 is missing");
  EXPECT_EQ(lending_.closed(), "its workers cannot start: libuv.so.1 is missing");
  stranger_.home = kSelf;
  EXPECT_EQ(refusal(stranger_), "its workers cannot start: libuv.so.1 is missing") << "nor does its owner";
  lending_.set_workers_fail("");
  EXPECT_FALSE(refusal(stranger_));
}

TEST_F(LendingPolicy, LendsToNamedGridsAndUsersAndNeverToBlockedOnes) {
  set({.audience = LendingAudience::parse("grid open").value()});
  EXPECT_FALSE(refusal(stranger_));
  EXPECT_EQ(refusal(friend_), "it lends only to grid open");
  LendingRules rules{.audience = LendingAudience::parse("mine").value(), .allowed = {user(2)}};
  set(rules);
  EXPECT_FALSE(refusal(stranger_));
  rules.allowed = {kHome.hash};
  set(rules);
  EXPECT_FALSE(refusal(stranger_)) << "a peer is named as well as a user";
  rules.blocked = {user(2)};
  set(rules);
  EXPECT_EQ(refusal(stranger_), "its owner has blocked this user or peer");
  EXPECT_FALSE(refusal(mine_));
}

TEST_F(LendingPolicy, LendsOnlyWhenTheRulesSaySo) {
  set({.audience = {.anyone = true}, .when = LendingTimes::parse("idle,plugged-in,22:00-07:00").value()});
  EXPECT_NE(refusal(stranger_)->find("does not know yet"), std::string::npos);
  LendingConditions now{.owner_idle = minutes(4), .on_battery = false, .minute_of_day = 23 * 60, .known = true};
  lending_.set_conditions(now);
  EXPECT_FALSE(refusal(stranger_));
  now.minute_of_day = 7 * 60;
  lending_.set_conditions(now);
  EXPECT_EQ(refusal(stranger_), "it lends at 22:00-07:00 only");
  now.minute_of_day = 6 * 60 + 59;
  now.on_battery = true;
  lending_.set_conditions(now);
  EXPECT_EQ(refusal(stranger_), "it runs on battery, and lends only while it is plugged in");
  now.on_battery = false;
  now.owner_idle = seconds(179);
  lending_.set_conditions(now);
  EXPECT_EQ(refusal(mine_), "its owner uses it, and it lends only while it is idle") << "jobs of the owner's other machines too";
  EXPECT_FALSE(refusal({.home = kSelf, .submitter = user(1)})) << "the owner's own job on this machine is the owner's activity";
}

Manifest manifest_with(const wire::pb::Limits& limits, std::uint32_t slots) {
  wire::pb::Manifest content;
  const Bytes module{1, 2, 3};
  *content.mutable_module() = Manifest::describe(module);
  content.mutable_config()->set_random_seed(std::string(32, 's'));
  content.mutable_policy()->set_slots(slots);
  *content.mutable_policy()->mutable_limits() = limits;
  return Manifest::check(Manifest::encode(content)).value();
}

TEST_F(LendingPolicy, CapsWhatAStrangersJobMayAsk) {
  set({.audience = {.anyone = true}, .stranger_memory_bytes = 512u << 20, .stranger_cpu_seconds = 60, .stranger_threads = 4});
  wire::pb::Limits limits;
  EXPECT_EQ(lending_.excess(stranger_, manifest_with(limits, 1)),
            "it allows jobs of other users 512 MiB of memory, and this job may use 1024: set --memory");
  limits.set_memory_pages(16);
  EXPECT_EQ(lending_.excess(stranger_, manifest_with(limits, 1)),
            "it allows jobs of other users 60 s of CPU time, and this job may use any amount: set --time-limit");
  limits.set_cpu_time_ns(60'000'000'000);
  EXPECT_FALSE(lending_.excess(stranger_, manifest_with(limits, 4)));
  EXPECT_NE(lending_.excess(stranger_, manifest_with(limits, 5))->find("threads"), std::string::npos);
  EXPECT_FALSE(lending_.excess(mine_, manifest_with({}, 50))) << "the owner's jobs have no caps";
}

TEST(LendingTimes, AreReadAndWritten) {
  for (const std::string text : {"always", "idle", "plugged-in", "idle,plugged-in", "22:00-07:00", "idle,09:30-12:00,22:15-00:00"})
    EXPECT_EQ(LendingTimes::parse(text).value().text(), text);
  for (const std::string text : {"", "never", "idle,", "25:00-07:00", "22-07", "22:00-22:00", "always,idle", "22:0-07:00", "22:60-07:00"})
    EXPECT_EQ(LendingTimes::parse(text).error().kind, Kind::invalid) << text;
}

TEST(LendingAudience, IsReadAndWritten) {
  for (const std::string text : {"anyone", "mine", "mine,grid lab", "grid a,grid b"})
    EXPECT_EQ(LendingAudience::parse(text).value().text(), text);
  for (const std::string text : {"", "me", "grid", "grid ", "grid a/b"})
    EXPECT_EQ(LendingAudience::parse(text).error().kind, Kind::invalid) << text;
}

TEST(LendingRules, HaveLimits) {
  LendingRules rules{.weights = {{user(1), 100}}};
  EXPECT_TRUE(rules.check());
  rules.weights[user(2)] = 101;
  EXPECT_EQ(rules.check().error().kind, Kind::invalid);
  EXPECT_EQ(LendingRules{.audience = {}}.check().error().kind, Kind::invalid);
  LendingRules many;
  for (std::uint32_t i = 0; i <= LendingRules::kMaxNames; ++i) many.blocked.insert(sha256(as_bytes(std::to_string(i))));
  EXPECT_EQ(many.check().error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::job
