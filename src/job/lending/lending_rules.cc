#include "job/lending/lending_rules.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "wire/grid_name.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kMinutesOfDay = 24 * 60;
constexpr std::string_view kGrid = "grid ";

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view item = text.substr(at, end - at);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    items.push_back(item);
    at = end + 1;
  }
  return items;
}

// "07:30"
std::optional<std::uint32_t> minutes_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || text.size() != colon + 3) return std::nullopt;
  std::uint32_t hour = 0, minute = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), text.data() + colon, hour);
  const auto second = std::from_chars(text.data() + colon + 1, end, minute);
  if (first.ec != std::errc() || first.ptr != text.data() + colon || second.ec != std::errc() || second.ptr != end) return std::nullopt;
  const std::uint32_t total = hour * 60 + minute;
  return hour > 24 || minute > 59 || total > kMinutesOfDay ? std::nullopt : std::optional(total % kMinutesOfDay);
}

std::optional<LendingTimes::Hours> hours_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto from = minutes_of(text.substr(0, dash)), to = minutes_of(text.substr(dash + 1));
  if (!from || !to || *from == *to) return std::nullopt;
  return LendingTimes::Hours{*from, *to};
}

}  // namespace

Result<LendingTimes> LendingTimes::parse(std::string_view text) {
  LendingTimes times;
  const auto items = items_of(text);
  for (const std::string_view item : items) {
    if (item == "always" && items.size() == 1) continue;
    if (item == "idle") {
      times.idle = true;
    } else if (item == "plugged-in") {
      times.plugged_in = true;
    } else if (const auto hours = hours_of(item); hours && times.hours.size() < kMaxHours) {
      times.hours.push_back(*hours);
    } else {
      return fail(Kind::invalid, "'{}' is not a time to lend: write always, or a list of idle, plugged-in and hours such as 22:00-07:00",
                  text);
    }
  }
  return times;
}

std::string LendingTimes::text() const {
  std::vector<std::string> parts;
  if (idle) parts.emplace_back("idle");
  if (plugged_in) parts.emplace_back("plugged-in");
  for (const Hours& one : hours)
    parts.push_back(fmt::format("{:02}:{:02}-{:02}:{:02}", one.from / 60, one.from % 60, one.to / 60, one.to % 60));
  return parts.empty() ? "always" : fmt::format("{}", fmt::join(parts, ","));
}

Result<LendingAudience> LendingAudience::parse(std::string_view text) {
  LendingAudience audience;
  for (const std::string_view item : items_of(text)) {
    if (item == "anyone") {
      audience.anyone = true;
    } else if (item == "mine") {
      audience.mine = true;
    } else if (item.starts_with(kGrid) && audience.grids.size() < kMaxGrids) {
      const std::string name(item.substr(kGrid.size()));
      GW_TRY_VOID(wire::check_grid_name(name));
      audience.grids.insert(name);
    } else {
      return fail(Kind::invalid, "cannot lend to '{}': write mine, anyone or 'grid NAME', or a list of them", text);
    }
  }
  return audience;
}

std::string LendingAudience::text() const {
  std::vector<std::string> parts;
  if (anyone) parts.emplace_back("anyone");
  if (mine) parts.emplace_back("mine");
  for (const std::string& name : grids) parts.push_back(fmt::format("{}{}", kGrid, name));
  return fmt::format("{}", fmt::join(parts, ","));
}

Status LendingRules::check() const {
  if (!audience.anyone && !audience.mine && audience.grids.empty())
    return fail(Kind::invalid, "nobody could use this machine: lend to mine, anyone or 'grid NAME', or lend nothing with --cores 0");
  for (const auto& [what, size] :
       {std::pair("allowed", allowed.size()), std::pair("blocked", blocked.size()), std::pair("weighted", weights.size())})
    if (size > kMaxNames) return fail(Kind::invalid, "too many {} users or peers: the limit is {}", what, kMaxNames);
  for (const auto& [name, weight] : weights)
    if (weight < 1 || weight > kMaxWeight) return fail(Kind::invalid, "{} is not a weight: give 1 to {}", weight, kMaxWeight);
  return ok();
}

}  // namespace gw::job
