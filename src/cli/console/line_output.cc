#include "cli/console/line_output.h"

#include <fmt/core.h>

#include <algorithm>

namespace gw::cli {

std::string LineOutput::labelled(const Source& source, std::string_view line, Labels labels) {
  if (labels == Labels::none) return std::string(line);
  const bool whole = line.ends_with('\n');
  const std::string label = source.task >= 0 ? std::to_string(source.task) : fmt::format("thread {:016x}", source.thread.value());
  return fmt::format("{}: {}{}", label, line, whole ? "" : "\n");
}

std::string LineOutput::take(const Source& source, std::string_view bytes, Labels labels) {
  std::string out;
  Open& open = open_[source];
  if (open.line.empty()) open.since = ++opened_;
  open.labels = labels;
  for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
    open.line += bytes.substr(0, end + 1);
    out += labelled(source, std::exchange(open.line, {}), labels);
  }
  open.line += bytes;
  if (open.line.size() >= kMaxLine) out += labelled(source, std::exchange(open.line, {}), labels);
  if (open.line.empty()) open_.erase(source);
  if (open_.size() > kMaxOpen) out += make_room();
  return out;
}

std::string LineOutput::make_room() {
  const auto oldest = std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.since; });
  std::string out = labelled(oldest->first, oldest->second.line, oldest->second.labels);
  open_.erase(oldest);
  return out;
}

std::vector<std::pair<node::Stream, std::string>> LineOutput::rest() {
  std::vector<std::pair<node::Stream, std::string>> rest;
  for (const auto& [source, open] : std::exchange(open_, {})) rest.emplace_back(source.stream, labelled(source, open.line, open.labels));
  return rest;
}

}  // namespace gw::cli
