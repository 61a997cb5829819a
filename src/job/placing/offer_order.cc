#include "job/placing/offer_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/planted_bug.h"

namespace gw::job {
namespace {

constexpr double kLeastFree = 0.05;  // workers have the lowest priority, and still get a little of a core that others use

double middle_of_known(const std::vector<RatedOffer>& offers) {
  std::vector<double> known;
  for (const RatedOffer& offer : offers)
    if (offer.speed > 0) known.push_back(offer.speed);
  if (known.empty()) return 1;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::ranges::nth_element(known, middle);
  return *middle;
}

bool is_better(const RatedOffer& a, const RatedOffer& b) {
  return std::tuple(a.distance, -a.success, b.uptime_s, a.peer) < std::tuple(b.distance, -b.success, a.uptime_s, b.peer);
}

}  // namespace

std::vector<RatedOffer> best_first(std::vector<RatedOffer> offers) {
  const double middle = middle_of_known(offers);
  for (RatedOffer& offer : offers) offer.speed = (offer.speed > 0 ? offer.speed : middle) * std::max(kLeastFree, 1 - offer.load);
  std::ranges::sort(offers, std::ranges::greater(), [](const RatedOffer& offer) { return std::pair(offer.speed, offer.peer); });
  for (auto group = offers.begin(); group != offers.end();) {
    const double least = group->speed * kEqualSpeeds;
    const auto end = std::find_if(group, offers.end(), [&](const RatedOffer& offer) { return offer.speed < least; });
    std::sort(group, end, is_better);
    group = end;
  }
  return offers;
}

std::vector<SlotShare> fill(const std::vector<RatedOffer>& offers, std::uint32_t wanted) {
  std::vector<SlotShare> shares;
  for (const RatedOffer& offer : offers) {
    if (wanted == 0) break;
    const std::uint32_t taken = std::min(offer.slots, wanted);
    shares.push_back({offer.peer, GW_BUG(202) ? offer.slots : taken});
    wanted -= taken;
  }
  return shares;
}

std::vector<SlotShare> spread(const std::vector<RatedOffer>& offers, std::uint32_t wanted, const std::set<std::string>& used) {
  // The place of an offer in each turn: its place within its network, then whether its network is new, then its place among all.
  struct Turn {
    std::size_t in_network;
    bool used;
    std::size_t place;

    auto operator<=>(const Turn&) const = default;
  };
  std::map<std::string, std::size_t> sizes;
  std::vector<Turn> turns;
  for (const RatedOffer& offer : offers)
    turns.push_back({.in_network = sizes[offer.network]++, .used = used.contains(offer.network), .place = turns.size()});
  std::ranges::sort(turns);
  std::vector<std::uint32_t> taken(offers.size());
  for (bool any = true; wanted > 0 && any;) {
    any = false;
    for (const Turn& turn : turns) {
      if (wanted == 0 || taken[turn.place] == offers[turn.place].slots) continue;
      ++taken[turn.place];
      --wanted;
      any = true;
    }
  }
  std::vector<SlotShare> shares;
  for (const Turn& turn : turns)
    if (taken[turn.place] > 0) shares.push_back({offers[turn.place].peer, taken[turn.place]});
  return shares;
}

}  // namespace gw::job
