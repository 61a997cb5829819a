#include "node/discovery/discovery.h"

#include <algorithm>

#include "base/log.h"

namespace gw::node {
namespace {

bool is_alone(const overlay::Overlay& grid) {
  return std::ranges::none_of(grid.all(), [](const auto& known) { return known.state == overlay::Overlay::Known::State::alive; });
}

}  // namespace

Discovery::Discovery(Parts parts, const Config& config)
    : peer_(parts.peer), ask_(std::move(parts.ask)), trackers_(parts.io, {.trackers = config.trackers}, parts.names, *this) {
  LanDiscovery::Owner& hears = *this;
  if (config.lan_port != 0)
    lan_ = std::make_unique<LanDiscovery>(parts.io, LanDiscovery::Config{.port = config.lan_port, .seed = config.seed}, hears);
}

void Discovery::start() {
  trackers_.start();
  if (!lan_) return;
  if (const Status started = lan_->start(); !started) log::info("node", started.error().detail);
}

boost::asio::awaitable<void> Discovery::stop() {
  if (lan_) lan_->stop();
  co_await trackers_.stop();
}

std::vector<TrackerRounds::Grid> Discovery::to_announce() {
  std::vector<TrackerRounds::Grid> grids;
  for (const peer::Grid* grid : peer_.grids().in_order()) {
    if (grid->credentials.revoked()) continue;
    TrackerRounds::Grid& one = grids.emplace_back();
    one.announcement.set_grid(grid->credentials.id.bytes());
    write(grid->overlay.self(), *one.announcement.mutable_descriptor());
    if (grid->credentials.is_private()) write(grid->credentials.membership, *one.announcement.mutable_descriptor()->mutable_membership());
    if (!is_alone(grid->overlay)) one.company = TrackerRounds::Grid::Company::others;
  }
  return grids;
}

void Discovery::on_listed(const overlay::GridId& grid, const std::vector<wire::pb::Descriptor>& peers) {
  for (const wire::pb::Descriptor& peer : peers) ask_(peer::Rumoured{grid, peer});
}

std::vector<const peer::GridCredentials*> Discovery::to_call_out() {
  std::vector<const peer::GridCredentials*> all_credentials;
  for (const peer::Grid* grid : peer_.grids().in_order())
    if (!grid->credentials.revoked()) all_credentials.push_back(&grid->credentials);
  return all_credentials;
}

// A peer that knows another one finds the rest through it.
void Discovery::on_called(const overlay::GridId& grid, const std::string& address) {
  if (const peer::Grid* there = peer_.grids().find(grid); there == nullptr || !is_alone(there->overlay)) return;
  ask_(peer::Rumoured{grid, address});
}

}  // namespace gw::node
