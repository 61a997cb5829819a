#include "prep/passes/bulk_memory.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BulkMemory, SmallConstantSizesStay) {
  const test::TextModule module(R"((module (memory 1) (func $f
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 4096))
    (memory.copy (i32.const 0) (i32.const 1) (i32.const 1048576)))))");
  split_bulk_memory(module.ref());
  EXPECT_THAT(test::calls_in(module.body("f")), IsEmpty());
}

TEST(BulkMemory, LargeAndUnknownSizesAreSplit) {
  const test::TextModule module(R"((module (memory 1) (func $f (param i32)
    (memory.fill (i32.const 0) (i32.const 1) (local.get 0))
    (memory.copy (i32.const 0) (i32.const 1) (i32.const 1048577))
    (memory.fill (i32.const 0) (i32.const 1) (i32.const -1)))))");
  split_bulk_memory(module.ref());
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("gw$fill", "gw$copy", "gw$fill"));
  EXPECT_EQ(test::count(module.body("gw$fill"), Node::loop), 1u);
  EXPECT_EQ(test::count(module.body("gw$copy"), Node::loop), 2u) << "one for each direction";
  EXPECT_TRUE(module.is_valid());
}

TEST(BulkMemory, OperandsAreEvaluatedInTheSameOrder) {
  const test::TextModule module(R"((module (memory 1)
    (func $a (result i32) (i32.const 1)) (func $b (result i32) (i32.const 2)) (func $c (result i32) (i32.const 3))
    (func $f (memory.copy (call $a) (call $b) (call $c)))))");
  split_bulk_memory(module.ref());
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("a", "b", "c", "gw$copy"));
}

}  // namespace
}  // namespace gw::prep
