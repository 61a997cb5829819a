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

template <class Value, std::size_t N>
Result<Value> value_of(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<Value>(found - words.begin());
  return fail(Kind::invalid, "'{}' is none of {}", word, fmt::join(words, ", "));
}

}  // namespace

std::string_view name(Placing place) { return word_of(kPlacings, place); }
std::string_view name(OnFailure on_failure) { return word_of(kOnFailures, on_failure); }

Result<Placing> parse_placing(std::string_view word) { return value_of<Placing>(kPlacings, word); }
Result<OnFailure> parse_on_failure(std::string_view word) { return value_of<OnFailure>(kOnFailures, word); }

}  // namespace gw::job
