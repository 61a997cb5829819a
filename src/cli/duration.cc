#include "cli/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace gw::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// The number in front of one of the units, times its factor; nothing if it is not one.
template <std::size_t N>
std::optional<double> read_quantity(std::string_view text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units)
    if (unit.name == suffix) return number * unit.factor;
  return std::nullopt;
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{{{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}}};
  constexpr double kMax = 1e12;  // thirty years
  const auto milliseconds = read_quantity(text, kUnits);
  if (!milliseconds || *milliseconds > kMax)
    return fail(Kind::invalid, "'{}' is not a duration: write a number and ms, s, m or h, for example 200ms or 2s", text);
  return std::chrono::milliseconds(std::llround(*milliseconds));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{{{"", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
  const auto bytes = read_quantity(text, kUnits);
  if (!bytes || *bytes > 0x1p50)
    return fail(Kind::invalid, "'{}' is not a size: write a number and KiB, MiB or GiB, for example 64MiB", text);
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace gw::cli
