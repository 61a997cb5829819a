#include "prep/lines/line_markers.h"

#include <gmock/gmock.h>

#include "prep/analysis/code_scanner.h"
#include "prep/prep.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

constexpr std::uint8_t kDivision = 0x6d, kGlobalSet = 0x24;

struct LinePlace {
  std::uint32_t offset;  // in the content of the code section
  std::uint32_t line;
};

// .debug_line of DWARF 4 with one source, calc.c, and one sequence per call of `add_sequence`.
class DebugLine {
 public:
  void add_sequence(const std::vector<LinePlace>& rows, std::uint32_t end) {
    std::uint32_t line = 1;
    bool first = true;
    std::uint32_t address = 0;
    for (const LinePlace& row : rows) {
      if (first) {
        set_address(row.offset);
      } else {
        advance(row.offset - address);
      }
      first = false;
      address = row.offset;
      program_.u8(3);  // advance_line
      signed_leb(static_cast<std::int32_t>(row.line - line));
      line = row.line;
      program_.u8(1);  // copy
    }
    advance(end - address);
    for (const std::uint8_t byte : {0, 1, 1}) program_.u8(byte);  // end_sequence
  }

  Bytes section() const {
    ByteWriter header;
    for (const std::uint8_t byte : {1, 1, 1, 0xfb, 14, 13}) header.u8(byte);
    for (const std::uint8_t operands : {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) header.u8(operands);
    header.u8(0);  // no folders
    header.bytes(as_bytes(std::string_view("calc.c\0\0\0\0", 10)));
    header.u8(0);
    ByteWriter unit;
    unit.u16(4);
    unit.u32(static_cast<std::uint32_t>(header.size()));
    unit.bytes(header.view());
    unit.bytes(program_.view());
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(unit.size()));
    out.bytes(unit.view());
    return wire::make_custom_section(".debug_line", out.view());
  }

 private:
  void set_address(std::uint32_t address) {
    for (const std::uint8_t byte : {0, 5, 2}) program_.u8(byte);
    program_.u32(address);
  }
  void advance(std::uint32_t by) {
    program_.u8(2);
    program_.leb_u32(by);
  }
  void signed_leb(std::int32_t value) {
    for (; value < -64 || value > 63; value >>= 7) program_.u8(static_cast<std::uint8_t>((value & 0x7f) | 0x80));
    program_.u8(static_cast<std::uint8_t>(value & 0x7f));
  }

  ByteWriter program_;
};

struct CodeBody {
  std::uint32_t offset;  // of its first byte in the content of the code section
  ByteView bytes;
};

std::vector<CodeBody> code_bodies(ByteView wasm) {
  std::vector<CodeBody> list;
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections) {
    if (section.id != wire::SectionId::code) continue;
    ByteReader in(section.payload);
    for (std::uint32_t left = in.leb_u32().value(); left > 0; --left) {
      const std::uint32_t size = in.leb_u32().value();
      const auto offset = static_cast<std::uint32_t>(in.position());
      list.push_back({offset, in.bytes(size).value()});
    }
  }
  return list;
}

std::uint32_t code_start(ByteView wasm) {
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections)
    if (section.id == wire::SectionId::code) return static_cast<std::uint32_t>(section.payload.data() - wasm.data());
  return 0;
}

// The offsets of an instruction, from the start of the code section's content.
std::vector<std::uint32_t> places_of(ByteView wasm, std::uint8_t opcode) {
  std::vector<std::uint32_t> places;
  for (const CodeBody& body : code_bodies(wasm)) {
    auto scanner = CodeScanner::open(body.bytes).value();
    while (const auto one = scanner.next().value())
      if (one->opcode == opcode) places.push_back(body.offset + static_cast<std::uint32_t>(one->offset));
  }
  return places;
}

// Two divisions on lines 12 and 14 around a loop that calls an import, and a function without lines.
constexpr const char* kCalc = R"((module
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory 200)
  (func $other (result i32) (i32.div_s (i32.const 7) (call $yield)))
  (func $work (param $n i32) (result i32) (local $sum i32)
    (local.set $sum (i32.div_s (i32.const 100) (local.get $n)))
    (loop $l
      (drop (call $yield))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.div_s (local.get $sum) (local.get $n)))
  (func $main (drop (call $work (i32.const 3))) (drop (call $other)))
  (export "memory" (memory 0)) (export "_start" (func $main))))";

struct Sample {
  Bytes wasm;
  std::vector<std::uint32_t> divisions;
};

Sample calc_sample() {
  Bytes wasm = test::assemble(kCalc);
  const auto divisions = places_of(wasm, kDivision);
  const CodeBody work = code_bodies(wasm)[1];
  DebugLine lines;
  lines.add_sequence({{work.offset, 12}, {divisions[1] + 1, 13}, {divisions[2] - 4, 14}},
                     work.offset + static_cast<std::uint32_t>(work.bytes.size()));
  lines.add_sequence({{0, 99}, {2, 98}}, 4);  // of a function that the linker has dropped
  const Bytes section = lines.section();
  wasm.insert(wasm.end(), section.begin(), section.end());
  return {std::move(wasm), divisions};
}

// The lines of all divisions of a finished module.
std::vector<std::uint32_t> lines_of_divisions(ByteView wasm) {
  std::vector<std::uint32_t> offsets = places_of(wasm, kDivision);
  for (std::uint32_t& offset : offsets) offset += code_start(wasm);
  std::vector<std::uint32_t> lines;
  for (const auto found = wire::find_lines(wasm, offsets).value(); const auto& line : found) {
    if (line) EXPECT_EQ(line->file, "calc.c");
    lines.push_back(line ? line->line : 0);
  }
  return lines;
}

TEST(LineMarkers, AreTakenOutAgain) {
  const Sample in = calc_sample();
  const auto marked = mark_lines(in.wasm).value();
  ASSERT_TRUE(marked);
  EXPECT_GE(places_of(marked->wasm, kGlobalSet).size(), 3u);
  const auto unmarked = take_markers(marked->wasm, marked->global, *marked).value();
  EXPECT_EQ(code_bodies(unmarked.wasm)[1].bytes.size(), code_bodies(in.wasm)[1].bytes.size());
  EXPECT_TRUE(places_of(unmarked.wasm, kGlobalSet).empty());
  EXPECT_THAT(unmarked.lines.files, ::testing::Contains("calc.c"));
  std::vector<std::uint32_t> lines;
  for (const auto& row : unmarked.lines.rows) lines.push_back(row.line);
  EXPECT_THAT(lines, ::testing::IsSupersetOf({12u, 13u, 14u}));
}

class LinesAtLevel : public ::testing::TestWithParam<wire::Level> {};

TEST_P(LinesAtLevel, SurviveThePreProcessor) {
  const Sample in = calc_sample();
  const Bytes out = process(in.wasm, {.level = GetParam()}).value().wasm;
  const auto lines = lines_of_divisions(out);
  EXPECT_THAT(lines, ::testing::IsSupersetOf({0u, 12u, 14u}));
  EXPECT_THAT(lines, ::testing::Each(::testing::AnyOf(0u, 12u, 14u)));
  EXPECT_THAT(wire::read_sections(out).value(), ::testing::Each(::testing::Field(&wire::Section::name, ::testing::Not(".debug_line"))));
}

INSTANTIATE_TEST_SUITE_P(Levels, LinesAtLevel, ::testing::Values(wire::Level::off, wire::Level::coarse, wire::Level::fine),
                         [](const auto& info) { return std::string(wire::name(info.param)); });

TEST(LineMarkers, BothBodiesHaveTheLines) {
  const auto lines = lines_of_divisions(process(calc_sample().wasm, {}).value().wasm);
  EXPECT_GE(std::ranges::count(lines, 14u), 2) << "the division behind the loop is in the fast body and in the rewind body";
}

TEST(LineMarkers, AreNoStateOfTheProgram) {
  const Bytes plain = process(test::assemble(kCalc), {}).value().wasm;
  const Bytes debug = process(calc_sample().wasm, {}).value().wasm;
  EXPECT_EQ(wire::read_module_info(debug).value().globals, wire::read_module_info(plain).value().globals);
  EXPECT_EQ(test::export_names(debug), test::export_names(plain));
}

TEST(LineMarkers, AModuleWithoutLinesStaysAsItWas) {
  const Bytes wasm = test::assemble(kCalc);
  EXPECT_FALSE(mark_lines(wasm).value());
  EXPECT_EQ(wire::find_lines(process(wasm, {}).value().wasm, {}).error().kind, Kind::not_found);
}

TEST(DwarfLines, DamageIsRefusedWithAWayOut) {
  const Sample in = calc_sample();
  std::size_t refused = 0;
  const std::size_t start = test::assemble(kCalc).size();
  for (std::size_t i = start + 16; i < in.wasm.size(); ++i) {
    Bytes damaged = in.wasm;
    damaged[i] ^= 0xff;
    const auto marked = mark_lines(damaged);
    if (marked) continue;
    ++refused;
    EXPECT_THAT(marked.error().detail, ::testing::HasSubstr("strip-debug"));
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace gw::prep
