#include "cli/help_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/text_layout.h"
#include "cli/exit_codes.h"

namespace gw::cli {
namespace {

constexpr std::size_t kWidth = 100;  // longer lines are hard to read

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries entries_of(const std::vector<OptionModel>& options) {
  Entries entries;
  for (const OptionModel& option : options) entries.emplace_back(signature(option), option.description);
  return entries;
}

Entries children_of(const CommandModel& command) {
  Entries entries;
  for (const CommandModel& child : command.children)
    if (!child.hidden) entries.emplace_back(child.words.back(), child.summary);
  return entries;
}

Entries exit_codes() {
  Entries entries = {{"N", "exit code of the program, if it ended by itself"}};
  for (const ExitCodeEntry& entry : kExitCodes)
    if (entry.code != ExitCode::ok) entries.emplace_back(std::to_string(static_cast<int>(entry.code)), entry.meaning);
  return entries;
}

class Page {
 public:
  explicit Page(const Terminal& terminal) : terminal_(terminal), width_(terminal.width == 0 ? kWidth : std::min(terminal.width, kWidth)) {}

  void paragraph(const std::string& text) {
    for (const std::string& line : wrap(text, width_)) text_ += line + "\n";
  }
  void section(std::string_view heading, const Entries& entries) {
    if (entries.empty()) return;
    this->heading(heading);
    text_ += definition_list(entries, width_);
  }
  void section(std::string_view heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    this->heading(heading);
    for (const std::string& line : lines) text_ += fmt::format("  {}\n", line);
  }
  void blank() { text_ += "\n"; }
  std::string take() { return std::move(text_); }

 private:
  void heading(std::string_view heading) { text_ += fmt::format("\n{}\n", styled(terminal_, Style::bold, heading)); }

  const Terminal& terminal_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

std::string help_page(const CommandModel& command, const std::vector<OptionModel>& common, const Terminal& terminal) {
  Page page(terminal);
  page.paragraph(command.summary + ".");
  page.blank();
  page.paragraph("Usage: " + usage_line(command));
  if (!command.details.empty()) {
    page.blank();
    page.paragraph(command.details);
  }
  page.section("Commands", children_of(command));
  page.section("Arguments", entries_of(command.arguments));
  page.section("Options", entries_of(command.options));
  page.section("Global options", entries_of(common));
  page.section("Examples", command.examples);
  if (command.takes_program_args) page.section("Exit code", exit_codes());
  return page.take();
}

}  // namespace gw::cli
