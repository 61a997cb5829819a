#include "peer/search_relay.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/placing/search_query.h"

namespace gw::peer {
namespace {

// Coordinates are estimates, and the one of a peer moves while a search is on its way to it.
constexpr int kTolerance = 2;

Time between(const overlay::Coordinate& a, const overlay::Coordinate& b) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(overlay::estimate(a, b)));
}

}  // namespace

SearchRelay::SearchRelay(const Config& config, Environment environment)
    : config_(config), environment_(std::move(environment)), senders_(config.senders), homes_(config.homes), passed_on_(config.passed_on) {}

Result<SearchRelay::Query> SearchRelay::look(Time now, const PeerId& from, const JobMessage& message) {
  const JobId job = JobId::from(message.job());
  GW_TRY(Query query, job::read_query(message.search(), job));
  if (from == environment_.self) return query;
  if (seen_.contains({job, query.round()}) && !GW_BUG(201)) {
    GW_REACHED("search: a search came a second time");
    return fail(Kind::overloaded, "this search was handled");
  }
  if (!senders_.admit(now, from)) {
    GW_REACHED("search: a peer sends too many searches");
    return fail(Kind::overloaded, "its sender sends too many searches");
  }
  return query;
}

bool SearchRelay::is_genuine(Time now, const job::Charter& charter, const JobMessage::Search& search, Actions& out) {
  const Grid* grid = environment_.grids.of(charter.grid());
  if (charter.first_home() == environment_.self || grid == nullptr) return false;
  if (!job::is_query_of(search, charter.first_home(), environment_.signer) ||
      !environment_.grids.introduce(now, grid->credentials.id, search.home(), out)) {
    GW_REACHED("search: a search that its home has not sent");
    return false;
  }
  return true;
}

void SearchRelay::remember(Time now, const Name& name) {
  while (!oldest_first_.empty() && (seen_.size() >= config_.seen || seen_.at(oldest_first_.front()) + config_.seen_for < now)) {
    seen_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  if (seen_.emplace(name, now).second) oldest_first_.push_back(name);
}

bool SearchRelay::handle(Time now, const PeerId& from, const job::Charter& charter, const Query& query, const JobMessage& message,
                         Actions& out) {
  if (from == environment_.self) return true;
  remember(now, {charter.id(), query.round()});
  const PeerId& home = charter.first_home();
  const Grid& grid = *environment_.grids.of(charter.grid());
  // The descriptor that was checked, and not the copy in the message.
  const overlay::Descriptor* centre = grid.overlay.find(home);
  if (centre == nullptr) return false;
  if (query.round() >> 32 < centre->incarnation.boot) {
    GW_REACHED("search: a search of an earlier boot of its home");
    return false;
  }
  const Time radius(static_cast<std::int64_t>(query.radius_ns()));
  if (from != home && between(centre->coordinate, grid.overlay.self().coordinate) > kTolerance * radius) {
    GW_REACHED("search: a search came from beyond its radius");
    return false;
  }
  if (message.search().hops() > 0 && passed_on_.admit(now, home)) pass_on(from, grid, *centre, query, message, out);
  return homes_.admit(now, home);
}

void SearchRelay::pass_on(const PeerId& from, const Grid& grid, const overlay::Descriptor& home, const Query& query,
                          const JobMessage& message, Actions& out) const {
  JobMessage next = message;
  next.mutable_search()->set_hops(message.search().hops() - 1);
  const Time radius(static_cast<std::int64_t>(query.radius_ns()));
  for (const overlay::Descriptor* neighbour : grid.overlay.search_neighbours()) {
    const bool was_asked = !GW_BUG(203) && std::ranges::find(query.asked(), job::asked_name(neighbour->id)) != query.asked().end();
    if (neighbour->id == from || neighbour->id == home.id || was_asked || between(home.coordinate, neighbour->coordinate) > radius)
      continue;
    GW_REACHED("search: a search was passed on");
    out.send(neighbour->id, JobId::from(message.job()), next);
  }
}

}  // namespace gw::peer
