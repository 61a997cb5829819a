#include "cli/settings/input_patterns.h"

#include <glob.h>

#include <filesystem>
#include <set>

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMatches = 1024;

bool is_pattern(const std::string& host) {
  std::error_code failure;
  return host.find_first_of("*?[") != std::string::npos && !fs::exists(fs::symlink_status(host, failure));
}

Result<std::vector<std::string>> files_that_match(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_ERR | GLOB_BRACE, nullptr, &found);
  std::vector<std::string> files;
  if (result == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == GLOB_NOMATCH) return fail(Kind::not_found, "--input {}: no file matches", pattern);
  if (result != 0) return fail(Kind::invalid, "--input {}: a folder cannot be read", pattern);
  if (files.size() > kMaxMatches)
    return fail(Kind::invalid, "--input {}: {} files match, more than {}: name their folder instead", pattern, files.size(), kMaxMatches);
  return files;
}

}  // namespace

InputPath split_paths(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<std::vector<InputPath>> match_input(const std::string& host, const std::string& guest) {
  if (!is_pattern(host)) return std::vector<InputPath>{{host, guest}};
  GW_TRY(const std::vector<std::string> files, files_that_match(host));
  std::vector<InputPath> matches;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    const std::string path = guest == host ? file : (fs::path(guest) / fs::path(file).filename()).string();
    if (!seen.insert(path).second)
      return fail(Kind::invalid, "--input {}: two files would be {} for the program: name their folder instead", host, path);
    matches.push_back({file, path});
  }
  return matches;
}

Result<std::vector<std::string>> expand_input_patterns(const std::vector<std::string>& inputs) {
  std::vector<std::string> expanded;
  for (const std::string& text : inputs) {
    const auto [host, guest] = split_paths(text);
    if (!is_pattern(host)) {
      expanded.push_back(text);
      continue;
    }
    GW_TRY(const std::vector<InputPath> matches, match_input(host, guest));
    for (const InputPath& match : matches) {
      if (match.guest.find(':') != std::string::npos)
        return fail(Kind::invalid, "--input {} matches {}, whose name has a colon: name its folder instead", text, match.host);
      expanded.push_back(match.host + ":" + match.guest);
    }
  }
  return expanded;
}

}  // namespace gw::cli
