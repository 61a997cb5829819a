#include "prep/source_module.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::Level;

std::string refusal(const std::string& text) {
  auto source = SourceModule::parse(test::assemble(text), Level::fine);
  return source ? "accepted" : source.error().detail;
}

TEST(SourceModule, RefusesWhatItCannotMove) {
  EXPECT_THAT(refusal("(module (memory 1) (table $a 1 funcref) (table $b 1 funcref))"), HasSubstr("more than one table"));
  EXPECT_THAT(refusal("(module (memory 1) (table $t 1 funcref) (func $f) (elem $e func $f))"), HasSubstr("at run time"));
  EXPECT_THAT(refusal("(module (memory 1) (func $two (result i32 i64) (tuple.make (i32.const 1) (i64.const 2))))"),
              HasSubstr("two returns several values"));
  EXPECT_THAT(refusal("(module (memory 1) (global $g (mut v128) (v128.const i32x4 0 0 0 0)))"), HasSubstr("vector type"));
  EXPECT_THAT(refusal("(module (memory 1) (func $f (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))))"), HasSubstr("threads"));
  EXPECT_THAT(refusal("(module (memory 65000))"), HasSubstr("no room"));
  EXPECT_THAT(refusal("(module (memory 1) (func $f) (export \"godwit.unwinding\" (func $f)))"), HasSubstr("reserved"));
}

TEST(SourceModule, TheStartFunctionBecomesTheFirstThingStartDoes) {
  auto source = SourceModule::parse(
      test::assemble("(module (memory 1) (start $init) (func $init) (func $main) (export \"_start\" (func $main)))"), Level::fine);
  ASSERT_TRUE(source) << source.error().detail;
  BinaryenExportRef start = BinaryenGetExport(source->ref(), "_start");
  ASSERT_TRUE(start);
  Expr body = BinaryenFunctionGetBody(BinaryenGetFunction(source->ref(), BinaryenExportGetValue(start)));
  EXPECT_THAT(test::calls_in(body), ElementsAre("init", "main"));
}

TEST(SourceModule, MakesRoomForFramesBehindTheMemory) {
  const Bytes wasm = test::assemble("(module (memory 3 10))");
  auto mobile = SourceModule::parse(wasm, Level::fine);
  ASSERT_TRUE(mobile) << mobile.error().detail;
  EXPECT_EQ(mobile->unwind_area().base, 3 * kWasmPageBytes);
  EXPECT_EQ(mobile->unwind_area().bytes, kUnwindBytes);
  EXPECT_FALSE(mobile->poll_cell());
  auto plain = SourceModule::parse(wasm, Level::off);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->unwind_area().bytes, 0u);
}

TEST(SourceModule, FindsThePollCellOfTheGuestRuntime) {
  auto source = SourceModule::parse(
      test::assemble("(module (memory 1) (global $cell i32 (i32.const 64)) (export \"godwit_poll_cell\" (global $cell)))"), Level::fine);
  ASSERT_TRUE(source) << source.error().detail;
  EXPECT_EQ(source->poll_cell(), 64u);
}

TEST(SourceModule, RefusesAPollCellThatIsNoAddress) {
  EXPECT_THAT(refusal("(module (memory 1) (global $cell (mut i32) (i32.const 64)) (export \"godwit_poll_cell\" (global $cell)))"),
              HasSubstr("something else than the address"));
}

TEST(SourceModule, NamesThatLookLikeOursAreForgotten) {
  auto source = SourceModule::parse(test::assemble("(module (memory 1) (func $gw$poll) (func $f$rewind))"), Level::fine);
  ASSERT_TRUE(source) << source.error().detail;
  EXPECT_EQ(BinaryenGetFunction(source->ref(), "gw$poll"), nullptr);
  EXPECT_EQ(BinaryenGetFunction(source->ref(), "f$rewind"), nullptr);
}

TEST(SourceModule, NullReferencesInTheTableAreRefused) {
  const auto refused = SourceModule::parse(
      test::assemble(
          R"((module (memory 1) (table $t 2 funcref) (elem (table $t) (i32.const 0) funcref (ref.null func)) (export "memory" (memory 0))))"),
      wire::Level::fine);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::unsupported);
}

}  // namespace
}  // namespace gw::prep
