#include "transport/ways.h"

#include <algorithm>
#include <utility>

namespace gw::transport {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAtOnce{0};
constexpr milliseconds kReverseOverlap{300};  // behind a dial that may just be slow
constexpr milliseconds kReverseHead{1'000};   // a call, a dial and a handshake over a long way
constexpr milliseconds kDirectHead{1'500};    // a dial whose first packet was lost, too

// Whether a peer that was asked to could dial this one.
bool takes_calls(Reach mine) { return mine == Reach::open || mine == Reach::unknown; }

bool has_relay(const Situation& situation) { return situation.has_anchors || situation.own_anchors; }

std::vector<Step> by_reach(const Situation& situation) {
  const bool calls = situation.has_anchors && takes_calls(situation.mine);
  std::vector<Step> steps;
  switch (situation.theirs) {
    case Reach::open:
    case Reach::unknown: {
      // A peer that reaches only its anchors need not wait for a direct attempt to fail.
      const bool hopeless = situation.mine == Reach::relay_only && has_relay(situation);
      if (situation.has_address) steps.push_back({Way::direct, hopeless ? kDirectHead : kAtOnce});
      if (calls) steps.push_back({Way::reverse, situation.has_address ? kReverseOverlap : kAtOnce});
      if (has_relay(situation)) steps.push_back({Way::relayed, hopeless || steps.empty() ? kAtOnce : kDirectHead});
      break;
    }
    case Reach::outbound:
      if (calls) steps.push_back({Way::reverse, kAtOnce});
      if (has_relay(situation)) steps.push_back({Way::relayed, calls ? kReverseHead : kAtOnce});
      break;
    case Reach::relay_only:
      if (has_relay(situation)) steps.push_back({Way::relayed, kAtOnce});
      break;
  }
  return steps;
}

}  // namespace

std::string_view name(Way way) {
  switch (way) {
    case Way::direct:
      return "direct";
    case Way::reverse:
      return "reverse";
    case Way::relayed:
      break;
  }
  return "relayed";
}

std::vector<Step> plan_ways(const Situation& situation) {
  std::vector<Step> steps = by_reach(situation);
  const auto worked = std::ranges::find_if(steps, [&](const Step& step) { return step.way == situation.worked; });
  if (worked != steps.end() && worked->after != kAtOnce) {
    for (Step& step : steps) step.after = step.way == situation.worked ? kAtOnce : std::max(step.after, kDirectHead);
  }
  std::ranges::sort(steps, {}, [](const Step& step) { return std::pair(step.after, step.way); });
  return steps;
}

std::vector<Step> plan_upgrade(const Situation& situation) {
  std::vector<Step> steps;
  if (situation.has_address) steps.push_back({Way::direct, kAtOnce});
  if (situation.has_anchors && takes_calls(situation.mine) && situation.theirs != Reach::relay_only)
    steps.push_back({Way::reverse, kAtOnce});
  return steps;
}

void WayMemory::remember(const PeerId& peer, Way way) {
  entries_[peer] = {way, turns_++};
  if (entries_.size() <= limit_) return;
  entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.turn; }));
}

std::optional<Way> WayMemory::recall(const PeerId& peer) const {
  const auto found = entries_.find(peer);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.way);
}

}  // namespace gw::transport
