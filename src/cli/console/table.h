#pragma once

#include <string>
#include <vector>

#include "cli/console/terminal.h"

namespace gw::cli {

// Rows with aligned columns, laid out by libsmartcols. On a terminal, columns that may be cut are cut to fit; in a pipe nothing is cut.
// Control characters in cells are replaced.
class Table {
 public:
  enum class Align { left, right };
  enum class Fit { whole, cut };
  struct Column {
    std::string heading;
    Align align = Align::left;
    Fit fit = Fit::whole;
    Style style = Style::plain;
  };

  // Without headings if all of them are empty.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void add_row(std::vector<std::string> cells);

  // Lines, each with its end.
  std::string render(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gw::cli
