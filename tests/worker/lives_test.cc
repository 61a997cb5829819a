// Restarts of a thread in later epochs: how a worker uses the record of earlier ones.

#include <gtest/gtest.h>

#include <algorithm>

#include "worker_driver.h"

namespace gw::test {
namespace {

using Ask = WorkerDriver::Ask;
using wire::pb::Effect;
using wire::pb::FromWorker;

std::string output_in(const WorkerDriver& driver, std::uint64_t epoch) {
  std::string text;
  for (const Effect& effect : driver.effects)
    if (effect.epoch() == epoch) text += effect.output().bytes();
  return text;
}

TEST(WorkerLives, ARestartedThreadGetsTheSameDeterminants) {
  const Bytes wasm = build_guest("clock_lines");
  WorkerDriver first;
  first.load(wasm);
  first.start(1);
  ASSERT_TRUE(first.run_to_end());
  ASSERT_EQ(first.determinants().size(), 3u);
  EXPECT_EQ(std::ranges::count_if(first.other, [](const FromWorker& frame) { return frame.determinants().epoch() > 1; }), 0);

  WorkerDriver second;
  second.load(wasm);
  second.start_again(1, {"guest"}, {.epoch = 5, .determinants = first.determinants()});
  ASSERT_TRUE(second.run_to_end());
  EXPECT_EQ(output_in(second, 5), first.output());
  EXPECT_TRUE(second.determinants().empty());  // nothing new
}

TEST(WorkerLives, ReadingsAfterTheRecordedDeterminantsAreNew) {
  const Bytes wasm = build_guest("clock_lines");
  WorkerDriver first;
  first.load(wasm);
  first.start(1);
  ASSERT_TRUE(first.run_to_end());
  auto known = first.determinants();
  ASSERT_EQ(known.size(), 3u);
  known.pop_back();

  WorkerDriver second;
  second.load(wasm);
  second.start_again(1, {"guest"}, {.determinants = known});
  ASSERT_TRUE(second.run_to_end());
  ASSERT_EQ(second.determinants().size(), 1u);
  EXPECT_EQ(second.determinants()[0].index(), 2u);
  const std::string before = first.output().substr(0, first.output().rfind('\n', first.output().size() - 2));
  EXPECT_EQ(second.output().substr(0, before.size()), before);
}

TEST(WorkerLives, OfASpawnThatIsStoredHomeHasTheImage) {
  const Bytes wasm = build_guest("fork_tree");
  WorkerDriver driver({.keep_images = true});
  driver.load(wasm);
  driver.start_again(1, {"fork_tree", "2"}, {.stored = {{wire::kLogStream, 1}}});  // the first of two
  ASSERT_TRUE(driver.run_to_end());
  std::vector<Effect> spawns;
  std::ranges::copy_if(driver.effects, std::back_inserter(spawns), &Effect::has_spawn);
  ASSERT_EQ(spawns.size(), 2u);
  EXPECT_TRUE(spawns[0].spawn().image().empty());
  EXPECT_FALSE(spawns[1].spawn().image().empty());
  std::vector<std::uint64_t> saved;
  for (const auto& image : driver.images)
    if (image.frame.image().why() == FromWorker::Image::SPAWNED) saved.push_back(image.frame.image().spawn());
  EXPECT_EQ(saved, std::vector<std::uint64_t>{2});
}

TEST(WorkerLives, AThreadThatWasDroppedSaysNothingAndItsNameIsFree) {
  WorkerDriver driver;
  driver.load(build_guest("empty_loop"));
  driver.start(1);
  driver.ask(Ask::drop, 1);
  driver.start_again(1, {"guest"}, {});
  driver.ask(Ask::terminate, 1);
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.effects.size(), 1u);
  EXPECT_EQ(driver.effects.back().epoch(), 2u);
}

// The output is not acknowledged, so the thread waits inside a call.
TEST(WorkerLives, AThreadThatWaitsForRoomCanBeDropped) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest("output_flood"));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.output().size() >= (4u << 20); }));
  driver.ask(Ask::drop, 1);
  driver.start_again(1, {"guest"}, {});  // on the same pool thread
  ASSERT_TRUE(driver.run_until([&] { return !output_in(driver, 2).empty(); }));
}

}  // namespace
}  // namespace gw::test
