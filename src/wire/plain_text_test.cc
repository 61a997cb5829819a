#include "wire/plain_text.h"

#include <gtest/gtest.h>

namespace gw::wire {
namespace {

std::string plain(std::string text) {
  make_plain(text);
  return text;
}

TEST(PlainText, KeepsWhatPeopleWrite) { EXPECT_EQ(plain("Grüße, 東京 ~ 100 %"), "Grüße, 東京 ~ 100 %"); }

TEST(PlainText, HasNoEscapeSequences) {
  EXPECT_EQ(plain("\x1b]0;title\x07red\r\n"), " ]0;title red  ");
  EXPECT_EQ(plain("csi \xc2\x9b 31m"), "csi    31m") << "C1 as UTF-8 has it";
  EXPECT_EQ(plain(std::string("nul\0", 4)), "nul ");
}

}  // namespace
}  // namespace gw::wire
