#include "job/placing/placing_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gw::job {
namespace {

constexpr std::array<std::string_view, 3> kPlacings{"near", "hash", "spread"};
constexpr std::array<std::string_view, 3> kOnFailures{"replace", "ignore", "cancel"};

template <std::size_t N>
std::string_view word_of(const std::array<std::string_view, N>& words, int value) {
  return value >= 0 && static_cast<std::size_t>(value) < N ? words[static_cast<std::size_t>(value)] : "";
}

}  // namespace

std::string_view name(Placing place) { return word_of(kPlacings, place); }
std::string_view name(OnFailure on_failure) { return word_of(kOnFailures, on_failure); }

Result<Placing> parse_placing(std::string_view word) {
  const auto found = std::ranges::find(kPlacings, word);
  if (found != kPlacings.end()) return static_cast<Placing>(found - kPlacings.begin());
  return fail(Kind::invalid, "'{}' is none of {}", word, fmt::join(kPlacings, ", "));
}

}  // namespace gw::job
