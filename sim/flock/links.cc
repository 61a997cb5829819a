#include "flock/links.h"

#include <algorithm>

namespace gw::sim::flock {
namespace {

std::uint32_t in_milliseconds(Time time) { return static_cast<std::uint32_t>(time / std::chrono::milliseconds(1)); }

}  // namespace

Links::Ends::iterator Links::place(std::uint32_t host, std::uint32_t other) {
  return std::ranges::lower_bound(ends_[host], other, {}, &End::other);
}

bool Links::use(std::uint32_t from, std::uint32_t to, Time now) {
  const auto end = place(from, to);
  if (end == ends_[from].end() || end->other != to) return false;
  end->used = in_milliseconds(now);
  place(to, from)->used = in_milliseconds(now);
  return true;
}

bool Links::open(std::uint32_t a, std::uint32_t b) const { return std::ranges::binary_search(ends_[a], b, {}, &End::other); }

void Links::add(std::uint32_t a, std::uint32_t b, Time now) {
  if (use(a, b, now)) return;
  add_end(a, b, now);
  add_end(b, a, now);
}

void Links::add_end(std::uint32_t host, std::uint32_t other, Time now) {
  if (ends_[host].size() >= kMostOfAHost) {
    const std::uint32_t oldest = std::ranges::min_element(ends_[host], {}, &End::used)->other;
    remove(host, oldest);
  }
  ends_[host].insert(place(host, other), {other, in_milliseconds(now)});
}

void Links::remove(std::uint32_t a, std::uint32_t b) {
  const auto erase = [&](std::uint32_t host, std::uint32_t other) {
    const auto end = place(host, other);
    if (end != ends_[host].end() && end->other == other) ends_[host].erase(end);
  };
  erase(a, b);
  erase(b, a);
}

std::vector<std::uint32_t> Links::remove_all(std::uint32_t host) {
  std::vector<std::uint32_t> others;
  for (const End& end : ends_[host]) others.push_back(end.other);
  for (const std::uint32_t other : others) remove(host, other);
  return others;
}

}  // namespace gw::sim::flock
