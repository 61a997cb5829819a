#include "node/share.h"

#include <fmt/core.h>

#include <charconv>
#include <sstream>

#include "job/placing/capacity.h"
#include "os/files/file.h"

namespace gw::node {
namespace {

constexpr std::uint32_t kMaxCores = 4096;
constexpr std::uint64_t kMinMemory = 64u << 20;
constexpr std::uint64_t kMinBandwidth = 16u << 10;
constexpr std::uint32_t kMaxNice = 19;
constexpr std::size_t kMaxFileBytes = 256u << 10;

Status check_share(const Share& share) {
  if (share.cores > kMaxCores) return fail(Kind::invalid, "cannot share {} cores: give 0 to {}", share.cores, kMaxCores);
  if (share.memory_bytes != 0 && share.memory_bytes < kMinMemory)
    return fail(Kind::invalid, "{} bytes of memory are too few to run a program: give 64M or more, or 0 for no limit", share.memory_bytes);
  if (share.cpu_percent < 1 || share.cpu_percent > 100)
    return fail(Kind::invalid, "cannot share {} % of the CPU: give 1% to 100%", share.cpu_percent);
  if (share.nice > kMaxNice)
    return fail(Kind::invalid, "{} is not a priority of workers: give 0 (normal) to {} (lowest)", share.nice, kMaxNice);
  if (share.bandwidth_bytes_per_s != 0 && share.bandwidth_bytes_per_s < kMinBandwidth)
    return fail(Kind::invalid, "{} bytes per second are too few to fetch a program: give 16K or more, or 0 for no limit",
                share.bandwidth_bytes_per_s);
  if (share.tags.size() > job::kMaxTags)
    return fail(Kind::invalid, "a machine has at most {} tags: remove some with --untag", job::kMaxTags);
  for (const std::string& tag : share.tags) GW_TRY_VOID(job::check_tag(tag));
  return share.rules.check();
}

std::optional<job::ConsumerName> consumer_named(const std::string& text) {
  const auto hash = parse_hash(text);
  return hash ? std::optional<job::ConsumerName>(*hash) : std::nullopt;
}

// Reads a line of the file, a name and its value. False: the line is damaged.
bool take_line(const std::string& key, const std::string& value, Share& share, std::size_t& numbers) {
  bool known = false, good = true;
  for_each_number(share, [&](std::string_view name, auto& number) {
    if (name != key) return;
    known = true;
    ++numbers;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    good = error == std::errc() && end == value.data() + value.size();
  });
  if (known) return good;
  if (key == "for") {
    auto audience = job::LendingAudience::parse(value);
    if (audience) share.rules.audience = *audience;
    return audience.has_value();
  }
  if (key == "when") {
    auto when = job::LendingTimes::parse(value);
    if (when) share.rules.when = *when;
    return when.has_value();
  }
  if (key == "tag") return share.tags.insert(value).second;
  const std::size_t blank = value.find(' ');
  const auto name = consumer_named(value.substr(0, blank));
  if (!name) return false;
  if (key == "allow") return share.rules.allowed.insert(*name).second;
  if (key == "block") return share.rules.blocked.insert(*name).second;
  if (key != "weight" || blank == std::string::npos) return false;
  std::uint32_t& weight = share.rules.weights[*name];
  const auto [end, error] = std::from_chars(value.data() + blank + 1, value.data() + value.size(), weight);
  return error == std::errc() && end == value.data() + value.size();
}

}  // namespace

Result<Share> changed(const Share& share, const ShareChange& change) {
  Share next = share;
  // The same list of names gives the members of both in the same order.
  std::map<std::string_view, std::uint64_t> values;
  for_each_number(change, [&](std::string_view name, const auto& number) {
    if (number) values[name] = *number;
  });
  for_each_number(next, [&](std::string_view name, auto& number) {
    if (const auto found = values.find(name); found != values.end())
      number = static_cast<std::remove_reference_t<decltype(number)>>(found->second);
  });
  job::LendingRules& rules = next.rules;
  if (change.audience) {
    GW_TRY(rules.audience, job::LendingAudience::parse(*change.audience));
  }
  if (change.when) {
    GW_TRY(rules.when, job::LendingTimes::parse(*change.when));
  }
  for (const job::ConsumerName& name : change.unlist) rules.allowed.erase(name), rules.blocked.erase(name);
  for (const job::ConsumerName& name : change.allow) rules.allowed.insert(name), rules.blocked.erase(name);
  for (const job::ConsumerName& name : change.block) rules.blocked.insert(name), rules.allowed.erase(name);
  for (const auto& [name, weight] : change.weights) {
    rules.weights[name] = weight;
    if (weight == 1) rules.weights.erase(name);
  }
  for (const std::string& tag : change.untag) next.tags.erase(tag);
  next.tags.insert(change.tag.begin(), change.tag.end());
  GW_TRY_VOID(check_share(next));
  return next;
}

job::Budget::Limits budget_of(const Share& share) {
  job::Budget::Limits limits;
  if (share.disk_bytes != 0) limits.all.bytes = share.disk_bytes;
  limits.origin.bytes = share.disk_bytes_per_peer != 0 ? share.disk_bytes_per_peer : limits.all.bytes / 2;
  limits.job.bytes = share.disk_bytes_per_job != 0 ? share.disk_bytes_per_job : limits.all.bytes / 4;
  limits.grid.bytes = share.disk_bytes_per_grid != 0 ? share.disk_bytes_per_grid : limits.all.bytes - limits.all.bytes / 4;
  return limits;
}

Result<std::optional<Share>> load_share(const std::filesystem::path& file) {
  const auto bytes = os::read_file(file, kMaxFileBytes);
  if (!bytes && bytes.error().kind == Kind::not_found) return std::optional<Share>();
  if (!bytes) return bytes.error();
  std::istringstream in{std::string(as_text(*bytes))};
  Share share;
  std::size_t expected = 0, numbers = 0;
  for_each_number(share, [&](std::string_view, auto&) { ++expected; });
  bool whole = !bytes->empty() && bytes->back() == '\n';
  for (std::string line; whole && std::getline(in, line);) {
    const std::size_t blank = line.find(' ');
    whole = blank != std::string::npos && take_line(line.substr(0, blank), line.substr(blank + 1), share, numbers);
  }
  whole = whole && numbers == expected;
  if (!whole || !check_share(share)) return fail(Kind::corrupt, "{} is damaged: remove it and set the share again", file.string());
  return std::optional(share);
}

Status save_share(const std::filesystem::path& file, const Share& share) {
  std::string text = fmt::format("for {}\nwhen {}\n", share.rules.audience.text(), share.rules.when.text());
  for_each_number(share, [&](std::string_view name, const auto& number) { text += fmt::format("{} {}\n", name, number); });
  for (const job::ConsumerName& name : share.rules.allowed) text += fmt::format("allow {}\n", name.hex());
  for (const job::ConsumerName& name : share.rules.blocked) text += fmt::format("block {}\n", name.hex());
  for (const auto& [name, weight] : share.rules.weights) text += fmt::format("weight {} {}\n", name.hex(), weight);
  for (const std::string& tag : share.tags) text += fmt::format("tag {}\n", tag);
  return os::write_file_atomic(file, as_bytes(text));
}

}  // namespace gw::node
