#include "wire/wasm/wasm_binary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "wire/wasm/wasi_imports.h"

namespace gw::wire {
namespace {

// Puts modules together section by section.
class ModuleText {
 public:
  ModuleText() {
    out_.u32(0x6d736100);
    out_.u32(1);
  }
  ModuleText& section(SectionId id, const Bytes& payload) {
    out_.u8(static_cast<std::uint8_t>(id));
    out_.leb_u32(static_cast<std::uint32_t>(payload.size()));
    out_.bytes(payload);
    return *this;
  }
  Bytes bytes() { return out_.take(); }

 private:
  ByteWriter out_;
};

const Bytes kTypes{2, 0x60, 1, 0x7f, 1, 0x7e, 0x60, 0, 0};
const Bytes kImports{2, 1, 'm', 1, 'f', 0, 1, 1, 'm', 3, 'm', 'e', 'm', 2, 3, 1, 2};
const Bytes kMemory{1, 1, 16, 32};
const Bytes kExports{1, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0};
const Bytes kNames{4, 'n', 'a', 'm', 'e', 1, 10, 2, 0, 1, 'f', 3, 4, 'm', 'a', 'i', 'n'};

Bytes example_module() {
  return ModuleText()
      .section(SectionId::type, kTypes)
      .section(SectionId::import, kImports)
      .section(SectionId::memory, kMemory)
      .section(SectionId::export_, kExports)
      .section(SectionId::custom, kNames)
      .bytes();
}

TEST(WasmBinary, ListsSections) {
  const Bytes wasm = example_module();
  const auto sections = read_sections(wasm).value();
  ASSERT_EQ(sections.size(), 5u);
  EXPECT_EQ(sections[0].offset, 8u);
  EXPECT_EQ(sections[2].id, SectionId::memory);
  EXPECT_EQ(sections[4].name, "name");
  EXPECT_EQ(sections[4].payload.size(), kNames.size() - 5);
}

TEST(WasmBinary, ReadsTypesImportsExportsAndMemory) {
  const Bytes wasm = example_module();
  const auto types = read_types(wasm).value();
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[0], (FunctionType{{ValueType::i32}, {ValueType::i64}}));
  const auto imports = read_imports(wasm).value();
  ASSERT_EQ(imports.size(), 2u);
  EXPECT_EQ(imports[0].name, "f");
  EXPECT_EQ(imports[0].type_index, 1u);
  EXPECT_EQ(imports[1].kind, ExternKind::memory);
  EXPECT_EQ(read_exports(wasm).value().at(0).name, "memory");
  const MemoryType memory = read_memory(wasm).value();
  EXPECT_EQ(memory.min_pages, 16u);
  EXPECT_EQ(memory.max_pages, 32u);
  EXPECT_FALSE(memory.shared || memory.is64);
}

TEST(WasmBinary, TellsDataThatAnInstructionMayUse) {
  const auto active_only = [](Bytes data) { return has_active_data_only(ModuleText().section(SectionId::data, data).bytes()); };
  EXPECT_TRUE(has_active_data_only(example_module()).value());
  EXPECT_TRUE(active_only({1, 0, 0x41, 8, 0x0b, 2, 'h', 'i'}).value());
  EXPECT_TRUE(active_only({2, 0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x78, 0x0b, 0, 0, 0x41, 8, 0x0b, 0}).value());
  EXPECT_FALSE(active_only({2, 0, 0x41, 8, 0x0b, 1, 'a', 1, 1, 'b'}).value());  // the second one is passive
  EXPECT_FALSE(active_only({1, 0, 0x23, 0, 0x0b, 1, 'a'}).value());             // the address is a global
  EXPECT_FALSE(active_only({1, 0, 0x41, 8, 0x0b, 9, 'a'}));                     // longer than its section
}

TEST(WasmBinary, ReadsFunctionNames) {
  const auto names = read_function_names(example_module()).value();
  EXPECT_EQ(names, (std::map<std::uint32_t, std::string>{{0, "f"}, {3, "main"}}));
  EXPECT_TRUE(read_function_names(ModuleText().bytes()).value().empty());
}

TEST(WasmBinary, LeavesOutCustomSections) {
  const Bytes wasm = example_module();
  const Bytes shorter = without_custom_section(wasm, "name").value();
  EXPECT_EQ(shorter, Bytes(wasm.begin(), wasm.end() - static_cast<std::ptrdiff_t>(kNames.size()) - 2));
  EXPECT_EQ(without_custom_section(wasm, "other").value(), wasm);
}

TEST(WasmBinary, LeavesOutTheLastCustomSections) {
  const Bytes needed = ModuleText().section(SectionId::custom, {1, 'a'}).section(SectionId::memory, {0}).bytes();
  Bytes all = needed;
  for (const std::uint8_t name : {'b', 'c'}) all.insert(all.end(), {0, 2, 1, name});
  EXPECT_TRUE(std::ranges::equal(without_last_custom_sections(all).value(), needed));
  EXPECT_TRUE(std::ranges::equal(without_last_custom_sections(needed).value(), needed));
}

TEST(WasmBinary, ShowsSharedAnd64BitMemory) {
  EXPECT_TRUE(read_memory(ModuleText().section(SectionId::memory, {1, 3, 1, 2}).bytes()).value().shared);
  EXPECT_TRUE(read_memory(ModuleText().section(SectionId::memory, {1, 4, 1}).bytes()).value().is64);
}

TEST(WasmBinary, RefusesMalformedModules) {
  const struct {
    const char* why;
    Bytes wasm;
    Kind kind;
  } cases[] = {
      {"empty", {}, Kind::corrupt},
      {"text", {'(', 'm', 'o', 'd', 'u', 'l', 'e', ')'}, Kind::corrupt},
      {"component", {0, 'a', 's', 'm', 0x0d, 0, 1, 0}, Kind::unsupported},
      {"unknown section", ModuleText().section(SectionId{77}, {}).bytes(), Kind::unsupported},
      {"section twice", ModuleText().section(SectionId::type, {0}).section(SectionId::type, {0}).bytes(), Kind::corrupt},
      {"out of order", ModuleText().section(SectionId::memory, {0}).section(SectionId::type, {0}).bytes(), Kind::corrupt},
      {"custom section without a name", ModuleText().section(SectionId::custom, {}).bytes(), Kind::corrupt},
  };
  for (const auto& c : cases) {
    const auto sections = read_sections(c.wasm);
    ASSERT_FALSE(sections) << c.why;
    EXPECT_EQ(sections.error().kind, c.kind) << c.why;
  }
}

TEST(WasmBinary, RefusesListsThatDoNotFit) {
  EXPECT_FALSE(read_types(ModuleText().section(SectionId::type, {0xff, 0xff, 0xff, 0xff, 0x0f}).bytes()));
  EXPECT_FALSE(read_types(ModuleText().section(SectionId::type, {0, 0}).bytes())) << "bytes left over";
  EXPECT_EQ(read_types(ModuleText().section(SectionId::type, {1, 0x5f, 0, 0}).bytes()).error().kind, Kind::unsupported) << "GC struct";
  EXPECT_FALSE(read_memories(ModuleText().section(SectionId::memory, {1, 0x40, 1}).bytes())) << "unknown flags";
}

TEST(WasmBinary, SurvivesEveryTruncation) {
  const Bytes wasm = example_module();
  for (std::size_t size = 0; size < wasm.size(); ++size) {
    const ByteView cut = ByteView(wasm).first(size);
    (void)read_types(cut);
    (void)read_imports(cut);
    (void)read_exports(cut);
    (void)read_memory(cut);
    (void)read_function_names(cut);
  }
}

TEST(WasiImports, KnowsWhatBlocks) {
  EXPECT_EQ(find_importable("wasi_snapshot_preview1", "fd_read")->blocking, Blocking::maybe);
  EXPECT_EQ(find_importable("wasi_snapshot_preview1", "random_get")->blocking, Blocking::never);
  EXPECT_EQ(find_importable("godwit", "checkpoint")->blocking, Blocking::maybe);
  EXPECT_EQ(find_importable("godwit", "thread_switch")->blocking, Blocking::maybe);
  EXPECT_EQ(find_importable("godwit", "fd_read"), nullptr);
  EXPECT_EQ(find_importable("env", "emscripten_sleep"), nullptr);
  EXPECT_EQ(find_importable("godwit", "fork")->blocking, Blocking::maybe);
  EXPECT_EQ(find_importable("godwit", "thread_id")->blocking, Blocking::never);
  EXPECT_EQ(std::ranges::count(host_functions(), kWasiModule, &HostFunction::module), 46) << "all of preview 1";
}

}  // namespace
}  // namespace gw::wire
