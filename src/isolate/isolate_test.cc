#include "isolate/isolate.h"

#include <gtest/gtest.h>

#include <thread>

#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

using namespace std::chrono_literals;
using test::World;

constexpr std::string_view kSumOfOneMillion = "sum=6a4ae6e0\n";  // 999999 * 1000000 / 2, low 32 bits

class IsolateWithPoll : public ::testing::TestWithParam<wire::Poll> {};

TEST_P(IsolateWithPoll, RunsToItsEnd) {
  World world;
  auto isolate = world.make(test::load(test::summing_guest(GetParam())), {.args = {"sum"}});
  EXPECT_EQ(isolate->state(), RunState::stopped);
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
  EXPECT_EQ(isolate->state(), RunState::ended);
  EXPECT_EQ(world.output.text(), kSumOfOneMillion);
}

TEST_P(IsolateWithPoll, StopsInTheMiddleAndGoesOn) {
  World world;
  auto isolate = world.make(test::load(test::summing_guest(GetParam())), {.args = std::vector<std::string>(1000, "x")});
  for (int i = 0; i < 20; i++) {
    std::thread other([&] {
      std::this_thread::sleep_for(1ms);
      isolate->suspend();
    });
    Stop stop = isolate->resume();
    other.join();
    ASSERT_EQ(describe(stop), "suspended");
    ASSERT_EQ(isolate->state(), RunState::stopped);
  }
  EXPECT_EQ(world.output.text(), "");
  isolate->terminate();
}

TEST_P(IsolateWithPoll, GoesOnInAnotherIsolateWithTheSameResult) {
  World world;
  auto module = test::load(test::summing_guest(GetParam()));
  auto isolate = world.make(module, {.args = {"sum"}});
  for (int moves = 0; moves < 5; moves++) {
    isolate->suspend();
    ASSERT_EQ(describe(isolate->resume()), "suspended");
    auto image = isolate->save();
    ASSERT_TRUE(image) << image.error().detail;
    auto next = Isolate::restore(test::engine(), *world.thread, module, {*image}, Limits{}, world.host());
    ASSERT_TRUE(next) << next.error().detail;
    isolate = *std::move(next);
  }
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSumOfOneMillion);
}

INSTANTIATE_TEST_SUITE_P(Polls, IsolateWithPoll, ::testing::Values(wire::Poll::cell, wire::Poll::counter),
                         [](const auto& info) { return std::string(wire::name(info.param)); });

}  // namespace
}  // namespace gw::isolate
