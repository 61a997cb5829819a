#pragma once
// A search among values in order, which begins where the value is likely to be.

#include <functional>
#include <iterator>

namespace gw {

// As std::ranges::lower_bound. When the values are spread evenly and `guess` says so, it reads a line or two of the processor's cache,
// where a binary search reads one for each step.
template <class Range, class Value, class Projection = std::identity>
auto lower_bound_near(Range& values, std::size_t guess, const Value& value, Projection projection = {}) {
  auto at = std::next(std::begin(values), static_cast<std::ptrdiff_t>(guess));
  while (at != std::begin(values) && !(std::invoke(projection, *std::prev(at)) < value)) --at;
  while (at != std::end(values) && std::invoke(projection, *at) < value) ++at;
  return at;
}

}  // namespace gw
