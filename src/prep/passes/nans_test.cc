#include "prep/passes/nans.h"

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

struct NanCase {
  const char* name;
  const char* statement;
  unsigned changes;
};

class Nans : public ::testing::TestWithParam<NanCase> {};

TEST_P(Nans, AreCanonicalWhereTheyCanBeObserved) {
  const test::TextModule module(R"((module
    (import "wasi_snapshot_preview1" "proc_exit" (func $host (param f32)))
    (memory 1) (global $g (mut f64) (f64.const 0))
    (func $f (param $x f32) (param $y f64) (param $v v128) )" +
                                std::string(GetParam().statement) + "))");
  ASSERT_TRUE(module.is_valid());
  EXPECT_EQ(make_nans_canonical(module.ref()), GetParam().changes);
  EXPECT_TRUE(module.is_valid());
}

const NanCase kObserved[] = {
    {"stored", "(f32.store (i32.const 0) (f32.div (local.get $x) (local.get $x)))", 1},
    {"reinterpreted", "(drop (i64.reinterpret_f64 (f64.sqrt (local.get $y))))", 1},
    {"in_a_global", "(global.set $g (f64.add (local.get $y) (local.get $y)))", 1},
    {"handed_to_the_host", "(call $host (f32.neg (local.get $x)))", 1},
    {"as_a_sign", "(drop (f32.copysign (f32.const 1) (f32.mul (local.get $x) (local.get $x))))", 1},
    {"vector_arithmetic", "(drop (f32x4.div (local.get $v) (local.get $v)))", 1},
    {"two_vector_operations", "(drop (f64x2.sqrt (f64x2.add (local.get $v) (local.get $v))))", 2},
    {"splat", "(v128.store (i32.const 0) (f32x4.splat (f32.div (local.get $x) (local.get $x))))", 1},
    {"replaced_lane", "(v128.store (i32.const 0) (f64x2.replace_lane 0 (local.get $v) (f64.div (local.get $y) (local.get $y))))", 1},
};

const NanCase kNotObserved[] = {
    {"compared", "(drop (f32.lt (f32.div (local.get $x) (local.get $x)) (f32.const 1)))", 0},
    {"converted", "(drop (i32.trunc_sat_f32_s (f32.div (local.get $x) (local.get $x))))", 0},
    {"in_a_local", "(local.set $x (f32.div (local.get $x) (local.get $x)))", 0},
    {"copied_in_memory", "(f32.store (i32.const 0) (f32.load (i32.const 8)))", 0},
    {"made_of_an_integer", "(f64.store (i32.const 0) (f64.convert_i32_s (i32.const 3)))", 0},
    {"integer_lanes", "(v128.store (i32.const 0) (i32x4.add (local.get $v) (local.get $v)))", 0},
};

std::string nan_case_name(const ::testing::TestParamInfo<NanCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Observed, Nans, ::testing::ValuesIn(kObserved), nan_case_name);
INSTANTIATE_TEST_SUITE_P(NotObserved, Nans, ::testing::ValuesIn(kNotObserved), nan_case_name);

}  // namespace
}  // namespace gw::prep
