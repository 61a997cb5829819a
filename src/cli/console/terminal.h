#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gw::cli {

// How text looks on one of our output streams.
struct Terminal {
  bool is_terminal = false;
  std::size_t width = 0;  // columns; 0: no limit
  bool colored = false;

  // The terminal at an open descriptor. `choice` is the setting "color"; with "auto", NO_COLOR and TERM=dumb turn colours off.
  static Terminal of(int fd, std::string_view choice);
};

enum class Style { plain, bold, dim, red, yellow, green };

// `text` with the escape codes of the style, if the terminal is coloured.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

// `text` with '?' in place of every control character (C0, DEL, C1), so that a sentence or name from another machine can neither move the
// cursor nor change the terminal. A compiler's diagnostics need their newlines and tabs. The lines of a backtrace are indented, so that
// none can be taken for a line of ours.
enum class Newlines : std::uint8_t { kept, indented, replaced };
std::string printable(std::string_view text, Newlines newlines);

// Cuts a printable line to `width` characters and ends it with "…" if something is missing. A width of 0 cuts nothing.
std::string fitted(std::string_view line, std::size_t width);

}  // namespace gw::cli
