#include "wire/wasm/module_info.h"

#include <gtest/gtest.h>

#include <functional>

namespace gw::wire {
namespace {

ModuleInfo cell_module() {
  return {.level = Level::fine,
          .poll = Poll::cell,
          .canonical_nans = true,
          .features = 5,
          .poll_cell = 1024,
          .unwind_base = 2048,
          .unwind_bytes = 8 << 20,
          .source_hash = sha256(as_bytes("module")),
          .globals = {ValueType::i32, ValueType::v128}};
}

Bytes module_with(std::initializer_list<ByteView> payloads) {
  ByteWriter out;
  out.u32(0x6d736100);
  out.u32(1);
  for (ByteView payload : payloads) {
    out.u8(0);
    out.leb_u32(static_cast<std::uint32_t>(payload.size() + 7));
    out.leb_u32(6);
    out.bytes(as_bytes(kModuleInfoSection));
    out.bytes(payload);
  }
  return out.take();
}

TEST(ModuleInfo, RoundTrips) {
  const ModuleInfo growing{.level = Level::fine, .poll = Poll::counter, .unwind_bytes = 65536};
  const ModuleInfo reserved{.level = Level::fine, .poll = Poll::counter, .unwind_base = 65536, .unwind_bytes = 65536};
  const ModuleInfo coarse{.level = Level::coarse, .poll = Poll::none, .unwind_base = 65536, .unwind_bytes = 65536};
  for (const ModuleInfo& info : {ModuleInfo{}, cell_module(), growing, reserved, coarse}) {
    EXPECT_EQ(decode_module_info(encode(info)).value(), info);
    const Bytes section = encode(info);
    EXPECT_EQ(read_module_info(module_with({section})).value(), info);
  }
}

TEST(ModuleInfo, BytesNeverChange) {
  ModuleInfo info = cell_module();
  info.source_hash = {};
  EXPECT_EQ(hex(encode(info)), "0202010105000000000400000008000000008000" + std::string(64, '0') + "02007f7b");
}

TEST(ModuleInfo, IsFoundOnceOrRefused) {
  const Bytes section = encode(cell_module());
  EXPECT_EQ(read_module_info(module_with({})).error().kind, Kind::not_found);
  EXPECT_EQ(read_module_info(module_with({section, section})).error().kind, Kind::corrupt);
}

TEST(ModuleInfo, RefusesEveryTruncation) {
  const Bytes section = encode(cell_module());
  for (std::size_t size = 0; size < section.size(); ++size) EXPECT_FALSE(decode_module_info(ByteView(section).first(size))) << size;
  Bytes longer = section;
  longer.push_back(0);
  EXPECT_FALSE(decode_module_info(longer));
}

TEST(ModuleInfo, AnUnwindStackBehindTheMemoryIsApartFromAnyCell) {
  ModuleInfo info = cell_module();
  info.unwind_base = 0;
  EXPECT_TRUE(decode_module_info(encode(info)));
}

TEST(ModuleInfo, RefusesWhatIsInconsistent) {
  const struct {
    const char* why;
    std::function<void(ModuleInfo&)> damage;
  } cases[] = {
      {"level off with a cell", [](ModuleInfo& m) { m.level = Level::off; }},
      {"fine without polls", [](ModuleInfo& m) { m.poll = Poll::none; }},
      {"coarse with polls", [](ModuleInfo& m) { m.level = Level::coarse; }},
      {"cell at zero", [](ModuleInfo& m) { m.poll_cell = 0; }},
      {"cell not aligned", [](ModuleInfo& m) { m.poll_cell = 1026; }},
      {"cell inside the unwind stack", [](ModuleInfo& m) { m.poll_cell = 4096; }},
      {"unwind stack not aligned", [](ModuleInfo& m) { m.unwind_base = 2056; }},
      {"unwind stack past 4 GiB", [](ModuleInfo& m) { m.unwind_base = 0xfffffff0; }},
      {"empty unwind stack", [](ModuleInfo& m) { m.unwind_bytes = 0; }},
      {"counter with a cell", [](ModuleInfo& m) { m.poll = Poll::counter; }},
      {"reference in a global", [](ModuleInfo& m) { m.globals.push_back(ValueType::funcref); }},
  };
  for (const auto& c : cases) {
    ModuleInfo info = cell_module();
    c.damage(info);
    const auto decoded = decode_module_info(encode(info));
    ASSERT_FALSE(decoded) << c.why;
    EXPECT_EQ(decoded.error().kind, Kind::corrupt) << c.why;
  }
}

TEST(ModuleInfo, RefusesUnknownVersionLevelPollAndFlags) {
  for (std::size_t field : {0, 1, 2, 3}) {
    Bytes section = encode(cell_module());
    section[field] = 0x7f;
    EXPECT_FALSE(decode_module_info(section)) << field;
  }
}

}  // namespace
}  // namespace gw::wire
