#include "toolchain/admission.h"

#include <gtest/gtest.h>

#include <functional>

#include "wire/wasm/module_info.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::toolchain {
namespace {

using wire::SectionId;

// The sections of a small command module, each of which a test may replace or leave out.
struct Parts {
  Bytes types{1, 0x60, 0, 0};
  Bytes imports{0};
  Bytes functions{1, 0};
  Bytes memory{1, 0, 1};
  Bytes exports{2, 6, '_', 's', 't', 'a', 'r', 't', 0, 0, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0};
  Bytes code{1, 2, 0, 0x0b};
  Bytes custom;
};

Bytes module_of(const Parts& parts) {
  ByteWriter out;
  out.u32(0x6d736100);
  out.u32(1);
  const auto section = [&](SectionId id, const Bytes& payload) {
    if (payload.empty()) return;
    out.u8(static_cast<std::uint8_t>(id));
    out.leb_u32(static_cast<std::uint32_t>(payload.size()));
    out.bytes(payload);
  };
  section(SectionId::type, parts.types);
  section(SectionId::import, parts.imports);
  section(SectionId::function, parts.functions);
  section(SectionId::memory, parts.memory);
  section(SectionId::export_, parts.exports);
  section(SectionId::code, parts.code);
  section(SectionId::custom, parts.custom);
  return out.take();
}

TEST(Admission, AcceptsAPlainCommandModule) {
  const Status status = check_admissible(module_of({}));
  EXPECT_TRUE(status) << status.error().detail;
}

TEST(Admission, RefusesWithOneSentence) {
  const struct {
    const char* expected;
    std::function<void(Parts&)> change;
  } cases[] = {
      {"memory64", [](Parts& p) { p.memory = {1, 4, 1}; }},
      {"shared memory (threads)", [](Parts& p) { p.memory = {1, 3, 1, 2}; }},
      {"2 memories", [](Parts& p) { p.memory = {2, 0, 1, 0, 1}; }},
      {"no memory", [](Parts& p) { p.memory = {}; }},
      {"GC types", [](Parts& p) { p.types = {1, 0x5f, 0}; }},
      {"GC types", [](Parts& p) { p.types = {1, 0x60, 1, 0x6e, 0}; }},
      {" env.f env.g;", [](Parts& p) { p.imports = {2, 3, 'e', 'n', 'v', 1, 'f', 0, 0, 3, 'e', 'n', 'v', 1, 'g', 0, 0}; }},
      {"imports a memory (env.m)", [](Parts& p) { p.imports = {1, 3, 'e', 'n', 'v', 1, 'm', 2, 0, 1}; }},
      {"imports a table (env.t)", [](Parts& p) { p.imports = {1, 3, 'e', 'n', 'v', 1, 't', 1, 0x70, 0, 1}; }},
      {"imports a global (env.g)", [](Parts& p) { p.imports = {1, 3, 'e', 'n', 'v', 1, 'g', 3, 0x7f, 0}; }},
      {"no function _start", [](Parts& p) { p.exports = {1, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0}; }},
      {"does not export its memory", [](Parts& p) { p.exports = {1, 6, '_', 's', 't', 'a', 'r', 't', 0, 0}; }},
      {"already", [](Parts& p) { p.custom = {6, 'g', 'o', 'd', 'w', 'i', 't'}; }},
      {"reserved",
       [](Parts& p) {
         p.exports[0] = 3;
         for (char c : std::string_view("\x09godwit.g0")) p.exports.push_back(static_cast<std::uint8_t>(c));
         p.exports.insert(p.exports.end(), {0, 0});
       }},
  };
  for (const auto& c : cases) {
    Parts parts;
    c.change(parts);
    const Status status = check_admissible(module_of(parts));
    ASSERT_FALSE(status) << c.expected;
    EXPECT_EQ(status.error().kind, Kind::invalid) << c.expected;
    EXPECT_NE(status.error().detail.find(c.expected), std::string::npos) << c.expected << ": " << status.error().detail;
  }
}

TEST(Admission, RefusesEveryTruncationOrAcceptsAWholeModule) {
  const Bytes wasm = module_of({});
  for (std::size_t size = 0; size < wasm.size(); ++size) {
    const Status status = check_admissible(ByteView(wasm).first(size));
    if (!status) EXPECT_EQ(status.error().kind, Kind::invalid);
  }
}

}  // namespace
}  // namespace gw::toolchain
