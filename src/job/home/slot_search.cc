#include "job/home/slot_search.h"

#include <algorithm>
#include <utility>

#include "base/reached.h"
#include "job/placing/search_query.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kMostDoublings = 22;  // from a millisecond to more than an hour

}  // namespace

void SlotSearch::begin(Time now, Reach reach) {
  if (next_at_ != kNever) return;
  begin_without_rounds();
  level_ -= level_ > 0 ? 1 : 0;
  whole_grid_ = reach == Reach::whole_grid;
  fruitless_ = 0;
  heard_new_ = true;
  wait_ = config_.wait;
  next_at_ = std::max(now, earliest_);
}

void SlotSearch::begin_without_rounds() {
  if (std::exchange(under_way_, true)) return;
  first_ = number_ + 1;
  heard_.clear();
}

void SlotSearch::stop_rounds() {
  if (next_at_ != kNever) level_ -= level_ > 0 ? 1 : 0;  // next() has counted the last round
  next_at_ = kNever;
}

void SlotSearch::end() {
  stop_rounds();
  under_way_ = false;
  expected_.clear();
}

Time SlotSearch::next_radius(const std::vector<LivePeers::Neighbour>& neighbours) const {
  if (whole_grid_) return kWholeGrid;
  Time nearest = kWholeGrid;
  for (const LivePeers::Neighbour& neighbour : neighbours)
    if (neighbour.distance > Time(0)) nearest = std::min(nearest, neighbour.distance);
  if (nearest == kWholeGrid) nearest = Time(0);
  return std::min(kWholeGrid, std::max(nearest, config_.least_radius) * (std::int64_t{2} << level_));
}

std::optional<SlotSearch::Round> SlotSearch::next(Time now, const std::vector<LivePeers::Neighbour>& neighbours) {
  if (!is_due(now)) return std::nullopt;
  fruitless_ = std::exchange(heard_new_, false) ? 0 : fruitless_ + 1;
  whole_grid_ = whole_grid_ || fruitless_ >= config_.fruitless || level_ >= kMostDoublings;
  if (whole_grid_) GW_REACHED("home: the whole grid was searched");
  Round round{.number = ++number_, .radius = next_radius(neighbours), .passed_on = true, .ask = {}};
  for (const LivePeers::Neighbour& neighbour : neighbours)
    if (neighbour.distance <= round.radius) round.ask.push_back(neighbour.peer);
  level_ += whole_grid_ ? 0 : 1;
  expected_.clear();
  answers_since_ = now;
  answers_by_ = now + std::min(wait_, config_.answer);
  earliest_ = now + config_.wait;
  next_at_ = now + wait_;
  wait_ = std::min(2 * wait_, config_.longest);
  return round;
}

SlotSearch::Round SlotSearch::ask(Time now, std::span<const PeerId> peers) {
  GW_REACHED("home: a peer that has slots now was asked");
  if (now >= answers_by_) {
    expected_.clear();  // they will not answer any more
    answers_since_ = now;
  }
  answers_by_ = std::max(answers_by_, std::min(now + config_.answer, answers_since_ + 2 * config_.answer));
  return {.number = ++number_, .radius = kWholeGrid, .passed_on = false, .ask = {peers.begin(), peers.end()}};
}

bool SlotSearch::on_answer(const PeerId& peer, std::uint64_t round) {
  if (!under_way() || round < first_ || round > number_) return false;
  expected_.erase(peer);
  if (heard_.size() < config_.heard && heard_.insert(peer).second) heard_new_ = true;
  return true;
}

}  // namespace gw::job
