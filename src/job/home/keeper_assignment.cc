#include "job/home/keeper_assignment.h"

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr int kDraws = 8;

}  // namespace

std::optional<PeerId> KeeperAssignment::choose(Time now, const PeerId& host, const std::optional<PeerId>& except) {
  if (now >= refreshed_ + config_.refresh || refreshed_ < Time(0)) {
    refreshed_ = now;
    candidates_.clear();
    for (const LivePeers::LivePeer& peer : environment_.live_peers.all_alive()) candidates_.push_back(peer.peer);
  }
  const auto fits = [&](const PeerId& peer) {
    return peer != host && peer != except && environment_.live_peers.alive(peer) && environment_.roster.takes(peer);
  };
  // Nearly always the first candidate drawn will do; otherwise the next suitable one after it.
  if (candidates_.empty()) return std::nullopt;
  for (int draw = 0; draw < kDraws; ++draw)
    if (const PeerId& drawn = candidates_[environment_.rng.below(candidates_.size())]; fits(drawn)) return drawn;
  for (const PeerId& candidate : candidates_)
    if (fits(candidate)) return candidate;
  return std::nullopt;
}

void KeeperAssignment::assign(Time now, ThreadId id, const PeerId& host) {
  HomeThread& thread = environment_.threads.at(id);
  thread.keeper_generation = ++next_generation_;
  if (!thread.keeper) environment_.threads.set_keeper(id, choose(now, host, thread.bad_keeper).value_or(host));
  environment_.roster.add_keeper(*thread.keeper);
}

bool KeeperAssignment::is_there(const HomeThread& thread) const { return !thread.kept || environment_.live_peers.alive(*thread.keeper); }

void KeeperAssignment::unpark_returned() {
  std::vector<PeerId> back;
  for (const auto& [keeper, threads] : environment_.threads.parked())
    if (environment_.live_peers.alive(keeper)) back.push_back(keeper);
  for (const PeerId& keeper : back) {
    GW_REACHED("home: a keeper came back to threads that waited for it");
    for (const ThreadId id : std::set<ThreadId>(environment_.threads.parked().at(keeper))) environment_.threads.wait(id);
  }
}

wire::pb::SignedGrant KeeperAssignment::grant(ThreadId id, const HomeThread& thread, const PeerId& keeper) const {
  return environment_.roster.grant({.thread = id,
                                    .epoch = thread.epoch,
                                    .keeper_generation = thread.keeper_generation,
                                    .host = thread.placed()->host,
                                    .keepers = {keeper}});
}

void KeeperAssignment::begin_change(Time now, HomeThread& thread, const PeerId& target) {
  GW_REACHED("home: a keeper is being replaced");
  HomeThread::Placed& placed = *thread.placed();
  placed.target = target;
  placed.target_since = now;
  thread.keeper_generation = ++next_generation_;
  environment_.roster.add_keeper(target);
}

void KeeperAssignment::tend(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  const LivePeers& live_peers = environment_.live_peers;
  const bool good = live_peers.alive(*thread.keeper) && *thread.keeper != placed.host;
  if (good && !placed.target) return environment_.threads.set_due(id, now + config_.look);
  environment_.threads.set_due(id, now + config_.retry);
  // The target is dead, or was not filled in time.
  const bool hopeless = placed.target && (!live_peers.alive(*placed.target) || now - placed.target_since > config_.patience);
  if (!placed.target || hopeless) {
    const std::optional<PeerId> target = choose(now, placed.host, placed.target ? placed.target : thread.keeper);
    if (!target || *target == *thread.keeper) return;
    begin_change(now, thread, *target);
  }
  send(id, thread, out);
}

void KeeperAssignment::on_stalled(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  if (thread.placed()->target || GW_BUG(16)) return;
  if (thread.placed()->target_since > Time(0) && now - thread.placed()->target_since < config_.replace_every) return;
  const std::optional<PeerId> target = choose(now, thread.placed()->host, thread.keeper);
  if (!target) return;
  GW_REACHED("home: a keeper that does not answer is replaced");
  begin_change(now, thread, *target);
  environment_.threads.set_due(id, now + config_.retry);
  send(id, thread, out);
}

bool KeeperAssignment::bring_home(Time now, ThreadId id, const PeerId& home, Actions& out) {
  HomeThread& thread = environment_.threads.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (*thread.keeper == home || placed.start_state < JobMessage::BEGINNING || !environment_.roster.takes(home)) return false;
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
    GW_REACHED("home: a keeper was replaced");
    environment_.threads.set_keeper(id, *placed.target);
    placed.target.reset();
    return true;
  }
  // An earlier boot of home had chosen this keeper and not recorded it. The host waits until a keeper is recorded: begin another change.
  if (generation > thread.keeper_generation && !placed.target)
    begin_change(now, thread, choose(now, placed.host, thread.keeper).value_or(placed.host));
  return false;
}

void KeeperAssignment::send(ThreadId id, const HomeThread& thread, Actions& out) const {
  const HomeThread::Placed& placed = *thread.placed();
  JobMessage message;
  JobMessage::KeeperChange& change = *message.mutable_keeper_change();
  change.set_thread(id.value());
  change.set_epoch(thread.epoch);
  change.set_keeper_generation(thread.keeper_generation);
  change.set_current(thread.keeper->bytes());
  if (placed.target) change.set_target(placed.target->bytes());
  *change.mutable_grant() = grant(id, thread, placed.target.value_or(*thread.keeper));
  out.after_disk(to_peer(placed.host, environment_.job, std::move(message)));
}

}  // namespace gw::job
