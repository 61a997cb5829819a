#include "cli/jobs/task_list.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/console/console.h"
#include "job/authority/placeholders.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"
#include "wire/messages/worker_frames.h"

namespace gw::cli {
namespace {

constexpr std::size_t kMaxSourceBytes = 256u << 20;

// The number at the start of a text, which is taken off.
template <class Number>
std::optional<Number> take_integer(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(1);
  return true;
}

Status check_count(std::uint64_t count, std::string_view source) {
  if (count == 0) return fail(Kind::invalid, "{} gives no tasks", source);
  if (count > wire::kMaxTasks) return fail(Kind::invalid, "{} gives {} tasks: the limit is {}", source, count, wire::kMaxTasks);
  return ok();
}

Status check_value(std::string_view value, std::string_view source) {
  if (value.size() > kMaxValueBytes)
    return fail(Kind::invalid, "{} has a value of {} bytes: the limit is {}; give it to the tasks as a file", source, value.size(),
                kMaxValueBytes);
  if (value.find('\0') != std::string_view::npos) return fail(Kind::invalid, "{} has a value with a zero byte in it", source);
  return ok();
}

Result<TaskList> finished(TaskList list, std::string_view source) {
  GW_TRY_VOID(check_count(list.rows.size(), source));
  for (const std::vector<std::string>& row : list.rows)
    for (const std::string& value : row) GW_TRY_VOID(check_value(value, source));
  list.count = static_cast<std::uint32_t>(list.rows.size());
  return list;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_file(const std::string& path) {
  std::error_code failure;
  return !path.empty() && std::filesystem::is_regular_file(path, failure);
}

}  // namespace

std::vector<std::string> TaskList::values_of(std::uint32_t task) const {
  return has_rows() ? rows[task] : std::vector<std::string>{std::to_string(first + std::int64_t{task} * step)};
}

Result<TaskList> numbered_tasks(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const auto wrong = [&] {
    return fail(Kind::invalid, "--tasks {}: write M, A-B or A-B:STEP, and %N behind it for at most N at once", text);
  };
  TaskList list;
  std::string_view rest = text;
  const auto first = take_integer<std::int64_t>(rest);
  if (!first || *first < 0 || *first > kMost) return wrong();
  std::uint64_t count = static_cast<std::uint64_t>(*first);
  if (take(rest, '-')) {
    const auto last = take_integer<std::int64_t>(rest);
    const auto step = take(rest, ':') ? take_integer<std::int64_t>(rest) : std::optional<std::int64_t>(1);
    if (!last || !step || *last < *first || *last > kMost || *step < 1) return wrong();
    list.first = *first;
    list.step = *step;
    count = static_cast<std::uint64_t>((*last - *first) / *step) + 1;
  }
  if (take(rest, '%')) {
    list.at_once = take_integer<std::uint32_t>(rest);
    if (!list.at_once || *list.at_once == 0) return wrong();
  }
  if (!rest.empty()) return wrong();
  GW_TRY_VOID(check_count(count, fmt::format("--tasks {}", text)));
  list.count = static_cast<std::uint32_t>(count);
  return list;
}

Result<TaskList> tasks_of_lines(std::string_view text, std::string_view source) {
  TaskList list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    list.rows.push_back({std::string(line)});
    text.remove_prefix(std::min(text.size(), end + 1));
    GW_TRY_VOID(check_count(list.rows.size(), source));
  }
  return finished(std::move(list), source);
}

Result<TaskList> tasks_of_files(const std::vector<std::string>& patterns) {
  TaskList list;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    const int result = ::glob(pattern.c_str(), GLOB_ERR | GLOB_BRACE, nullptr, &found);
    for (std::size_t i = 0; result == 0 && i < found.gl_pathc; ++i) {
      list.rows.push_back({found.gl_pathv[i]});
      list.files.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
    if (result == GLOB_NOMATCH) return fail(Kind::not_found, "--each-file {}: no file matches", pattern);
    if (result != 0) return fail(Kind::invalid, "--each-file {}: a folder cannot be read", pattern);
  }
  return finished(std::move(list), "--each-file");
}

Result<TaskList> tasks_of_json(std::string_view text, std::string_view source) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return fail(Kind::invalid, "{} is no JSON array: write [...] of values or of objects", source);
  TaskList list;
  GW_TRY_VOID(check_count(json.size(), source));
  if (json.front().is_object())
    for (const auto& [key, value] : json.front().items())
      if (job::is_column_name(key)) list.columns.push_back(key);
  for (const Json& item : json) {
    std::vector<std::string> row = {value_text(item)};
    for (std::size_t i = 1; i < list.columns.size(); ++i) {
      const auto value = item.is_object() ? item.find(list.columns[i]) : item.end();
      if (!item.is_object() || value == item.end())
        return fail(Kind::invalid, "{}: item {} has no '{}', which the first item has", source, list.rows.size(), list.columns[i]);
      row.push_back(value_text(*value));
    }
    list.rows.push_back(std::move(row));
  }
  return finished(std::move(list), source);
}

Result<TaskList> tasks_of_lists(const std::vector<std::vector<std::string>>& lists) {
  TaskList list;
  std::uint64_t count = 1;
  for (const std::vector<std::string>& values : lists) {
    count *= values.size();
    GW_TRY_VOID(check_count(count, "the list after :::"));
    list.columns.push_back(std::to_string(list.columns.size()));
  }
  for (std::uint64_t task = 0; task < count; ++task) {
    std::vector<std::string> row(lists.size() + 1);
    std::uint64_t rest = task;
    for (std::size_t i = lists.size(); i > 0; --i) {
      row[i] = lists[i - 1][rest % lists[i - 1].size()];
      rest /= lists[i - 1].size();
    }
    for (std::size_t i = 1; i < row.size(); ++i) row[0] += (i > 1 ? " " : "") + row[i];
    list.rows.push_back(std::move(row));
  }
  // With one list each value may be a file; with several, the files of a task are named with --input.
  if (lists.size() == 1)
    for (const std::string& value : lists.front()) list.files.push_back(is_file(value) ? value : "");
  return finished(std::move(list), "the list after :::");
}

Result<std::string> read_source(const std::string& file) {
  const os::UniqueFd opened(file == "-" ? ::dup(0) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return fail(errno == ENOENT ? Kind::not_found : Kind::invalid, "cannot read {}: {}", file, os::reason(errno));
  std::string text;
  for (;;) {
    char buffer[64u << 10];
    const ssize_t count = ::read(opened.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Kind::invalid, "cannot read {}: {}", file, os::reason(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMaxSourceBytes) return fail(Kind::invalid, "{} has more than {} MiB", file, kMaxSourceBytes >> 20);
  }
}

}  // namespace gw::cli
