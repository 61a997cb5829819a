#include "wire/wasm/line_table.h"

#include <gmock/gmock.h>

#include "wire/wasm/wasm_binary.h"

namespace gw::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

constexpr std::size_t kCodePayloadAt = kModuleHeaderBytes + 2;  // behind id and size of the section

// A module of a code section, whose content nobody reads here, and a section with lines.
Bytes module_with(ByteView lines) {
  ByteWriter out;
  for (const std::uint8_t byte : {0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00}) out.u8(byte);
  out.bytes(make_section(SectionId::code, Bytes(100)));
  out.bytes(make_custom_section(kLinesSection, lines));
  return out.take();
}

const LineTable kTable{.files = {"main.c", "parts/list.c"}, .rows = {{10, 0, 3}, {20, 1, 700}, {25, 0, 0}, {30, 0, 1}}};

std::vector<std::optional<SourceLine>> lines_at(ByteView wasm, std::vector<std::uint32_t> offsets) {
  for (std::uint32_t& offset : offsets) offset += kCodePayloadAt;
  return find_lines(wasm, offsets).value();
}

TEST(LineTable, FindsTheRowThatHolds) {
  const Bytes wasm = module_with(encode(kTable));
  EXPECT_THAT(lines_at(wasm, {10, 19, 20, 24, 30, 99}),
              ElementsAre(Optional(SourceLine{"main.c", 3}), Optional(SourceLine{"main.c", 3}), Optional(SourceLine{"parts/list.c", 700}),
                          Optional(SourceLine{"parts/list.c", 700}), Optional(SourceLine{"main.c", 1}), Optional(SourceLine{"main.c", 1})));
}

TEST(LineTable, AnswersInTheOrderOfTheQuestions) {
  const Bytes wasm = module_with(encode(kTable));
  EXPECT_THAT(lines_at(wasm, {24, 10}), ElementsAre(Optional(SourceLine{"parts/list.c", 700}), Optional(SourceLine{"main.c", 3})));
}

TEST(LineTable, KnowsNothingBeforeTheFirstRowAndInRowsWithoutLine) {
  const Bytes wasm = module_with(encode(kTable));
  EXPECT_THAT(lines_at(wasm, {9, 25, 29}), ElementsAre(Eq(std::nullopt), Eq(std::nullopt), Eq(std::nullopt)));
  EXPECT_THAT(find_lines(wasm, std::vector<std::uint32_t>{0}).value(), ElementsAre(Eq(std::nullopt))) << "not in the code";
}

TEST(LineTable, AModuleWithoutOneSaysSo) {
  ByteWriter out;
  for (const std::uint8_t byte : {0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00}) out.u8(byte);
  EXPECT_EQ(find_lines(out.view(), {}).error().kind, Kind::not_found);
}

TEST(LineTable, EveryCutIsFoundOrHarmless) {
  const Bytes whole = encode(kTable);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes wasm = module_with(ByteView(whole).first(size));
    const auto found = find_lines(wasm, std::vector<std::uint32_t>{kCodePayloadAt + 99});
    EXPECT_FALSE(found) << size;
  }
}

TEST(LineTable, RefusesRowsThatNameNoFile) {
  LineTable table{.files = {"a.c"}, .rows = {{1, 0, 1}}};
  Bytes section = encode(table);
  section[section.size() - 2] = 1;  // the file of the only row
  EXPECT_EQ(find_lines(module_with(section), std::vector<std::uint32_t>{kCodePayloadAt + 1}).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::wire
