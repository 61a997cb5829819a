#include "cli/console/table.h"

#include <libsmartcols.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace gw::cli {
namespace {

struct Release {
  void operator()(libscols_table* table) const { scols_unref_table(table); }
};
using TableHandle = std::unique_ptr<libscols_table, Release>;

constexpr std::size_t kNoLimit = 1u << 20;  // the library wants a width

const char* color_name(Style style) {
  switch (style) {
    case Style::plain:
      return nullptr;
    case Style::bold:
      return "bold";
    case Style::dim:
      return "halfbright";
    case Style::red:
      return "red";
    case Style::yellow:
      return "brown";
    case Style::green:
      return "green";
  }
  return nullptr;
}

TableHandle make_table(const std::vector<Table::Column>& columns, const Terminal& terminal) {
  TableHandle table(scols_new_table());
  GW_ASSERT(table != nullptr);  // out of memory
  const bool headings = std::ranges::any_of(columns, [](const Table::Column& column) { return !column.heading.empty(); });
  scols_table_enable_noheadings(table.get(), headings ? 0 : 1);
  scols_table_enable_colors(table.get(), terminal.colored ? 1 : 0);
  scols_table_enable_minout(table.get(), 1);  // no blanks at the end of lines
  scols_table_set_column_separator(table.get(), "  ");
  scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_ALWAYS);  // the width is ours to decide
  scols_table_set_termwidth(table.get(), terminal.width == 0 ? kNoLimit : terminal.width);
  for (const Table::Column& column : columns) {
    int flags = 0;
    if (column.align == Table::Align::right) flags |= SCOLS_FL_RIGHT;
    if (column.fit == Table::Fit::cut) flags |= SCOLS_FL_TRUNC;
    libscols_column* const added = scols_table_new_column(table.get(), column.heading.c_str(), 0, flags);
    GW_ASSERT(added != nullptr);
    scols_column_set_color(added, color_name(column.style));
  }
  return table;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  GW_ASSERT(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell, Newlines::replaced);
  rows_.push_back(std::move(cells));
}

std::string Table::render(const Terminal& terminal) const {
  const TableHandle table = make_table(columns_, terminal);
  for (const auto& cells : rows_) {
    libscols_line* const line = scols_table_new_line(table.get(), nullptr);
    GW_ASSERT(line != nullptr);
    for (std::size_t i = 0; i < cells.size(); ++i) GW_ASSERT(scols_line_set_data(line, i, fitted(cells[i], 0).c_str()) == 0);
  }
  char* text = nullptr;
  GW_ASSERT(scols_print_table_to_string(table.get(), &text) == 0);
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  std::string lines = text == nullptr ? "" : text;
  if (!lines.empty() && !lines.ends_with('\n')) lines += '\n';
  return lines;
}

}  // namespace gw::cli
