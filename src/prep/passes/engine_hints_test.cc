#include "prep/passes/engine_hints.h"

#include <gmock/gmock.h>

#include "prep/prep.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

constexpr std::uint8_t kBrIf = 0x0d;

std::optional<ByteView> section_named(ByteView wasm, std::string_view name) {
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections)
    if (section.id == wire::SectionId::custom && section.name == name) return section.payload;
  return std::nullopt;
}

// The bodies of a module by function index.
std::map<std::uint32_t, ByteView> bodies(ByteView wasm) {
  std::uint32_t index = 0;
  for (const auto imports = wire::read_imports(wasm).value(); const wire::Import& import : imports)
    index += import.kind == wire::ExternKind::function ? 1 : 0;
  std::map<std::uint32_t, ByteView> list;
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections) {
    if (section.id != wire::SectionId::code) continue;
    ByteReader reader(section.payload);
    for (std::uint32_t left = reader.leb_u32().value(); left > 0; --left) list[index++] = reader.bytes(reader.leb_u32().value()).value();
  }
  return list;
}

constexpr const char* kLooping = R"((module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory 200)
  (global $cell i32 (i32.const 64))
  (export "godwit_poll_cell" (global $cell))
  (func $inner (loop $l (br_if $l (i32.load (i32.const 8)))))
  (func $main (block $out (br_if $out (i32.load (i32.const 12))) (call $inner)) (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))
  (export "memory" (memory 0)) (export "_start" (func $main))))";

class EngineHintsWithPoll : public ::testing::TestWithParam<PollChoice> {};

TEST_P(EngineHintsWithPoll, BranchHintsPointAtConditionalBranches) {
  const Bytes wasm = process(test::assemble(kLooping), {.poll = GetParam()}).value().wasm;
  const auto hints = section_named(wasm, "metadata.code.branch_hint");
  ASSERT_TRUE(hints);
  const auto code = bodies(wasm);
  ByteReader reader(*hints);
  unsigned hinted = 0;
  for (std::uint32_t functions = reader.leb_u32().value(); functions > 0; --functions) {
    const ByteView body = code.at(reader.leb_u32().value());
    for (std::uint32_t count = reader.leb_u32().value(); count > 0; --count, ++hinted) {
      const std::uint32_t offset = reader.leb_u32().value();
      ASSERT_LT(offset, body.size());
      EXPECT_EQ(body[offset], kBrIf);
      EXPECT_EQ(reader.leb_u32().value(), 1u);
      EXPECT_EQ(reader.u8().value(), 0u) << "unlikely";
    }
  }
  EXPECT_TRUE(reader.at_end());
  EXPECT_GE(hinted, 3u) << "the poll, the look after the inner call, the look after the import";
}

INSTANTIATE_TEST_SUITE_P(Polls, EngineHintsWithPoll, ::testing::Values(PollChoice::automatic, PollChoice::counter),
                         [](const auto& info) { return info.param == PollChoice::automatic ? "cell" : "counter"; });

TEST(EngineHints, StandBeforeTheCode) {
  const Bytes wasm = process(test::assemble(kLooping), {}).value().wasm;
  bool seen_code = false;
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections) {
    seen_code |= section.id == wire::SectionId::code;
    if (section.name == "metadata.code.branch_hint" || section.name == "compilationHints") EXPECT_FALSE(seen_code);
  }
}

TEST(EngineHints, OnlyRewindBodiesAreCompiledLate) {
  const Bytes wasm = process(test::assemble(kLooping), {}).value().wasm;
  const auto hints = section_named(wasm, "compilationHints");
  ASSERT_TRUE(hints);
  const auto names = wire::read_function_names(wasm).value();
  const auto code = bodies(wasm);
  ByteReader reader(*hints);
  ASSERT_EQ(reader.leb_u32().value(), code.size());
  std::map<bool, std::set<std::uint8_t>> strategies;  // by being a rewind body
  for (const auto& [index, body] : code) strategies[names.at(index).ends_with("$rewind")].insert(reader.u8().value());
  EXPECT_EQ(strategies[true].size(), 1u);
  EXPECT_EQ(strategies[false].size(), 1u);
  EXPECT_NE(strategies[true], strategies[false]);
}

TEST(EngineHints, AModuleWithoutCodeStaysAsItIs) {
  const Bytes wasm = test::assemble("(module (memory 1))");
  EXPECT_EQ(add_engine_hints(wasm, {}).value(), wasm);
}

}  // namespace
}  // namespace gw::prep
