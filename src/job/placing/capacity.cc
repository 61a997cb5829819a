#include "job/placing/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ranges>
#include <vector>

namespace gw::job {
namespace {

constexpr std::size_t kMaxArchBytes = 32;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
constexpr std::uint32_t kMaxSpeed = 1'000'000;  // a thousand times the reference machine
constexpr std::uint32_t kMaxLoad = 1'000'000;
constexpr std::uint64_t kMaxUptime = std::uint64_t{1} << 40;

constexpr std::string_view kExample = "write it like memory=2G,disk=1G,speed=0.5,arch=x86_64,tag=gpu";

bool is_word(std::string_view text, std::size_t longest) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  const auto allowed = [&](char c) { return kAllowed.find(c) != std::string_view::npos; };
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, allowed);
}

template <class Tags>
Status check_tags(const Tags& tags) {
  if (static_cast<std::size_t>(tags.size()) > kMaxTags) return fail(Kind::invalid, "there are {} tags: at most {}", tags.size(), kMaxTags);
  for (const std::string& tag : tags) GW_TRY_VOID(check_tag(tag));
  return ok();
}

// A stranger's text is not repeated: it may hold any bytes.
Status check_arch(const std::string& arch) {
  if (arch.empty() || is_word(arch, kMaxArchBytes)) return ok();
  return fail(Kind::invalid,
              "the name of a processor architecture has 1 to {} letters, digits, dots, dashes and underscores: as `uname -m`",
              kMaxArchBytes);
}

// "400 MiB", "2.0 GiB": one decimal below ten units.
std::string size_text(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
  return unit == 0 || value >= 10 ? fmt::format("{:.0f} {}", value, kUnits[unit]) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// The shortest text that parse_requirements() reads as exactly this size.
std::string exact_size(std::uint64_t bytes) {
  static constexpr std::array<std::pair<char, int>, 3> kUnits = {{{'G', 30}, {'M', 20}, {'K', 10}}};
  for (const auto& [letter, shift] : kUnits)
    if (bytes != 0 && bytes % (std::uint64_t{1} << shift) == 0) return fmt::format("{}{}", bytes >> shift, letter);
  return std::to_string(bytes);
}

std::string speed_text(std::uint32_t speed) { return fmt::format("{:g}", speed / 1000.0); }

// Digits, perhaps with a fraction; takes them from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc() || text.front() < '0' || text.front() > '9') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {{{"", 1}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}}};
  for (const auto& [unit, factor] : kUnits) {
    const bool named = text == unit || (!unit.empty() && text.starts_with(unit) && text.substr(1) == "iB");
    if (named && *number * factor <= static_cast<double>(kMaxBytes)) return static_cast<std::uint64_t>(*number * factor);
  }
  return std::nullopt;
}

Status read_size(std::string_view key, std::string_view value, std::uint64_t& bytes) {
  const auto size = parse_size(value);
  if (!size || *size == 0) return fail(Kind::invalid, "'{}={}' is not a size that a job can need: write it like {}=2G", key, value, key);
  bytes = *size;
  return ok();
}

Status read_speed(std::string_view value, Requirements& needs) {
  std::string_view rest = value;
  const auto number = take_number(rest);
  const double thousandths = number && rest.empty() ? std::round(*number * 1000) : 0;
  if (thousandths < 1 || thousandths > kMaxSpeed)
    return fail(Kind::invalid, "'speed={}' is not a speed: 1 is the reference machine, 0.5 is half as fast; give 0.001 to {}", value,
                kMaxSpeed / 1000);
  needs.set_speed(static_cast<std::uint32_t>(thousandths));
  return ok();
}

Status read_need(std::string_view key, std::string_view value, Requirements& needs) {
  std::uint64_t bytes = 0;
  if (key == "memory") {
    GW_TRY_VOID(read_size(key, value, bytes));
    needs.set_memory_bytes(bytes);
  } else if (key == "disk") {
    GW_TRY_VOID(read_size(key, value, bytes));
    needs.set_disk_bytes(bytes);
  } else if (key == "speed") {
    GW_TRY_VOID(read_speed(value, needs));
  } else if (key == "arch") {
    if (!is_word(value, kMaxArchBytes)) return fail(Kind::invalid, "'arch={}' is not an architecture: give what `uname -m` prints", value);
    needs.set_arch(std::string(value));
  } else if (key == "tag") {
    GW_TRY_VOID(check_tag(value));
    needs.add_tags(std::string(value));
  } else {
    return fail(Kind::invalid, "a job cannot need '{}': memory, disk, speed, arch and tag are known; {}", key, kExample);
  }
  return ok();
}

}  // namespace

Status check_tag(std::string_view tag) {
  if (is_word(tag, kMaxTagBytes)) return ok();
  return fail(Kind::invalid, "a tag has 1 to {} letters, digits, dots, dashes and underscores, such as gpu", kMaxTagBytes);
}

Status check(const Requirements& needs) {
  if (needs.memory_bytes() > kMaxBytes || needs.disk_bytes() > kMaxBytes)
    return fail(Kind::invalid, "a job needs at most 1 PiB of memory and of disk");
  if (needs.speed() > kMaxSpeed)
    return fail(Kind::invalid, "a job needs at most {} times the speed of the reference machine", kMaxSpeed / 1000);
  GW_TRY_VOID(check_arch(needs.arch()));
  return check_tags(needs.tags());
}

Status check(const Capacity& capacity) {
  if (capacity.memory_bytes() > kMaxBytes || capacity.disk_bytes() > kMaxBytes)
    return fail(Kind::invalid, "a peer has at most 1 PiB of memory and of disk");
  if (capacity.speed() > kMaxSpeed || capacity.load() > kMaxLoad || capacity.uptime_s() > kMaxUptime)
    return fail(Kind::invalid, "the speed, load or uptime of a peer is out of range");
  GW_TRY_VOID(check_arch(capacity.arch()));
  return check_tags(capacity.tags());
}

std::optional<std::string> misfit(const Requirements& needs, const Capacity& capacity) {
  if (capacity.memory_bytes() > 0 && needs.memory_bytes() > capacity.memory_bytes())
    return fmt::format("needs {} of memory per slot, this peer lends {}", size_text(needs.memory_bytes()),
                       size_text(capacity.memory_bytes()));
  if (needs.disk_bytes() > capacity.disk_bytes())
    return fmt::format("needs {} of disk per slot, this peer lends {}", size_text(needs.disk_bytes()), size_text(capacity.disk_bytes()));
  if (needs.speed() > 0 && capacity.speed() == 0)
    return fmt::format("needs a speed of {}, this peer has not measured its own yet", speed_text(needs.speed()));
  if (needs.speed() > capacity.speed())
    return fmt::format("needs a speed of {}, this peer has {}", speed_text(needs.speed()), speed_text(capacity.speed()));
  if (!needs.arch().empty() && needs.arch() != capacity.arch())
    return fmt::format("needs the architecture {}, this peer has {}", needs.arch(),
                       capacity.arch().empty() ? "not said which one it has" : capacity.arch());
  for (const std::string& tag : needs.tags())
    if (std::ranges::find(capacity.tags(), tag) == capacity.tags().end())
      return capacity.tags().empty() ? fmt::format("needs the tag {}, this peer has none", tag)
                                     : fmt::format("needs the tag {}, this peer has {}", tag, fmt::join(capacity.tags(), ", "));
  return std::nullopt;
}

std::string shortfall(const Requirements& needs, std::span<const Capacity> capacities) {
  const auto most = [&](auto field) { return std::ranges::max(capacities | std::views::transform(field)); };
  const std::size_t count = capacities.size();
  const auto unlimited = [](const Capacity& capacity) { return capacity.memory_bytes() == 0; };
  const std::uint64_t memory = most([](const Capacity& one) { return one.memory_bytes(); });
  if (std::ranges::none_of(capacities, unlimited) && needs.memory_bytes() > memory)
    return fmt::format("needs {} of memory per slot, the largest of {} machines lends {}", size_text(needs.memory_bytes()), count,
                       size_text(memory));
  const std::uint64_t disk = most([](const Capacity& one) { return one.disk_bytes(); });
  if (needs.disk_bytes() > disk)
    return fmt::format("needs {} of disk per slot, the largest of {} machines lends {}", size_text(needs.disk_bytes()), count,
                       size_text(disk));
  const std::uint32_t speed = most([](const Capacity& one) { return one.speed(); });
  if (needs.speed() > speed)
    return fmt::format("needs a speed of {}, the fastest of {} machines has {}", speed_text(needs.speed()), count, speed_text(speed));
  if (!needs.arch().empty() && std::ranges::none_of(capacities, [&](const Capacity& one) { return one.arch() == needs.arch(); }))
    return fmt::format("needs the architecture {}, none of {} machines has it", needs.arch(), count);
  for (const std::string& tag : needs.tags())
    if (std::ranges::none_of(capacities, [&](const Capacity& one) { return std::ranges::find(one.tags(), tag) != one.tags().end(); }))
      return fmt::format("needs the tag {}, none of {} machines has it", tag, count);
  return fmt::format("each of {} machines lacks a part of {}", count, text_of(needs));
}

Result<Requirements> parse_requirements(std::string_view text) {
  Requirements needs;
  std::vector<std::string_view> seen;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return fail(Kind::invalid, "'{}' is not something a job can need: {}", part, kExample);
    const std::string_view key = part.substr(0, equals);
    if (key != "tag" && std::ranges::find(seen, key) != seen.end())
      return fail(Kind::invalid, "a job needs one {}, and two are given: leave out one of them", key);
    GW_TRY_VOID(read_need(key, part.substr(equals + 1), needs));
    seen.push_back(key);
    at = end + 1;
  }
  GW_TRY_VOID(check(needs));
  return needs;
}

std::string text_of(const Requirements& needs) {
  std::vector<std::string> parts;
  if (needs.memory_bytes() > 0) parts.push_back(fmt::format("memory={}", exact_size(needs.memory_bytes())));
  if (needs.disk_bytes() > 0) parts.push_back(fmt::format("disk={}", exact_size(needs.disk_bytes())));
  if (needs.speed() > 0) parts.push_back(fmt::format("speed={}", speed_text(needs.speed())));
  if (!needs.arch().empty()) parts.push_back(fmt::format("arch={}", needs.arch()));
  for (const std::string& tag : needs.tags()) parts.push_back(fmt::format("tag={}", tag));
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace gw::job
