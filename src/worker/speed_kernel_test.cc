#include "worker/speed_kernel.h"

#include <gtest/gtest.h>

#include "isolate/engine/wasm_engine.h"

namespace gw::worker {
namespace {

TEST(SpeedKernel, GivesASpeed) {
  ASSERT_TRUE(isolate::start_wasm_engine());
  const auto speed = measure_speed();
  ASSERT_TRUE(speed) << speed.error().detail;
  EXPECT_GT(*speed, 1u);
  EXPECT_LT(*speed, 100'000u) << "a hundred times the reference machine";
}

}  // namespace
}  // namespace gw::worker
