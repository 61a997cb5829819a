#include "prep/analysis/throw_analysis.h"

#include <gtest/gtest.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using test::TextModule;

// The tags that may leave $f, by name.
std::vector<std::string> leaving_f(const std::string& functions) {
  const TextModule module("(module (tag $a (param i32)) (tag $b) " + functions + ")");
  EXPECT_TRUE(module.is_valid());
  const TagTable tags = TagTable::read(module.ref()).value();
  const ThrowAnalysis analysis(module.ref(), tags);
  std::vector<std::string> names;
  for (const auto& [name, tag] : tags.all())
    if (analysis.leaving(analysis.graph().index_of("f")) & tag.bit()) names.push_back(name);
  return names;
}

using Names = std::vector<std::string>;
const std::string kThrowers = "(func $throw_a (throw $a (i32.const 1))) (func $throw_b (throw $b)) (func $quiet)";

TEST(ThrowAnalysis, FollowsCallsToWhatTheyThrow) {
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (call $g)) (func $g (call $throw_a) (call $quiet))"), Names({"a"}));
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (call $quiet))"), Names());
}

TEST(ThrowAnalysis, FollowsRecursion) {
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (call $g)) (func $g (call $f) (call $throw_b))"), Names({"b"}));
}

TEST(ThrowAnalysis, ACatchTakesItsTagOnly) {
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (try (do (call $throw_a) (call $throw_b)) (catch $a (drop (pop i32)))))"), Names({"b"}));
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (try (do (call $throw_a) (call $throw_b)) (catch_all)))"), Names());
}

TEST(ThrowAnalysis, AHandlerThrowsPastItsOwnTry) {
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (try (do (call $throw_b)) (catch_all (call $throw_a))))"), Names({"a"}));
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (try (do (call $quiet)) (catch_all (call $throw_a))))"), Names());
}

TEST(ThrowAnalysis, RethrowThrowsWhatTheClauseHasCaught) {
  EXPECT_EQ(
      leaving_f(kThrowers + "(func $f (try $t (do (call $throw_b)) (catch $a (drop (pop i32)) (rethrow $t)) (catch_all (rethrow $t))))"),
      Names({"b"}));
}

TEST(ThrowAnalysis, DelegatePassesToTheNamedTryOrTheCaller) {
  EXPECT_EQ(
      leaving_f(kThrowers + "(func $f (try $out (do (try (do (try (do (call $throw_b)) (delegate $out))) (catch_all (call $throw_a))))"
                            " (catch $a (drop (pop i32)))))"),
      Names({"b"}));
  EXPECT_EQ(leaving_f(kThrowers + "(func $f (try (do (try (do (call $throw_b)) (delegate 1))) (catch_all)))"), Names({"b"}));
}

TEST(ThrowAnalysis, AnIndirectCallThrowsWhatAnyFunctionOfItsTypeMay) {
  EXPECT_EQ(leaving_f(kThrowers + "(table 2 funcref) (elem (i32.const 0) $quiet $throw_a) (func $f (call_indirect (i32.const 0)))"),
            Names({"a"}));
  EXPECT_EQ(leaving_f(kThrowers + "(table 2 funcref) (elem (i32.const 0) $throw_a) (func $f (param i32) (call_indirect (param i32) "
                                  "(local.get 0) (i32.const 0)))"),
            Names());
}

}  // namespace
}  // namespace gw::prep
