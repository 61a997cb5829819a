#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gw::cli {

// One of our output streams, as far as its looks are concerned.
struct Terminal {
  bool is_terminal = false;
  std::size_t width = 0;  // columns; 0: no limit
  bool colored = false;

  // Of an open descriptor. `choice` is the setting "color"; NO_COLOR and TERM=dumb count where it is "auto".
  static Terminal of(int fd, std::string_view choice);
};

enum class Style { plain, bold, dim, red, yellow, green };

// `text` with the codes that make it look so, if the terminal is coloured.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

// Cuts a line to the width, counting characters, and ends it with "…" if something is missing. Control characters become '?': they are part
// of names that others chose.
std::string fitted(std::string_view line, std::size_t width);

}  // namespace gw::cli
