#include "cli/console/quantity.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace gw::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kMaxMilliseconds = 1e12;                                                                    // thirty years
constexpr std::array<Unit, 5> kTimeUnits{{{"d", 8.64e7}, {"h", 3.6e6}, {"m", 6e4}, {"s", 1e3}, {"ms", 1}}};  // from large to small
constexpr std::array<Unit, 7> kSizeUnits{
    {{"", 1}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes digits, perhaps with a fraction, from the front of `text`. No sign, no exponent.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc() || !is_digit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes the letters in front of the next number; returns the position of the unit in `units`.
std::optional<std::size_t> take_unit(std::string_view& text, std::span<const Unit> units) {
  std::size_t length = 0;
  while (length < text.size() && !is_digit(text[length])) ++length;
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  for (std::size_t i = 0; i < units.size(); ++i)
    if (units[i].name == name) return i;
  return std::nullopt;
}

std::optional<double> read_units(std::string_view text) {
  double milliseconds = 0;
  std::size_t next_unit = 0;
  do {
    const auto number = take_number(text);
    const auto unit = number ? take_unit(text, kTimeUnits) : std::nullopt;
    if (!unit || *unit < next_unit) return std::nullopt;
    milliseconds += *number * kTimeUnits[*unit].factor;
    next_unit = *unit + 1;
  } while (!text.empty());
  return milliseconds;
}

std::optional<double> take_two_digits(std::string_view& text) {
  if (text.size() < 2 || !is_digit(text[0]) || !is_digit(text[1])) return std::nullopt;
  const int value = 10 * (text[0] - '0') + (text[1] - '0');
  text.remove_prefix(2);
  return value < 60 ? std::optional<double>(value) : std::nullopt;
}

// HH:MM:SS with any number of digits in front.
std::optional<double> read_clock(std::string_view text) {
  const std::size_t colon = text.find(':');
  std::string_view hours_text = text.substr(0, colon);
  const auto hours = take_number(hours_text);
  if (!hours || !hours_text.empty() || *hours != std::floor(*hours)) return std::nullopt;
  text.remove_prefix(colon + 1);
  const auto minutes = take_two_digits(text);
  if (!minutes || !text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  const auto seconds = take_two_digits(text);
  if (!seconds || !text.empty()) return std::nullopt;
  return *hours * 3.6e6 + *minutes * 6e4 + *seconds * 1e3;
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto milliseconds = text.find(':') == std::string_view::npos ? read_units(text) : read_clock(text);
  if (!milliseconds || *milliseconds > kMaxMilliseconds)
    return fail(Kind::invalid, "'{}' is not a duration: write it like 200ms, 2s, 1h30m or 02:30:00", text);
  return std::chrono::milliseconds(std::llround(*milliseconds));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  const auto unit = number ? take_unit(rest, kSizeUnits) : std::nullopt;
  const double bytes = unit ? *number * kSizeUnits[*unit].factor : 0;
  if (!unit || !rest.empty() || bytes > 0x1p50) return fail(Kind::invalid, "'{}' is not a size: write it like 65536, 512M or 1GiB", text);
  return static_cast<std::uint64_t>(bytes);
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_duration(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 3'600'000) return fmt::format("{}m{:02}s", ms / 60'000, ms / 1000 % 60);
  if (ms < 48 * 3'600'000LL) return fmt::format("{}h{:02}m", ms / 3'600'000, ms / 60'000 % 60);
  return fmt::format("{}d{:02}h", ms / (24 * 3'600'000LL), ms / 3'600'000 % 24);
}

std::string counted(std::uint64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

}  // namespace gw::cli
