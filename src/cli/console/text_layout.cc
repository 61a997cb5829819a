#include "cli/console/text_layout.h"

#include <fmt/core.h>

#include <algorithm>

namespace gw::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kMaxNameColumn = 30;
constexpr std::size_t kMinDescription = 36;

// Text of ours: ASCII, so bytes are characters.
std::string entry(const std::string& name, const std::string& description, std::size_t column, std::size_t width) {
  std::string out = std::string(kIndent, ' ') + name;
  bool on_name_line = out.size() + kGap <= column;
  for (const std::string& line : wrap(description, width > column ? width - column : 1)) {
    if (!on_name_line) out += '\n';
    out += fmt::format("{:<{}}{}", "", on_name_line ? column - out.size() : column, line);
    on_name_line = false;
  }
  return out + '\n';
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (line.size() + 1 + word.size() <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string definition_list(const std::vector<std::pair<std::string, std::string>>& entries, std::size_t width) {
  std::size_t longest = 0;
  for (const auto& [name, description] : entries)
    if (name.size() <= kMaxNameColumn) longest = std::max(longest, name.size());
  std::size_t column = kIndent + longest + kGap;
  if (column + kMinDescription > width) column = 3 * kIndent;
  std::string out;
  for (const auto& [name, description] : entries) out += entry(name, description, column, width);
  return out;
}

}  // namespace gw::cli
