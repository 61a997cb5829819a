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

std::string plain_lines(std::string text) {
  make_plain_lines(text);
  return text;
}

TEST(PlainLines, IndentsEveryLineButTheFirst) {
  EXPECT_EQ(plain_lines("trapped\n  at f\n  at g"), "trapped\n  at f\n  at g");
  EXPECT_EQ(plain_lines("trapped\ngodwit: all is well\n"), "trapped\n  godwit: all is well\n  ");
}

TEST(PlainLines, HaveNoEscapeSequences) { EXPECT_EQ(plain_lines("a\x1b[2J\n\x1b[1mb\r"), "a [2J\n   [1mb "); }

TEST(PlainBytes, BecomeUtf8) {
  EXPECT_EQ(plain_text("größe(東京)", 100), "größe(東京)");
  EXPECT_EQ(plain_text("a\xff\xc3(\xed\xa0\x80\xc0\x80"
                       "b",
                       100),
            "a\?\?(\?\?\?\?\?b")
      << "no UTF-8, surrogates, overlong forms";
  EXPECT_EQ(plain_text("\x1b[31m\xc2\x9b\n", 100), "?[31m\?\?");
}

TEST(PlainBytes, AreCutBetweenCharacters) {
  EXPECT_EQ(plain_text("größe", 3), "gr");
  EXPECT_EQ(plain_text("größe", 4), "grö");
}

}  // namespace
}  // namespace gw::wire
