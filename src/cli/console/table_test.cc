#include "cli/console/table.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

Table two_columns() {
  Table table({{"KEY", Table::Align::left}, {"VALUE", Table::Align::left, Table::Fit::cut}});
  table.add_row({"memory", "1GiB"});
  table.add_row({"checkpoint-every", "a value that is rather long for this"});
  return table;
}

TEST(Table, AlignsColumns) {
  EXPECT_EQ(two_columns().render({}),
            "KEY               VALUE\n"
            "memory            1GiB\n"
            "checkpoint-every  a value that is rather long for this\n");
}

TEST(Table, CutsWhatMayBeCutInANarrowTerminal) {
  const std::string narrow = two_columns().render({.is_terminal = true, .width = 30});
  EXPECT_NE(narrow.find("checkpoint-every  a value that"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("long"), std::string::npos) << narrow;
}

TEST(Table, AlignsNumbersRight) {
  Table table({{""}, {"", Table::Align::right}});
  table.add_row({"a", "1"});
  table.add_row({"b", "100"});
  EXPECT_EQ(table.render({}), "a    1\nb  100\n");
}

TEST(Table, WithoutRowsHasNothingToSay) { EXPECT_EQ(Table({{""}}).render({}), ""); }

TEST(Table, NamesOfOthersCannotWriteToTheTerminal) {
  Table table({{""}});
  table.add_row({"evil\033[2J"});
  EXPECT_EQ(table.render({}), "evil?[2J\n");
}

TEST(Fitted, CountsCharacters) {
  EXPECT_EQ(fitted("größe", 5), "größe");
  EXPECT_EQ(fitted("größer", 5), "größ…");
  EXPECT_EQ(fitted("abc", 1), "…");
  EXPECT_EQ(fitted("a\nb", 9), "a?b");
}

TEST(Styled, IsPlainWithoutColours) {
  EXPECT_EQ(styled({}, Style::red, "x"), "x");
  EXPECT_EQ(styled({.colored = true}, Style::red, "x"), "\033[1;31mx\033[0m");
}

TEST(Printable, ReplacesWhatWouldReachTheTerminalAsACommand) {
  EXPECT_EQ(printable("a\033[2Jb\rc\007d\x7f", Newlines::replaced), "a?[2Jb?c?d?");
  EXPECT_EQ(printable("one\n\ttwo\033", Newlines::kept), "one\n\ttwo?");
  EXPECT_EQ(printable("one\ntwo", Newlines::replaced), "one?two");
  EXPECT_EQ(printable("trapped\n  at f\ngodwit: \tx", Newlines::indented), "trapped\n  at f\n  godwit: ?x");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m",
                      Newlines::replaced),
            "?31m")
      << "the C1 control that means ESC [";
  EXPECT_EQ(printable("Zürich …", Newlines::replaced), "Zürich …");
}

TEST(Table, CellsFromOtherMachinesCannotControlTheTerminal) {
  Table table({{.heading = "WHY"}});
  table.add_row({"\033]0;title\007"});
  EXPECT_EQ(table.render({}).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace gw::cli
