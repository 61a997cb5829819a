#include "toolchain/launcher.h"

#include <gtest/gtest.h>

namespace gw::toolchain {
namespace {

TEST(Launcher, TheModuleBehindItCanBeExtracted) {
  const Bytes wasm = {0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0};
  const Bytes program = with_launcher(wasm);
  EXPECT_TRUE(as_text(program).starts_with("#!/bin/sh\n"));
  const ByteView module = without_launcher(program);
  EXPECT_EQ(Bytes(module.begin(), module.end()), wasm);
}

TEST(Launcher, AnythingElseStaysAsItIs) {
  for (std::string_view text : {std::string_view("#!/bin/sh\necho hello\n"), std::string_view(""), std::string_view("\0asm", 4)})
    EXPECT_EQ(as_text(without_launcher(as_bytes(text))), text);
}

}  // namespace
}  // namespace gw::toolchain
