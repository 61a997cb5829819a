#include "cli/console/output_text.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

TEST(OutputText, TextStaysText) {
  EXPECT_EQ(bytes_as_json(as_bytes("größe €😀\n")), (Json{{"text", "größe €😀\n"}}));
  EXPECT_EQ(bytes_as_json({}), (Json{{"text", ""}}));
}

TEST(OutputText, OtherBytesAreBase64) {
  const Bytes png = {0x89, 'P', 'N', 'G'};
  EXPECT_EQ(bytes_as_json(png), (Json{{"base64", "iVBORw=="}}));
}

TEST(OutputText, Base64OfEveryRemainder) {
  EXPECT_EQ(base64(as_bytes("")), "");
  EXPECT_EQ(base64(as_bytes("f")), "Zg==");
  EXPECT_EQ(base64(as_bytes("fo")), "Zm8=");
  EXPECT_EQ(base64(as_bytes("foo")), "Zm9v");
  EXPECT_EQ(base64(as_bytes("foob")), "Zm9vYg==");
}

TEST(OutputText, FindsWhereACharacterIsCutOff) {
  EXPECT_EQ(utf8_prefix(as_bytes("ab\xe2\x82")), 2u);
  EXPECT_EQ(utf8_prefix(as_bytes("ab€")), 5u);
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\x80"}) EXPECT_EQ(utf8_prefix(as_bytes(bad)), 0u) << bad;
}

}  // namespace
}  // namespace gw::cli
