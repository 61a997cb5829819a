#include "prep/prep.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using wire::Level;

constexpr const char* kProgram = R"((module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory 2)
  (table $t 3 3 funcref)
  (elem (i32.const 1) $polled $short)
  (global $count (mut i64) (i64.const 0))
  (global $ratio (mut f64) (f64.const 1))
  (global $fixed i32 (i32.const 9))
  (func $polled (loop $l (br_if $l (i32.load (i32.const 0)))))
  (func $short (global.set $count (i64.const 3)))
  (func $main
    (call_indirect (i32.load (i32.const 4)))
    (global.set $ratio (f64.div (f64.const 0) (global.get $ratio)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))
  (export "memory" (memory 0))
  (export "_start" (func $main))))";

Output processed(const Options& options, test::Names names = test::Names::kept) {
  auto output = process(test::assemble(kProgram, names), options);
  EXPECT_TRUE(output) << output.error().detail;
  return output ? *std::move(output) : Output{};
}

const Options kAllOptions[] = {
    {.level = Level::off}, {.level = Level::coarse}, {}, {.poll = PollChoice::counter}, {.verify = Verify::yes},
};

TEST(Prep, TheSameModuleGivesTheSameBytes) {
  for (const Options& options : kAllOptions) EXPECT_EQ(processed(options).wasm, processed(options).wasm);
}

TEST(Prep, TheSectionSaysWhatWasDone) {
  const Bytes source = test::assemble(kProgram);
  const auto info = wire::read_module_info(processed({.poll = PollChoice::counter}).wasm).value();
  EXPECT_EQ(info.level, Level::fine);
  EXPECT_EQ(info.poll, wire::Poll::counter);
  EXPECT_EQ(info.source_hash, sha256(source));
  EXPECT_FALSE(info.canonical_nans);
  EXPECT_EQ(info.unwind_base, 0u);
  EXPECT_EQ(info.unwind_bytes, kUnwindBytes);
  EXPECT_THAT(info.globals, IsSupersetOf({wire::ValueType::i64, wire::ValueType::f64, wire::ValueType::i32}));
  EXPECT_TRUE(wire::read_module_info(processed({.verify = Verify::yes}).wasm).value().canonical_nans);
  EXPECT_EQ(wire::read_module_info(processed({.level = Level::coarse}).wasm).value().poll, wire::Poll::none);
}

TEST(Prep, LevelOffAddsNothingButTheSection) {
  const Bytes wasm = processed({.level = Level::off}).wasm;
  const auto info = wire::read_module_info(wasm).value();
  EXPECT_EQ(info.level, Level::off);
  EXPECT_TRUE(info.globals.empty());
  EXPECT_THAT(test::export_names(wasm), ::testing::UnorderedElementsAre("memory", "_start"));
  EXPECT_EQ(wire::read_memory(wasm).value().min_pages, 2u);
}

TEST(Prep, AMobileModuleExportsWhatTheHostNeeds) {
  const auto names = test::export_names(processed({.poll = PollChoice::counter}).wasm);
  EXPECT_THAT(names, IsSupersetOf({"memory", "_start", "godwit.unwinding", "godwit.rewinding", "godwit.begin_unwind", "godwit.counter",
                                   "godwit.g0", "godwit.g1"}));
  EXPECT_THAT(test::export_names(processed({.level = Level::coarse}).wasm), Not(Contains("godwit.counter")));
}

TEST(Prep, TheUpperHalfOfTheTableHoldsTheRewindBodies) {
  Bytes wasm = processed({}).wasm;
  BinaryenModuleRef module = BinaryenModuleRead(reinterpret_cast<char*>(wasm.data()), wasm.size());
  BinaryenTableRef table = BinaryenGetTableByIndex(module, 0);
  EXPECT_EQ(BinaryenTableGetInitial(table), 6u);
  EXPECT_GE(BinaryenTableGetMax(table), 6u);
  std::map<std::int32_t, std::string> entries;
  for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module); ++i) {
    BinaryenElementSegmentRef segment = BinaryenGetElementSegmentByIndex(module, i);
    const std::int32_t offset = *const_i32(BinaryenElementSegmentGetOffset(segment));
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(segment); ++k)
      entries[offset + static_cast<std::int32_t>(k)] = BinaryenElementSegmentGetData(segment, k);
  }
  EXPECT_EQ(entries[1], "polled");
  EXPECT_EQ(entries[1 + 3], "polled$rewind");
  EXPECT_EQ(entries[2], "short");
  EXPECT_THAT(entries[2 + 3], Not(StartsWith("short"))) << "cannot suspend, so it has one body";
  BinaryenModuleDispose(module);
}

TEST(Prep, AStrippedModuleStaysStripped) {
  EXPECT_TRUE(wire::read_function_names(processed({}, test::Names::stripped).wasm).value().empty());
  EXPECT_FALSE(wire::read_function_names(processed({}, test::Names::kept).wasm).value().empty());
}

TEST(Prep, TheReportCounts) {
  const Output output = processed({});
  EXPECT_EQ(output.report.bytes_before, test::assemble(kProgram).size());
  EXPECT_EQ(output.report.bytes_after, output.wasm.size());
  EXPECT_EQ(output.report.functions, 3u);
  EXPECT_EQ(output.report.instrumented, 2u) << "main and polled";
  EXPECT_EQ(output.report.loops, 1u);
  EXPECT_EQ(output.report.polled, 1u);
  EXPECT_GT(processed({.verify = Verify::yes}).report.nan_points, 0u);
}

TEST(Prep, AMobileModuleIsNotProcessedAgain) {
  const auto again = process(processed({}).wasm, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, Kind::invalid);
}

TEST(Prep, MayGiveEveryExportedFunctionItsOwnWayBack) {
  auto output = process(test::assemble(R"((module (memory 1)
    (func $work (param i32) (result i64) (loop $l (br_if $l (i32.load (local.get 0)))) (i64.const 4))
    (export "a" (func $work)) (export "b" (func $work))))"),
                        {});
  ASSERT_TRUE(output) << output.error().detail;
  EXPECT_THAT(test::export_names(output->wasm), IsSupersetOf({"a", "b", "godwit.unwinding"}));
}

}  // namespace
}  // namespace gw::prep
