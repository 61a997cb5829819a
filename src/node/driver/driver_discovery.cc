// Who else is there, by those who are not of the grid: trackers, and voices in the local network.

#include <algorithm>

#include "base/log.h"
#include "node/driver/driver.h"

namespace gw::node {
namespace {

bool is_alone(const overlay::Overlay& grid) {
  return std::ranges::none_of(grid.all(), [](const auto& known) { return known.state == overlay::Overlay::Known::State::alive; });
}

}  // namespace

void Driver::start_discovery() {
  TrackerRounds::Owner& told = *this;
  trackers_ = std::make_unique<TrackerRounds>(io_, TrackerRounds::Config{.trackers = config_.trackers}, names_, told);
  trackers_->start();
  if (config_.discovery == Config::Discovery::off || listen_port_ == 0) return;
  LanDiscovery::Owner& hears = *this;
  lan_ = std::make_unique<LanDiscovery>(io_, LanDiscovery::Config{.port = listen_port_, .seed = random_seed()}, hears);
  if (const Status started = lan_->start(); !started) log::info(kArea, started.error().detail);
}

std::vector<TrackerRounds::Grid> Driver::to_announce() {
  std::vector<TrackerRounds::Grid> grids;
  for (const peer::Grid* grid : peer_->grids().in_order()) {
    if (grid->credentials.revoked()) continue;
    TrackerRounds::Grid& one = grids.emplace_back();
    one.announcement.set_grid(grid->credentials.id.bytes());
    write(grid->overlay.self(), *one.announcement.mutable_descriptor());
    if (grid->credentials.is_private()) write(grid->credentials.membership, *one.announcement.mutable_descriptor()->mutable_membership());
    if (!is_alone(grid->overlay)) one.company = TrackerRounds::Grid::Company::others;
  }
  return grids;
}

void Driver::on_listed(const overlay::GridId& grid, const std::vector<wire::pb::Descriptor>& peers) {
  for (const wire::pb::Descriptor& peer : peers)
    turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Rumoured{grid, peer}, out); });
}

std::vector<const peer::GridCredentials*> Driver::to_call_out() {
  std::vector<const peer::GridCredentials*> all_credentials;
  for (const peer::Grid* grid : peer_->grids().in_order())
    if (!grid->credentials.revoked()) all_credentials.push_back(&grid->credentials);
  return all_credentials;
}

// Whoever has company finds the rest by itself.
void Driver::on_called(const overlay::GridId& grid, const std::string& address) {
  if (const peer::Grid* there = peer_->grids().find(grid); there == nullptr || !is_alone(there->overlay)) return;
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Rumoured{grid, address}, out); });
}

}  // namespace gw::node
