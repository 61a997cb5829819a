#include "prep/analysis/function_table.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

std::string entry(const test::TextModule& module, const char* segment, BinaryenIndex index) {
  return BinaryenElementSegmentGetData(BinaryenGetElementSegment(module.ref(), segment), index);
}

TEST(FunctionTable, BlockingImportsInItGetAFunctionOfTheirOwn) {
  const test::TextModule module(R"((module
    (import "godwit" "checkpoint" (func $checkpoint))
    (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
    (table $t 2 funcref)
    (elem $e (i32.const 0) $checkpoint $args)
    (export "again" (func $checkpoint))))");
  const Builder build(module.ref());
  wrap_addressed_imports(build);
  ASSERT_TRUE(module.is_valid());
  const std::string wrapper = entry(module, BinaryenElementSegmentGetName(BinaryenGetElementSegmentByIndex(module.ref(), 0)), 0);
  EXPECT_NE(wrapper, "checkpoint");
  EXPECT_EQ(test::calls_in(module.body(wrapper.c_str())), std::vector<std::string>{"checkpoint"});
  EXPECT_EQ(entry(module, BinaryenElementSegmentGetName(BinaryenGetElementSegmentByIndex(module.ref(), 0)), 1), "args") << "never blocks";
  EXPECT_STREQ(BinaryenExportGetValue(BinaryenGetExport(module.ref(), "again")), wrapper.c_str());
}

TEST(FunctionTable, TheLastSegmentStillDecides) {
  const test::TextModule module(R"((module
    (import "godwit" "checkpoint" (func $checkpoint))
    (table $t 1 funcref)
    (elem (i32.const 0) $checkpoint)
    (elem (i32.const 0) $f)
    (func $f)))");
  wrap_addressed_imports(Builder(module.ref()));
  ASSERT_EQ(BinaryenGetNumElementSegments(module.ref()), 2u);
  EXPECT_STREQ(BinaryenElementSegmentGetData(BinaryenGetElementSegmentByIndex(module.ref(), 1), 0), "f");
}

TEST(FunctionTable, CallsThatFitRewindBodiesCannotReachTheUpperHalf) {
  const test::TextModule module(R"((module (table $t 2 funcref)
    (func $fits (param i32) (call_indirect (local.get 0)))
    (func $constant (call_indirect (i32.const 1)))
    (func $takes_arguments (param i32) (call_indirect (param i32) (i32.const 0) (local.get 0)))))");
  const Builder build(module.ref());
  confine_indirect_calls(build);
  EXPECT_TRUE(module.is_valid());
  auto target = [&](const char* function) { return BinaryenCallIndirectGetTarget(module.find(function, Node::call_indirect)); };
  EXPECT_TRUE(is(target("fits"), Node::call));
  EXPECT_TRUE(is(target("constant"), Node::constant)) << "known to be in the lower half";
  EXPECT_TRUE(is(target("takes_arguments"), Node::local_get)) << "rewind bodies take none, so the engine's check is enough";
}

}  // namespace
}  // namespace gw::prep
