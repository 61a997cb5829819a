#include "node/discovery/tracker_rounds.h"

#include <algorithm>

#include "base/log.h"

namespace gw::node {
namespace {

constexpr std::string_view kTrackerArea = "node";

}  // namespace

TrackerRounds::TrackerRounds(boost::asio::io_context& io, Config config, NameResolver& names, Owner& owner)
    : config_(std::move(config)), names_(names), owner_(owner), alive_(std::make_shared<bool>(true)), tasks_(io.get_executor()) {
  for (const std::string& tracker : config_.trackers) trackers_.push_back(std::make_unique<TrackerState>(io, tracker));
}

TrackerRounds::~TrackerRounds() { *alive_ = false; }

void TrackerRounds::start() {
  for (const auto& state : trackers_) {
    state->wait = config_.alone_every;
    look_up(*state);
  }
}

boost::asio::awaitable<void> TrackerRounds::stop() {
  stopping_ = true;
  for (const auto& state : trackers_) state->timer.cancel();
  tasks_.stop();
  co_await tasks_.wait();
}

void TrackerRounds::look_up(TrackerState& state) {
  names_.resolve(state.address, [this, alive = alive_, &state](const Result<Endpoint>& endpoint) {
    if (!*alive || stopping_) return;
    if (!endpoint) return finish_round(state, endpoint.error());
    tasks_.spawn("tracker", go_round(state, {*endpoint, state.address}));
  });
}

boost::asio::awaitable<void> TrackerRounds::go_round(TrackerState& state, tracker::Where where) {
  const std::vector<Grid> grids = owner_.to_announce();
  Status status = ok();
  for (const Grid& grid : grids) {
    if (stopping_) co_return;
    if (Status one = co_await inquire(where, grid); !one) status = one;
  }
  const bool alone = std::ranges::any_of(grids, [](const Grid& grid) { return grid.company == Grid::Company::alone; });
  state.wait = alone ? std::min(2 * state.wait, config_.announce_every) : config_.announce_every;
  if (!stopping_) finish_round(state, status);
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

void TrackerRounds::finish_round(TrackerState& state, const Status& status) {
  const std::string failure = status ? "" : status.error().detail;
  if (failure != state.last_failure) {
    if (!status) log::warn(kTrackerArea, "a tracker is of no use", kv("tracker", state.address), kv("why", failure));
    if (status) log::info(kTrackerArea, "a tracker is of use again", kv("tracker", state.address));
    state.last_failure = failure;
  }
  if (!status) state.wait = std::min(2 * state.wait, config_.announce_every);
  state.timer.expires_after(state.wait);
  state.timer.async_wait([this, &state](const boost::system::error_code& error) {
    if (!error && !stopping_) look_up(state);
  });
}

}  // namespace gw::node
