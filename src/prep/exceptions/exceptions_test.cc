#include "prep/exceptions/exceptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prep/mobility/unwind_stack.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using test::TextModule;

std::string module_of(const std::string& functions) { return "(module (tag $a (param i32)) (tag $b (param f64)) " + functions + ")"; }

// Lowered, and valid without exceptions.
ExceptionReport lower(const TextModule& module) {
  EXPECT_TRUE(module.is_valid());
  const ExceptionReport report = lower_exceptions(module.ref()).value();
  BinaryenModuleSetFeatures(module.ref(), BinaryenFeatureMutableGlobals());
  EXPECT_TRUE(module.is_valid());
  return report;
}

unsigned checks_in(Expr body) {
  unsigned checks = 0;
  walk(body, [&](Expr e) { checks += is_exception_check(e) ? 1 : 0; });
  return checks;
}

TEST(Exceptions, LeaveNoInstructionOfTheirOwn) {
  const TextModule module(module_of(R"(
    (func $f (export "f") (param i32) (result i32)
      (try $t (result i32)
        (do (if (local.get 0) (throw $a (i32.const 1))) (call $g) (i32.const 2))
        (catch $a (drop (pop i32)) (rethrow $t))
        (catch_all (i32.const 3))))
    (func $g (throw $b (f64.const 1)))
  )"));
  lower(module);
  for (const char* function : {"f", "g"}) {
    for (Node node : {Node::try_catch, Node::throw_tag, Node::rethrow, Node::pop})
      EXPECT_EQ(test::count(module.body(function), node), 0u) << function;
  }
}

TEST(Exceptions, OnlyCallsThatMayThrowAreChecked) {
  const TextModule module(module_of(R"(
    (func $f (export "f") (call $quiet) (call $throws) (drop (call $quiet2)))
    (func $quiet) (func $quiet2 (result i32) (i32.const 1))
    (func $throws (throw $a (i32.const 1)))
  )"));
  const ExceptionReport report = lower(module);
  EXPECT_EQ(report.calls, 3u);
  EXPECT_EQ(report.checks, 1u);
  EXPECT_EQ(report.throwing, 2u);
  EXPECT_EQ(checks_in(module.body("f")), 1u);
  EXPECT_EQ(checks_in(module.body("quiet")), 0u);
}

TEST(Exceptions, ATryIntoWhichNothingIsThrownIsItsBody) {
  const TextModule module(module_of(R"(
    (func $f (export "f") (result i32) (try (result i32) (do (call $quiet) (i32.const 5)) (catch_all (call $never) (i32.const 6))))
    (func $quiet) (func $never (throw $a (i32.const 1)))
  )"));
  const ExceptionReport report = lower(module);
  EXPECT_EQ(report.tries, 1u);
  EXPECT_EQ(report.idle_tries, 1u);
  EXPECT_THAT(test::calls_in(module.body("f")), ::testing::ElementsAre("quiet"));
  EXPECT_FALSE(module.has("never"));
}

TEST(Exceptions, AModuleWithoutThemKeepsItsFunctions) {
  const TextModule module(module_of("(func $f (export \"f\") (call $g)) (func $g)"));
  lower(module);
  EXPECT_EQ(checks_in(module.body("f")), 0u);
  EXPECT_EQ(BinaryenGetGlobal(module.ref(), kUnwinding), nullptr);
}

TEST(Exceptions, AnExceptionThatLeavesAnExportTraps) {
  const TextModule module(module_of("(func $f (export \"f\") (throw $a (i32.const 1)))"));
  lower(module);
  const std::string entry = BinaryenExportGetValue(BinaryenGetExport(module.ref(), "f"));
  EXPECT_NE(entry, "f");
  EXPECT_EQ(test::count(module.body(entry.c_str()), Node::unreachable), 1u);
}

TEST(Exceptions, ExportedTagsGo) {
  const TextModule module("(module (tag $a (param i32)) (export \"tag\" (tag $a)) (func $f (export \"f\")))");
  lower(module);
  EXPECT_EQ(BinaryenGetExport(module.ref(), "tag"), nullptr);
}

TEST(Exceptions, TagsOfSeveralValuesAreRefused) {
  for (const char* params : {"i32 i32", "v128"}) {
    const TextModule module(std::string("(module (tag $a (param ") + params + ")) (func $f (try (do) (catch $a (drop (pop " + params +
                            "))))))");
    const auto result = lower_exceptions(module.ref());
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, Kind::unsupported);
  }
}

}  // namespace
}  // namespace gw::prep
