#include "cli/console/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace gw::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;  // of a terminal that does not say

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool wants_color(std::string_view choice, bool is_terminal) {
  if (choice == "always") return true;
  if (choice == "never" || !is_terminal || is_set("NO_COLOR")) return false;
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::size_t width_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\033[1m";
    case Style::dim:
      return "\033[2m";
    case Style::red:
      return "\033[1;31m";
    case Style::yellow:
      return "\033[33m";
    case Style::green:
      return "\033[32m";
  }
  return "";
}

}  // namespace

Terminal Terminal::of(int fd, std::string_view choice) {
  const bool is_terminal = ::isatty(fd) == 1;
  return {.is_terminal = is_terminal, .width = is_terminal ? width_of(fd) : 0, .colored = wants_color(choice, is_terminal)};
}

std::string styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.colored || style == Style::plain) return std::string(text);
  return fmt::format("{}{}\033[0m", code_of(style), text);
}

std::string printable(std::string_view text, Newlines newlines) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    const bool kept = (newlines == Newlines::kept && (byte == '\n' || byte == '\t')) || (newlines == Newlines::indented && byte == '\n');
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F in UTF-8
      out.push_back('?');
      ++i;
    } else {
      out.push_back((byte < 0x20 && !kept) || byte == 0x7f ? '?' : text[i]);
      if (byte == '\n' && newlines == Newlines::indented && !text.substr(i + 1).starts_with("  ")) out += "  ";
    }
  }
  return out;
}

std::string fitted(std::string_view text, std::size_t width) {
  const std::string line = printable(text, Newlines::replaced);
  std::string out;
  std::size_t characters = 0;
  std::size_t last = 0;  // where the last character that was kept begins
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = (byte & 0xc0) != 0x80;
    if (begins && characters == width && width > 0) return out.replace(last, std::string::npos, "…");
    if (begins) {
      last = out.size();
      ++characters;
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace gw::cli
