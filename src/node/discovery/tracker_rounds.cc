#include "node/discovery/tracker_rounds.h"

#include <algorithm>

#include "base/log.h"

namespace gw::node {
namespace {

constexpr std::string_view kTrackerArea = "node";

}  // namespace

TrackerRounds::TrackerRounds(boost::asio::io_context& io, Config config, NameResolver& names, Owner& owner)
    : config_(std::move(config)), names_(names), owner_(owner), alive_(std::make_shared<bool>(true)), tasks_(io.get_executor()) {
  for (const std::string& tracker : config_.trackers) visits_.push_back(std::make_unique<Visit>(io, tracker));
}

TrackerRounds::~TrackerRounds() { *alive_ = false; }

void TrackerRounds::start() {
  for (const auto& visit : visits_) {
    visit->wait = config_.alone_every;
    look_up(*visit);
  }
}

boost::asio::awaitable<void> TrackerRounds::stop() {
  stopping_ = true;
  for (const auto& visit : visits_) visit->timer.cancel();
  tasks_.stop();
  co_await tasks_.wait();
}

void TrackerRounds::look_up(Visit& visit) {
  names_.resolve(visit.address, [this, alive = alive_, &visit](const Result<Endpoint>& endpoint) {
    if (!*alive || stopping_) return;
    if (!endpoint) return settle(visit, endpoint.error());
    tasks_.spawn("tracker", go_round(visit, {*endpoint, visit.address}));
  });
}

boost::asio::awaitable<void> TrackerRounds::go_round(Visit& visit, tracker::Where where) {
  const std::vector<Grid> grids = owner_.to_announce();
  Status status = ok();
  for (const Grid& grid : grids) {
    if (stopping_) co_return;
    if (Status one = co_await inquire(where, grid); !one) status = one;
  }
  const bool alone = std::ranges::any_of(grids, [](const Grid& grid) { return grid.company == Grid::Company::alone; });
  visit.wait = alone ? std::min(2 * visit.wait, config_.announce_every) : config_.announce_every;
  if (!stopping_) settle(visit, status);
}

boost::asio::awaitable<Status> TrackerRounds::inquire(tracker::Where where, Grid grid) {
  const overlay::GridId id = overlay::GridId::from(grid.announcement.grid());
  Status announced = co_await tracker::announce(where, std::move(grid.announcement));
  if (grid.company == Grid::Company::others || stopping_) co_return announced;
  const auto peers = co_await tracker::list_peers(where, id);
  if (!peers) co_return peers.error();
  if (!stopping_) owner_.on_listed(id, *peers);
  co_return announced;
}

void TrackerRounds::settle(Visit& visit, const Status& status) {
  const std::string failure = status ? "" : status.error().detail;
  if (failure != visit.last_failure) {
    if (!status) log::warn(kTrackerArea, "a tracker is of no use", kv("tracker", visit.address), kv("why", failure));
    if (status) log::info(kTrackerArea, "a tracker is of use again", kv("tracker", visit.address));
    visit.last_failure = failure;
  }
  if (!status) visit.wait = std::min(2 * visit.wait, config_.announce_every);
  visit.timer.expires_after(visit.wait);
  visit.timer.async_wait([this, &visit](const boost::system::error_code& error) {
    if (!error && !stopping_) look_up(visit);
  });
}

}  // namespace gw::node
