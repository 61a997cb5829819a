#include "job/home/keeper_assignment.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr int kDraws = 8;
constexpr double kMostExponent = 30;
constexpr double kNearSeconds = 0.005;  // peers that are nearer than this are equally near
constexpr std::uint64_t kSteps = 1u << 20;
constexpr std::size_t kDistrusted = 256;

bool contains(const auto& list, const auto& item) { return std::ranges::find(list, item) != list.end(); }

}  // namespace

// The list of live peers, with the time since when each is there. Both lists are in the order of ids.
void KeeperAssignment::refresh(Time now) {
  if (now < refreshed_ + config_.refresh && refreshed_ >= Time(0)) return;
  refreshed_ = now;
  std::vector<Candidate> before = std::exchange(candidates_, {});
  auto known = before.begin();
  for (const LivePeers::LivePeer& live : environment_.live_peers.all_alive()) {
    while (known != before.end() && known->peer < live.peer) ++known;
    const bool is_known = known != before.end() && known->peer == live.peer;
    candidates_.push_back({live.peer, environment_.live_peers.network(live.peer), environment_.live_peers.distance(live.peer),
                           is_known ? known->seen_since : now});
  }
  std::erase_if(distrusted_until_, [&](const auto& entry) { return entry.second <= now; });
}

bool KeeperAssignment::is_distrusted(Time now, const PeerId& peer) const {
  const auto found = distrusted_until_.find(peer);
  return found != distrusted_until_.end() && found->second > now;
}

// Draws a few candidates and takes one of those that share the fewest networks with host and other keepers, with a probability that rises
// with the time that the peer has been there and falls with its distance.
std::optional<PeerId> KeeperAssignment::choose(Time now, const Wanted& wanted) {
  refresh(now);
  const auto fits = [&](const PeerId& peer) {
    return peer != wanted.host && !contains(wanted.beside, peer) && !contains(wanted.except, peer) && environment_.live_peers.alive(peer) &&
           environment_.roster.takes(peer);
  };
  if (wanted.rather && fits(*wanted.rather)) return wanted.rather;
  if (candidates_.empty()) return std::nullopt;
  std::vector<const Candidate*> drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Candidate& one = candidates_[environment_.rng.below(candidates_.size())];
    if (fits(one.peer) && !contains(drawn, &one)) drawn.push_back(&one);
  }
  for (auto one = candidates_.begin(); drawn.empty() && one != candidates_.end(); ++one)
    if (fits(one->peer)) drawn.push_back(&*one);
  if (drawn.empty()) return std::nullopt;
  std::vector<std::string> used{environment_.live_peers.network(wanted.host)};
  for (const PeerId& keeper : wanted.beside) used.push_back(environment_.live_peers.network(keeper));
  const auto shared = [&](const Candidate* one) { return std::ranges::count(used, one->network); };
  const auto fewest = shared(*std::ranges::min_element(drawn, {}, shared));
  std::erase_if(drawn, [&](const Candidate* one) { return shared(one) > fewest; });
  const auto seconds = [](Time time) { return std::chrono::duration<double>(time).count(); };
  const Time longest = (*std::ranges::min_element(drawn, {}, &Candidate::seen_since))->seen_since;
  std::vector<double> weights;
  double sum = 0;
  for (const Candidate* one : drawn) {
    const double up = std::max(-kMostExponent, seconds(longest - one->seen_since) / seconds(config_.uptime));
    weights.push_back(std::exp(up) / (kNearSeconds + std::min(1.0, seconds(one->distance))));
    sum += weights.back();
  }
  double place = sum * static_cast<double>(environment_.rng.below(kSteps)) / static_cast<double>(kSteps);
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if ((place -= weights[i]) < 0) return drawn[i]->peer;
  return drawn.back()->peer;
}

// The peer to be filled: not one that could not be filled lately, unless the thread has no good keeper at all.
std::optional<PeerId> KeeperAssignment::choose_target(Time now, const HomeThread& thread, const std::optional<PeerId>& except) {
  Wanted wanted{.host = thread.placed()->host, .beside = thread.keepers, .rather = thread.former_keeper};
  if (except) wanted.except.push_back(*except);
  if (!good_keepers(thread).empty())
    for (const auto& [peer, until] : distrusted_until_)
      if (until > now) wanted.except.push_back(peer);
  return choose(now, wanted);
}

std::vector<PeerId> KeeperAssignment::good_keepers(const HomeThread& thread) const {
  std::vector<PeerId> good;
  for (const PeerId& keeper : thread.keepers)
    if (environment_.live_peers.alive(keeper) && keeper != thread.placed()->host) good.push_back(keeper);
  return good;
}

void KeeperAssignment::set_keepers(ThreadId id, std::vector<PeerId> keepers) {
  environment_.threads.set_keepers(id, std::move(keepers));
  environment_.threads.at(id).keeper_order = ++next_generation_;
}

void KeeperAssignment::assign(Time now, ThreadId id, const PeerId& host) {
  HomeThread& thread = environment_.threads.at(id);
  thread.keeper_generation = ++next_generation_;
  std::vector<PeerId> keepers = thread.keepers;
  if (keepers.empty()) {
    Wanted wanted{.host = host, .except = thread.bad_keepers};
    while (wanted.beside.size() < config_.keepers) {
      const auto next = choose(now, wanted);
      if (!next) break;
      wanted.beside.push_back(*next);
    }
    keepers = wanted.beside.empty() ? std::vector{host} : std::move(wanted.beside);
  }
  for (const PeerId& keeper : keepers) environment_.roster.add_keeper(keeper);
  const auto rank = [&](const PeerId& keeper) {
    return std::tuple(!environment_.live_peers.alive(keeper), keeper == host, environment_.live_peers.distance(keeper), keeper);
  };
  std::ranges::sort(keepers, {}, rank);
  set_keepers(id, std::move(keepers));
}

bool KeeperAssignment::is_there(const HomeThread& thread) const {
  return !thread.kept ||
         std::ranges::any_of(thread.keepers, [this](const PeerId& keeper) { return environment_.live_peers.alive(keeper); });
}

void KeeperAssignment::unpark_returned() {
  std::vector<PeerId> back;
  for (const auto& [keeper, threads] : environment_.threads.parked())
    if (environment_.live_peers.alive(keeper)) back.push_back(keeper);
  for (const PeerId& keeper : back) {
    const auto parked = environment_.threads.parked().find(keeper);
    if (parked == environment_.threads.parked().end()) continue;  // their other keeper is back too
    GW_REACHED("home: a keeper came back to threads that waited for it");
    for (const ThreadId id : std::set<ThreadId>(parked->second)) environment_.threads.wait(id);
  }
}

wire::pb::SignedGrant KeeperAssignment::grant(ThreadId id, const HomeThread& thread, std::span<const PeerId> keepers) const {
  return environment_.roster.grant({.thread = id,
                                    .epoch = thread.epoch,
                                    .keeper_generation = thread.keeper_generation,
                                    .host = thread.placed()->host,
                                    .keepers = {keepers.begin(), keepers.end()}});
}

void KeeperAssignment::begin_change(Time now, HomeThread& thread, const PeerId& target) {
  GW_REACHED("home: another keeper is being filled");
  HomeThread::Placed& placed = *thread.placed();
  placed.target = target;
  placed.target_since = now;
  thread.keeper_generation = ++next_generation_;
  thread.keeper_order = ++next_generation_;
  environment_.roster.add_keeper(target);
}

// The host is told with the next change that it need not fill the target.
void KeeperAssignment::give_up_target(Time now, HomeThread& thread) {
  HomeThread::Placed& placed = *thread.placed();
  if (distrusted_until_.size() < kDistrusted) distrusted_until_[*placed.target] = now + config_.distrust;
  placed.target.reset();
  thread.keeper_order = ++next_generation_;
}

bool KeeperAssignment::on_restored(ThreadId id, const PeerId& keeper) {
  HomeThread& thread = environment_.threads.at(id);
  if (std::exchange(thread.placed()->source_known, true) || thread.keepers.size() < 2 || !thread.kept_at(keeper) || GW_BUG(180))
    return false;
  GW_REACHED("home: a thread has its state from one of two keepers");
  for (const PeerId& other : thread.keepers)
    if (other != keeper) thread.former_keeper = other;
  set_keepers(id, {keeper});
  return true;
}

bool KeeperAssignment::tend(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  std::vector<PeerId> good = good_keepers(thread);
  const bool complete = good.size() == thread.keepers.size();
  bool changed = false;
  if (!complete && !good.empty()) {
    GW_REACHED("home: a keeper that is gone was taken off the record");
    set_keepers(id, good);
    changed = true;
  }
  // The target is dead, or was not filled in time.
  const bool hopeless = placed.target && (!environment_.live_peers.alive(*placed.target) || now - placed.target_since > config_.patience);
  if (!placed.target || hopeless) {
    const bool lacks = good.size() < config_.keepers;
    const std::optional<PeerId> target = lacks ? choose_target(now, thread, placed.target) : std::nullopt;
    if (hopeless && (target || !good.empty())) give_up_target(now, thread);
    if (target) begin_change(now, thread, *target);
  }
  const bool settled = !placed.target && !good.empty();
  environment_.threads.set_due(id, now + (settled ? config_.look : config_.retry));
  if (changed || hopeless || placed.target) send(id, thread, out);
  return changed;
}

bool KeeperAssignment::on_stalled(Time now, ThreadId id, const PeerId& keeper, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (GW_BUG(16)) return false;
  if (placed.target == keeper) {
    if (now - placed.target_since < config_.replace_every) return false;
    GW_REACHED("home: a keeper that is being filled does not answer");
    const auto target = choose_target(now, thread, keeper);
    give_up_target(now, thread);
    if (target) begin_change(now, thread, *target);
    environment_.threads.set_due(id, now + config_.retry);
    send(id, thread, out);
    return false;
  }
  if (!thread.kept_at(keeper)) {
    send(id, thread, out);  // the host has not heard that it was taken off
    return false;
  }
  const bool has_other = thread.keepers.size() > 1;
  if (!has_other && (placed.target || (placed.target_since > Time(0) && now - placed.target_since < config_.replace_every))) return false;
  GW_REACHED("home: a keeper that does not answer is replaced");
  if (distrusted_until_.size() < kDistrusted) distrusted_until_[keeper] = now + config_.distrust;
  if (has_other) {
    std::vector<PeerId> others = thread.keepers;
    std::erase(others, keeper);
    set_keepers(id, std::move(others));
  }
  if (!placed.target)
    if (const auto target = choose_target(now, thread, keeper)) begin_change(now, thread, *target);
  environment_.threads.set_due(id, now + config_.retry);
  if (has_other || placed.target) send(id, thread, out);
  return has_other;
}

bool KeeperAssignment::bring_home(Time now, ThreadId id, const PeerId& home, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (thread.kept_at(home) || placed.start_state < JobMessage::BEGINNING || !environment_.roster.takes(home)) return false;
  if (placed.target != home) {
    GW_REACHED("home: the last image of a thread comes home");
    begin_change(now, thread, home);
  }
  if (now - placed.target_since > config_.patience) return false;
  send(id, thread, out);
  return true;
}

bool KeeperAssignment::on_filled(Time now, ThreadId id, std::uint64_t generation) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  environment_.threads.set_due(id, now + config_.retry);
  if (generation == thread.keeper_generation && placed.target) {
    GW_REACHED("home: a keeper was filled");
    std::vector<PeerId> keepers = good_keepers(thread);
    while (keepers.size() >= config_.keepers) keepers.pop_back();
    keepers.push_back(*placed.target);
    placed.target.reset();
    thread.former_keeper.reset();
    set_keepers(id, std::move(keepers));
    return true;
  }
  return false;  // an old word, or an earlier boot of home had chosen this keeper and not recorded it: the host hears that with the answer
}

void KeeperAssignment::send(ThreadId id, HomeThread& thread, Actions& out) {
  const HomeThread::Placed& placed = *thread.placed();
  if (thread.keeper_order == 0) thread.keeper_order = ++next_generation_;
  JobMessage message;
  JobMessage::KeeperChange& change = *message.mutable_keeper_change();
  change.set_thread(id.value());
  change.set_epoch(thread.epoch);
  change.set_keeper_generation(thread.keeper_generation);
  change.set_order(thread.keeper_order);
  for (const PeerId& keeper : thread.keepers) change.add_current(keeper.bytes());
  if (placed.target) change.set_target(placed.target->bytes());
  *change.mutable_grant() = grant(id, thread, placed.target ? std::vector{*placed.target} : thread.keepers);
  out.after_disk(to_peer(placed.host, environment_.job, std::move(message)));
}

}  // namespace gw::job
