#include "isolate/engine/engine.h"

#include <gtest/gtest.h>

#include "isolate/test/guests.h"
#include "os/process/process.h"

namespace gw::isolate {
namespace {

Bytes compile_elsewhere(const Bytes& wasm, const char* kind) {
  auto compiled = os::run_process({.argv = {GW_TEST_COMPILER, kind}, .stdin_bytes = wasm});
  EXPECT_TRUE(compiled && compiled->succeeded()) << compiled->err;
  return Bytes(compiled->out.begin(), compiled->out.end());
}

void expect_runs(const std::shared_ptr<const Module>& module) {
  test::World world;
  EXPECT_EQ(describe(world.make(module, {.args = {"sum"}})->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), "sum=6a4ae6e0\n");
}

TEST(Engine, RunsCodeThatTheCompileOnlyProcessMade) {
  Bytes wasm = test::summing_guest(wire::Poll::cell);
  for (const char* kind : {"start", "restore"}) {
    Bytes native = compile_elsewhere(wasm, kind);
    EXPECT_GT(native.size(), 1000u);
    auto module = test::engine().load(wasm, native);
    ASSERT_TRUE(module) << module.error().detail;
    EXPECT_EQ((*module)->code_source(), CodeSource::native);
    expect_runs(*module);
  }
}

TEST(Engine, CompilesWhatItIsNotGiven) {
  auto module = test::engine().load(test::summing_guest(wire::Poll::cell));
  ASSERT_TRUE(module) << module.error().detail;
  EXPECT_EQ((*module)->code_source(), CodeSource::compiled);
  expect_runs(*module);
}

TEST(Engine, CompilesWhenTheCodeIsOfAnotherEngine) {
  Bytes wasm = test::summing_guest(wire::Poll::cell);
  Bytes native = compile_elsewhere(wasm, "start");
  native[5] ^= 1;  // in the hash of V8's version
  auto module = test::engine().load(wasm, native);
  ASSERT_TRUE(module) << module.error().detail;
  EXPECT_EQ((*module)->code_source(), CodeSource::native_refused);
  expect_runs(*module);
}

TEST(Engine, TheCompileOnlyProcessRefusesWhatIsNoGuest) {
  auto result = os::run_process({.argv = {GW_TEST_COMPILER, "start"}, .stdin_bytes = {1, 2, 3}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 2);
  EXPECT_EQ(result->out, "");
}

}  // namespace
}  // namespace gw::isolate
