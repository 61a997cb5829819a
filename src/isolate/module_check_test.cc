#include "isolate/module_check.h"

#include <gtest/gtest.h>

#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

constexpr std::string_view kGood = R"((memory (export "memory") 1) (func (export "_start")))";

std::string complaint(Bytes wasm) {
  auto facts = check_module(wasm);
  return facts ? "" : facts.error().detail;
}
std::string complaint(std::string_view body) { return complaint(test::plain_guest(body)); }

TEST(ModuleCheck, TakesPlainAndMobileModules) {
  EXPECT_EQ(complaint(kGood), "");
  Bytes mobile = test::summing_guest(wire::Poll::cell);
  auto facts = check_module(mobile);
  ASSERT_TRUE(facts) << facts.error().detail;
  EXPECT_EQ(facts->info, test::cell_info());
  EXPECT_EQ(facts->memory.min_pages, 2u);
}

TEST(ModuleCheck, RefusesImportsWeDoNotOffer) {
  EXPECT_EQ(complaint(R"((import "env" "system" (func (param i32) (result i32))) (memory (export "memory") 1) (func (export "_start")))"),
            "the module imports 'system' from 'env', which Godwit does not provide");
  EXPECT_EQ(
      complaint(R"((import "wasi_snapshot_preview1" "fd_write" (func (param i64))) (memory (export "memory") 1) (func (export "_start")))"),
      "the module imports 'fd_write' from 'wasi_snapshot_preview1' with another type than it has");
  EXPECT_NE(complaint(R"((import "env" "memory" (memory 1)) (func (export "_start")))"), "");
}

TEST(ModuleCheck, RefusesModulesThatAreNotCommands) {
  EXPECT_EQ(complaint(R"((memory (export "memory") 1) (func (export "main")))"), "the module does not export the function '_start'");
  EXPECT_EQ(complaint(R"((memory 1) (func (export "_start")))"), "the module does not export the memory 'memory'");
  EXPECT_NE(complaint(R"((func (export "_start")))"), "");
  EXPECT_NE(complaint(R"((memory (export "memory") 1) (func $f (export "_start")) (start $f))"), "");
}

TEST(ModuleCheck, RefusesPromisesTheModuleDoesNotKeep) {
  EXPECT_NE(complaint(test::with_info(test::plain_guest(kGood), test::cell_info())), "");
  wire::ModuleInfo outside = test::cell_info();
  outside.poll_cell = 2 * 65536;
  EXPECT_EQ(complaint(test::mobile_guest("", R"((func (export "_start")))", outside)),
            "the poll cell or unwind stack of the module lies outside its initial memory");
  wire::ModuleInfo vector = test::cell_info();
  vector.globals = {wire::ValueType::v128};
  EXPECT_NE(complaint(test::mobile_guest("", R"((func (export "_start")))", vector)), "");
}

TEST(ModuleCheck, RefusesWhatIsNotWasm) {
  EXPECT_NE(complaint(Bytes{}), "");
  EXPECT_NE(complaint(Bytes{1, 2, 3}), "");
}

TEST(EngineLoad, SaysWhyCodeDoesNotCompile) {
  Bytes wasm = test::plain_guest(kGood);
  auto sections = wire::read_sections(wasm);
  ASSERT_TRUE(sections);
  for (const wire::Section& section : *sections) {
    if (section.id == wire::SectionId::code)
      wasm[static_cast<std::size_t>(section.payload.data() - wasm.data()) + 3] = 0xff;  // not an opcode
  }
  auto module = test::engine().load(wasm);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::invalid);
  EXPECT_NE(module.error().detail.find("does not compile"), std::string::npos) << module.error().detail;
}

}  // namespace
}  // namespace gw::isolate
