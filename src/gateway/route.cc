#include "gateway/route.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "gateway/view_json.h"

namespace gw::gateway {
namespace {

constexpr std::size_t kMaxBlobBytes = 1u << 20;
constexpr std::size_t kMaxShareBytes = 4096;
constexpr std::size_t kMaxOrderBytes = 256u << 10;  // 4096 serials and as many peers
constexpr std::size_t kMaxSubmissionBytes = wire::kMaxManifestBytes + 1024;

using Query = std::map<std::string_view, std::string_view>;

// What was found in a request that fits a route.
struct Match {
  Hash256 name;  // the segment in braces, if there is one
  Query query;
};

Result<std::uint64_t> number(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  if (found == query.end()) return std::uint64_t{0};
  std::uint64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, failure] = std::from_chars(found->second.data(), end, value);
  if (failure != std::errc() || stop != end || found->second.empty())
    return fail(Kind::invalid, "{}={} is not a whole number from 0 on", name, found->second);
  return value;
}

// One of two words; the first if nothing was said.
Result<bool> is_second(const Query& query, std::string_view name, std::string_view first, std::string_view second) {
  const auto found = query.find(name);
  if (found == query.end() || found->second == first) return false;
  if (found->second == second) return true;
  return fail(Kind::invalid, "{}={} is neither {} nor {}", name, found->second, first, second);
}

Result<node::Stream> stream(const Query& query) {
  const auto found = query.find("stream");
  if (found == query.end()) return node::Stream::output;
  for (const node::Stream stream : {node::Stream::output, node::Stream::errors, node::Stream::files})
    if (found->second == name(stream)) return stream;
  return fail(Kind::invalid, "stream={} is neither stdout nor stderr nor files", found->second);
}

Result<Call> read_output(const Match& match) {
  ReadOutput call{.job = {match.name}};
  GW_TRY(call.stream, stream(match.query));
  GW_TRY(const bool follow, is_second(match.query, "follow", "0", "1"));
  if (follow) call.until = ReadOutput::ReadUntil::end;
  GW_TRY(call.from, number(match.query, "from"));
  return Call(call);
}

Result<Call> read_events(const Match& match) {
  ReadEvents call{.job = {match.name}};
  GW_TRY(call.from, number(match.query, "from"));
  return Call(call);
}

struct Entry {
  Route route;
  Result<Call> (*make)(const Match&);
};

constexpr std::array<Entry, 18> kEntries{{
    {{"GET", "/v1/node", "", 0}, [](const Match&) -> Result<Call> { return Call(ShowNode{}); }},
    {{"GET", "/v1/peers", "", 0}, [](const Match&) -> Result<Call> { return Call(ListPeers{}); }},
    {{"POST", "/v1/peers/{id}/ping", "", 0}, [](const Match& match) -> Result<Call> { return Call(PingPeer{{match.name}}); }},
    {{"PUT", "/v1/share", "", kMaxShareBytes}, [](const Match&) -> Result<Call> { return Call(SetShare{}); }},
    {{"GET", "/v1/metrics", "", 0}, [](const Match&) -> Result<Call> { return Call(ReadMetrics{}); }},
    {{"GET", "/v1/jobs", "", 0}, [](const Match&) -> Result<Call> { return Call(ListJobs{}); }},
    {{"POST", "/v1/jobs", "", kMaxSubmissionBytes}, [](const Match&) -> Result<Call> { return Call(SubmitJob{}); }},
    {{"GET", "/v1/jobs/{id}", "", 0}, [](const Match& match) -> Result<Call> { return Call(ShowJob{{match.name}}); }},
    {{"POST", "/v1/jobs/{id}/cancel", "", 0}, [](const Match& match) -> Result<Call> { return Call(CancelJob{{match.name}}); }},
    {{"GET", "/v1/jobs/{id}/output", "stream from follow", 0}, read_output},
    {{"GET", "/v1/jobs/{id}/events", "from", 0}, read_events},
    {{"PUT", "/v1/blobs/{sha256}", "", kMaxBlobBytes}, [](const Match& match) -> Result<Call> { return Call(StoreBlob{match.name}); }},
    {{"GET", "/v1/grids", "", 0}, [](const Match&) -> Result<Call> { return Call(ListGrids{}); }},
    {{"POST", "/v1/grids", "", kMaxOrderBytes}, [](const Match&) -> Result<Call> { return Call(AddGrid{}); }},
    {{"DELETE", "/v1/grids/{id}", "", 0}, [](const Match& match) -> Result<Call> { return Call(LeaveGrid{{match.name}}); }},
    {{"POST", "/v1/grids/{id}/invitations", "", kMaxOrderBytes},
     [](const Match& match) -> Result<Call> { return Call(InviteToGrid{{match.name}}); }},
    {{"POST", "/v1/grids/{id}/revocations", "", kMaxOrderBytes},
     [](const Match& match) -> Result<Call> { return Call(RevokeInGrid{{match.name}}); }},
    {{"POST", "/v1/stop", "", 0}, [](const Match&) -> Result<Call> { return Call(StopNode{}); }},
}};

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

Result<Query> parse_query(std::string_view text, const Route& route) {
  Query query;
  if (text.empty()) return query;
  for (const std::string_view part : split(text, '&')) {
    const std::size_t sign = part.find('=');
    const std::string_view name = part.substr(0, sign);
    if (sign == std::string_view::npos || !takes(route, name))
      return fail(Kind::invalid, "'{}' means nothing to {} {}: it takes {}", part, route.method, route.path,
                  route.query.empty() ? "no query" : route.query);
    if (!query.emplace(name, part.substr(sign + 1)).second) return fail(Kind::invalid, "{} is there twice", name);
  }
  return query;
}

struct Target {
  std::string_view path, query;
};
Target split_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, ""};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

Result<ParsedRequest> make_call(const Entry& entry, std::string_view name, std::string_view query) {
  Match match;
  if (!name.empty() || entry.route.path.find('{') != std::string_view::npos) {
    auto hash = parse_hash(name);
    if (!hash) return fail(Kind::invalid, "'{}' is not an id: it has 64 hexadecimal digits", name);
    match.name = *hash;
  }
  GW_TRY(match.query, parse_query(query, entry.route));
  GW_TRY(Call call, entry.make(match));
  return ParsedRequest{std::move(call), entry.route.max_body_bytes};
}

}  // namespace

std::span<const Route> routes() {
  static const auto table = [] {
    std::array<Route, kEntries.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kEntries[i].route;
    return all;
  }();
  return table;
}

Result<ParsedRequest> parse_request(std::string_view method, std::string_view target) {
  const auto [path, query] = split_target(target);
  bool known_path = false;
  for (const Entry& entry : kEntries) {
    const auto name = fit(path, entry.route.path);
    if (!name) continue;
    if (entry.route.method == method) return make_call(entry, *name, query);
    known_path = true;
  }
  if (known_path) return fail(Kind::unsupported, "{} is not asked with {}, but with {}", path, method, methods_of(target));
  return fail(Kind::not_found, "there is nothing at {}: the paths are in docs/api/openapi.yaml", path);
}

std::string methods_of(std::string_view target) {
  std::string methods;
  for (const Entry& entry : kEntries) {
    if (!fit(split_target(target).path, entry.route.path)) continue;
    if (!methods.empty()) methods += ", ";
    methods += entry.route.method;
  }
  return methods;
}

}  // namespace gw::gateway
