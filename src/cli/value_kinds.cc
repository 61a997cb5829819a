#include "cli/value_kinds.h"

#include <array>

#include "cli/settings/setting_keys.h"

namespace gw::cli {
namespace {

struct Choice {
  std::string_view placeholder;
  std::vector<std::string> words;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> table = {
      {"FORMAT", {"table", "json", "quiet"}},
      {"WHEN", {"auto", "always", "never"}},
      {"LEVEL", {"off", "coarse", "fine"}},
      {"SWITCH", {"on", "off"}},
      {"POLL", {"auto", "counter"}},
      {"OPTIMIZATION", {"0", "1", "2", "3", "s", "z"}},
      {"SHELL", {"bash", "zsh", "fish"}},
      {"SCOPE", {"user", "project", "system"}},
      {"FILTER", {"all", "waiting", "running", "done", "failed", "skipped"}},
      {"KEY", setting_names()},
      {"LIVE", {"job", "peer", "grid"}},
      {"PLACE", {"near", "hash", "spread"}},
      {"LOSS", {"replace", "ignore", "cancel"}},
      {"RIGHTS", {"watch", "manage"}},
  };
  return table;
}

// A mount begins with a file of this machine.
constexpr std::array<std::string_view, 4> kFiles = {"FILE", "IMAGE", "HOST[:GUEST]", "OTHER"};

struct Live {
  std::string_view placeholder, word;
};
constexpr std::array<Live, 4> kLive = {{{"JOB", "job"}, {"PEER", "peer"}, {"GRID", "grid"}, {"grid", "grid"}}};

}  // namespace

ValueKind value_kind(std::string_view placeholder) {
  for (const std::string_view file : kFiles)
    if (placeholder == file) return ValueKind::file;
  if (placeholder == "FOLDER") return ValueKind::folder;
  if (!live_values_of(placeholder).empty()) return ValueKind::live;
  return choices_of(placeholder).empty() ? ValueKind::text : ValueKind::choice;
}

std::string_view live_values_of(std::string_view placeholder) {
  for (const Live& live : kLive)
    if (live.placeholder == placeholder) return live.word;
  return "";
}

std::vector<std::string> choices_of(std::string_view placeholder) {
  for (const Choice& choice : choices())
    if (choice.placeholder == placeholder) return choice.words;
  return {};
}

}  // namespace gw::cli
