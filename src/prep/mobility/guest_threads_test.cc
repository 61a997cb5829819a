#include "prep/mobility/guest_threads.h"

#include <gmock/gmock.h>

#include "prep/prep.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::HasSubstr;
using wire::Level;

// tests/transform/behaviour_test.cc runs such a program.
constexpr const char* kProgram = R"((module
  (import "godwit" "thread_run" (func $run (param i32 i32 i32 i32) (result i32)))
  (import "godwit" "thread_switch" (func $switch))
  (import "godwit" "thread_frames" (func $frames (param i32)))
  (memory 2)
  (table $t 2 2 funcref)
  (elem (i32.const 1) $thread)
  (func $thread (param i32) (call $switch))
  (func $main
    (if (call $run (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)) (then (call $frames (i32.const 64)))))
  (export "memory" (memory 0))
  (export "_start" (func $main))))";

const std::string kWithoutThreads = R"((module (memory 2) (func $main) (export "memory" (memory 0)) (export "_start" (func $main))))";

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  return text.replace(text.find(old), old.size(), replacement);
}

TEST(GuestThreads, NoImportIsLeftForTheHost) {
  for (Level level : {Level::coarse, Level::fine}) {
    const auto output = process(test::assemble(kProgram), {.level = level});
    ASSERT_TRUE(output) << output.error().detail;
    EXPECT_TRUE(wire::read_imports(output->wasm).value().empty());
  }
}

TEST(GuestThreads, TheStateOfAProgramHasNoMoreGlobalsThanWithoutThreads) {
  const auto globals = [](const std::string& text) {
    return wire::read_module_info(process(test::assemble(text), {})->wasm).value().globals;
  };
  EXPECT_EQ(globals(kProgram), globals(kWithoutThreads));
}

TEST(GuestThreads, AModuleThatSavesNoFramesCannotHaveThem) {
  const auto output = process(test::assemble(kProgram), {.level = Level::off});
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().detail, HasSubstr("build it without --mobile=off"));
}

TEST(GuestThreads, AnImportOfAnotherTypeIsRefused) {
  const std::string other = with(with(kProgram, "$frames (param i32)", "$frames (param i64)"), "(i32.const 64)", "(i64.const 64)");
  const auto output = process(test::assemble(other), {});
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().detail, HasSubstr("godwit.thread_frames with another type"));
}

TEST(GuestThreads, AProgramWithoutATableIsStillValid) {
  const std::string none = with(with(kProgram, "(table $t 2 2 funcref)", ""), "(elem (i32.const 1) $thread)", "");
  const auto output = process(test::assemble(none), {});
  EXPECT_TRUE(output) << output.error().detail;
}

}  // namespace
}  // namespace gw::prep
