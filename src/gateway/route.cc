#include "gateway/route.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <vector>

#include "gateway/view_json.h"
#include "job/tasks/task_ranges.h"

namespace gw::gateway {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

// The segment that stands where the pattern has braces (empty if it has none), or nothing if the path does not fit.
std::optional<std::string_view> fit(std::string_view path, std::string_view pattern) {
  const auto found = split(path, '/');
  const auto wanted = split(pattern, '/');
  if (found.size() != wanted.size()) return std::nullopt;
  std::string_view name;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (is_name(wanted[i])) {
      name = found[i];
    } else if (found[i] != wanted[i]) {
      return std::nullopt;
    }
  }
  return name;
}

bool takes(const Route& route, std::string_view name) {
  for (const std::string_view known : split(route.query, ' '))
    if (!known.empty() && known == name) return true;
  return false;
}

Status read_query(std::string_view text, Match& match) {
  if (text.empty()) return ok();
  const Route& route = *match.route;
  for (const std::string_view part : split(text, '&')) {
    const std::size_t sign = part.find('=');
    const std::string_view name = part.substr(0, sign);
    if (sign == std::string_view::npos || !takes(route, name))
      return fail(Kind::invalid, "{} {} has no parameter '{}': it takes {}", route.method, route.path, part,
                  route.query.empty() ? "no query" : route.query);
    if (!match.query.emplace(name, part.substr(sign + 1)).second) return fail(Kind::invalid, "the parameter {} is given twice", name);
  }
  return ok();
}

struct Target {
  std::string_view path, query;
};
Target split_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, ""};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

Result<Match> read_values(const Route& route, std::string_view name, std::string_view query) {
  Match match{.route = &route};
  if (route.path.find('{') != std::string_view::npos) {
    const auto hash = parse_hash(name);
    if (!hash) return fail(Kind::invalid, "'{}' is not an id: an id has 64 hexadecimal digits", name);
    match.name = *hash;
  }
  GW_TRY_VOID(read_query(query, match));
  return match;
}

}  // namespace

Result<Match> match(std::span<const Route> routes, std::string_view method, std::string_view target) {
  const auto [path, query] = split_target(target);
  bool known_path = false;
  for (const Route& route : routes) {
    const auto name = fit(path, route.path);
    if (!name) continue;
    if (route.method == method) return read_values(route, *name, query);
    known_path = true;
  }
  if (known_path) return fail(Kind::unsupported, "{} does not support {}: use {}", path, method, methods_of(routes, target));
  return fail(Kind::not_found, "there is nothing at {}: the paths are in docs/api/openapi.yaml", path);
}

std::string methods_of(std::span<const Route> routes, std::string_view target) {
  std::string methods;
  for (const Route& route : routes) {
    if (!fit(split_target(target).path, route.path)) continue;
    if (!methods.empty()) methods += ", ";
    methods += route.method;
  }
  return methods;
}

Result<std::uint64_t> number(const Match& match, std::string_view parameter) {
  const auto found = match.query.find(parameter);
  if (found == match.query.end()) return std::uint64_t{0};
  std::uint64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, failure] = std::from_chars(found->second.data(), end, value);
  if (failure != std::errc() || stop != end || found->second.empty())
    return fail(Kind::invalid, "{}={} is not a whole number", parameter, found->second);
  return value;
}

Result<bool> flag(const Match& match, std::string_view parameter) {
  const auto found = match.query.find(parameter);
  if (found == match.query.end() || found->second == "0") return false;
  if (found->second == "1") return true;
  return fail(Kind::invalid, "{}={} is neither 0 nor 1", parameter, found->second);
}

Result<node::Stream> stream(const Match& match) {
  const auto found = match.query.find("stream");
  if (found == match.query.end()) return node::Stream::output;
  for (const node::Stream stream : {node::Stream::output, node::Stream::errors, node::Stream::files})
    if (found->second == name(stream)) return stream;
  return fail(Kind::invalid, "stream={} is neither stdout nor stderr nor files", found->second);
}

Result<node::FrameQuery> frame_query(const Match& match) {
  node::FrameQuery query;
  GW_TRY(query.from, number(match, "from"));
  if (match.query.contains("stream")) {
    GW_TRY(query.stream, stream(match));
  }
  if (query.stream == node::Stream::files) return fail(Kind::invalid, "stream=files has no frames: read it from /v1/jobs/{{id}}/output");
  if (const auto found = match.query.find("order"); found != match.query.end()) {
    if (found->second != "arrival" && found->second != "task")
      return fail(Kind::invalid, "order={} is neither arrival nor task", found->second);
    query.order = found->second == "task" ? node::FrameQuery::Order::task : node::FrameQuery::Order::arrival;
  }
  if (const auto found = match.query.find("tasks"); found != match.query.end()) {
    GW_TRY(query.tasks, job::parse_tasks(found->second));
  }
  return query;
}

Result<job::TaskQuery> task_query(const Match& match) {
  constexpr std::uint64_t kUsual = 100;
  job::TaskQuery query;
  GW_TRY(const std::uint64_t from, number(match, "from"));
  GW_TRY(const std::uint64_t limit, number(match, "limit"));
  query.from = static_cast<std::uint32_t>(std::min<std::uint64_t>(from, UINT32_MAX));
  query.limit = limit == 0 ? kUsual : limit;
  const auto found = match.query.find("filter");
  if (found == match.query.end()) return query;
  const auto filter = task_filter(found->second);
  if (!filter) return fail(Kind::invalid, "filter={} is none of all, waiting, running, done, failed and skipped", found->second);
  query.filter = *filter;
  return query;
}

}  // namespace gw::gateway
