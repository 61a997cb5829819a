#include "prep/analysis/code_scanner.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;

// The body of the only function of a module, as it stands in the code section.
Bytes body_of(const std::string& function) {
  const Bytes wasm = test::assemble("(module (memory 1) (table $t 1 funcref)" + function + ")");
  for (const auto sections = wire::read_sections(wasm).value(); const wire::Section& section : sections) {
    if (section.id != wire::SectionId::code) continue;
    ByteReader reader(section.payload);
    EXPECT_EQ(reader.leb_u32().value(), 1u);
    const ByteView body = reader.bytes(reader.leb_u32().value()).value();
    return Bytes(body.begin(), body.end());
  }
  return {};
}

Result<std::vector<Instruction>> scan(ByteView body) {
  std::vector<Instruction> all;
  GW_TRY(auto scanner, CodeScanner::open(body));
  for (;;) {
    GW_TRY(auto instruction, scanner.next());
    if (!instruction) return all;
    all.push_back(*instruction);
  }
}

std::vector<unsigned> opcodes(const std::string& function) {
  std::vector<unsigned> list;
  const Bytes body = body_of(function);
  for (const auto code = scan(body).value(); const Instruction& instruction : code) list.push_back(instruction.opcode);
  return list;
}

TEST(CodeScanner, StepsOverEveryKindOfImmediate) {
  EXPECT_THAT(opcodes("(func (drop (f32.const 1)) (drop (f64.const 1)) (drop (i64.const -12345678901)))"),
              ElementsAre(0x43, 0x1a, 0x44, 0x1a, 0x42, 0x1a, 0x0b));
  EXPECT_THAT(opcodes("(func (i64.store offset=70000 (i32.const 0) (i64.load32_u (i32.const 0))))"),
              ElementsAre(0x41, 0x41, 0x35, 0x37, 0x0b));
  EXPECT_THAT(opcodes("(func (block $a (block $b (br_table $a $b $a (memory.size)))))"),
              ElementsAre(0x02, 0x02, 0x3f, 0x0e, 0x0b, 0x0b, 0x0b));
  EXPECT_THAT(opcodes("(func (call_indirect (i32.const 0)) (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))"),
              ElementsAre(0x41, 0x11, 0x41, 0x41, 0x41, 0xfc, 0x0b));
  EXPECT_THAT(opcodes("(func (param v128) (drop (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (local.get 0) (local.get 0))))"),
              ElementsAre(0x20, 0x20, 0xfd, 0x1a, 0x0b));
  EXPECT_THAT(opcodes("(func (drop (i32x4.extract_lane 1 (v128.load offset=9 (i32.const 0)))))"),
              ElementsAre(0x41, 0xfd, 0xfd, 0x1a, 0x0b));
  EXPECT_THAT(opcodes("(func (drop (i32.trunc_sat_f64_s (f64.const 0))))"), ElementsAre(0x44, 0xfc, 0x1a, 0x0b));
}

TEST(CodeScanner, ReadsTheFirstImmediate) {
  const Bytes body = body_of("(func (local i32 i64 i64) (local.set 2 (i64.const 1)) (drop (i32.const -65)) (drop (i32.const 300)))");
  const auto code = scan(body).value();
  EXPECT_EQ(code[1].immediate, 2u);
  EXPECT_EQ(static_cast<std::int32_t>(code[2].immediate), -65);
  EXPECT_EQ(code[4].immediate, 300u);
}

TEST(CodeScanner, OffsetsPointAtTheInstructions) {
  const Bytes body = body_of("(func (param i32) (block $b (br_if $b (local.get 0))))");
  for (const auto code = scan(body).value(); const Instruction& instruction : code) EXPECT_EQ(body[instruction.offset], instruction.opcode);
}

TEST(CodeScanner, ABodyThatEndsTooSoonIsRefused) {
  const Bytes body = body_of("(func (local f64) (drop (f64.const 1)) (drop (i64.const 1234567890123)))");
  for (std::size_t size = 0; size + 1 < body.size(); ++size) {
    const auto code = scan(ByteView(body).first(size));
    if (!code) EXPECT_EQ(code.error().kind, Kind::corrupt);
  }
}

TEST(CodeScanner, AnUnknownInstructionIsRefused) {
  EXPECT_EQ(scan(Bytes{0x00, 0xff}).error().kind, Kind::unsupported);
  EXPECT_EQ(scan(Bytes{0x00, 0xfc, 0x7f}).error().kind, Kind::unsupported);
}

}  // namespace
}  // namespace gw::prep
