#include "overlay/links.h"

#include <algorithm>

#include "base/near_search.h"

namespace gw::sim::overlay_simulation {
namespace {

std::uint32_t in_milliseconds(Time time) { return static_cast<std::uint32_t>(time / std::chrono::milliseconds(1)); }

}  // namespace

Links::Ends::iterator Links::place(std::uint32_t host, std::uint32_t other) {
  Ends& ends = ends_[host];
  const std::size_t guess = ends.size() * other / ends_.size();  // all hosts are equally likely
  return lower_bound_near(ends, guess, other, &End::other);
}

bool Links::use(std::uint32_t at, std::uint32_t other, Time now) {
  const auto end = place(at, other);
  if (end == ends_[at].end() || end->other != other) return false;
  end->used = in_milliseconds(now);
  return true;
}

bool Links::open(std::uint32_t a, std::uint32_t b) const { return std::ranges::binary_search(ends_[a], b, {}, &End::other); }

bool Links::add(std::uint32_t a, std::uint32_t b, Time now) {
  if (use(a, b, now)) return true;
  if (!make_room(a, now) || !make_room(b, now)) return false;
  ends_[a].insert(place(a, b), {b, in_milliseconds(now)});
  ends_[b].insert(place(b, a), {a, in_milliseconds(now)});
  return true;
}

bool Links::make_room(std::uint32_t host, Time now) {
  if (ends_[host].size() < kKept) return true;
  const bool in_a_hurry = ends_[host].size() >= kMost;
  const End oldest = *std::ranges::min_element(ends_[host], {}, &End::used);
  if (in_milliseconds(now) - oldest.used < in_milliseconds(in_a_hurry ? kSpareInAHurry : kSpare)) return !in_a_hurry;
  remove(host, oldest.other);
  return true;
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

}  // namespace gw::sim::overlay_simulation
