// How a plan to reach a peer is carried out.

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.h"
#include "node/discovery/dialer.h"

namespace gw::node {

using transport::Way;

std::vector<Dialer::Step> Dialer::steps_for(const transport::PeerId& peer, const wire::Contact& contact, Purpose purpose) const {
  const transport::Situation situation{.mine = self_.reach,
                                       .theirs = contact.reach,
                                       .has_address = !contact.address.empty(),
                                       .has_anchors = !contact.anchors.empty(),
                                       .own_anchors = !self_.anchors.empty(),
                                       .worked = memory_.recall(peer)};
  const auto planned = purpose == Purpose::reach ? transport::plan_ways(situation) : transport::plan_upgrade(situation);
  const Time now = Time::clock::now();
  std::vector<Step> steps;
  for (const transport::Step& step : planned)
    if (step.way != Way::reverse || config_.port != 0) steps.push_back({Step::Kind::begin, step.way, now + step.after});
  return steps;
}

// --- time

void Dialer::arm() {
  Time next = Time::max();
  for (const auto& [peer, plan] : plans_)
    for (const Step& step : plan.steps) next = std::min(next, step.at);
  for (const auto& [peer, upgrade] : upgrades_) next = std::min(next, upgrade.at);
  if (stopped_ || next == Time::max() || next == due_.expiry()) return;
  due_.expires_at(next);
  due_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive && !stopped_) on_timer();
  });
}

void Dialer::on_timer() {
  const Time now = Time::clock::now();
  for (auto& [peer, upgrade] : upgrades_) {
    if (upgrade.at > now) continue;
    const auto every = static_cast<std::uint64_t>(config_.upgrade_every.count());
    upgrade.at = now + std::chrono::milliseconds(every / 2 + rng_.below(every + 1));
    plan_for(peer, upgrade.contact, Purpose::upgrade);
  }
  std::vector<transport::PeerId> peers;
  for (const auto& [peer, plan] : plans_) peers.push_back(peer);
  for (const transport::PeerId& peer : peers)
    if (const auto found = plans_.find(peer); found != plans_.end()) run_steps(peer, found->second);
  due_.expires_at(Time::max());
  arm();
}

void Dialer::run_steps(const transport::PeerId& peer, Plan& plan) {
  if (is_reached(peer, plan)) return succeed(peer);
  const Time now = Time::clock::now();
  std::vector<Step> due;
  std::erase_if(plan.steps, [&](const Step& step) {
    if (step.at <= now) due.push_back(step);
    return step.at <= now;
  });
  for (const Step& step : due) {
    if (step.kind == Step::Kind::begin) begin(peer, plan, step.way);
    if (step.kind == Step::Kind::next_relay) begin_relayed(peer, plan);
    if (step.kind == Step::Kind::give_up_call) --plan.running;
  }
  finish_or_advance(peer, plan);
}

// --- attempts

void Dialer::begin(const transport::PeerId& peer, Plan& plan, Way way) {
  if (way == Way::direct) return begin_direct(peer, plan);
  if (way == Way::reverse) return begin_call(peer, plan);
  plan.relays = plan.contact.anchors;
  plan.relays.insert(plan.relays.end(), self_.anchors.begin(), self_.anchors.end());
  std::erase_if(plan.relays, [&](const wire::Anchor& one) { return one.peer.hash == peer || one.peer.hash == transport_.self(); });
  // Relays with a connection come first.
  std::ranges::partition(plan.relays, [&](const wire::Anchor& anchor) { return has_carrier(anchor.peer.hash); });
  begin_relayed(peer, plan);
}

void Dialer::begin_direct(const transport::PeerId& peer, Plan& plan) {
  ++plan.running;
  connect(plan.contact.address, peer,
          [this, peer, address = plan.contact.address, done = attempt_of(peer, plan, Way::direct)](const Result<transport::PeerId>& found) {
            if (found && transport_.connected(peer)) owner_.on_reached(peer, address);
            done(found ? ok() : Status(found.error()));
          });
}

// A call to dial back has no answer message: its success is a connection, reported by on_connected().
void Dialer::begin_call(const transport::PeerId& peer, Plan& plan) {
  const auto known = std::ranges::find_if(plan.contact.anchors, [&](const wire::Anchor& one) { return has_carrier(one.peer.hash); });
  const wire::Anchor anchor = known != plan.contact.anchors.end() ? *known : plan.contact.anchors.front();
  ++plan.running;
  plan.steps.push_back({Step::Kind::give_up_call, Way::reverse, Time::clock::now() + config_.call_patience});
  with_anchor(anchor, [this, peer, anchor](const Status& there) {
    if (there && !has_carrier(peer)) (void)transport_.call(anchor.peer.hash, peer, config_.port);
  });
}

// Tries relays one after the other: the next when this one has failed or takes long.
void Dialer::begin_relayed(const transport::PeerId& peer, Plan& plan) {
  if (plan.relays.empty()) return;
  const wire::Anchor anchor = plan.relays.front();
  plan.relays.erase(plan.relays.begin());
  ++plan.running;
  if (!plan.relays.empty()) plan.steps.push_back({Step::Kind::next_relay, Way::relayed, Time::clock::now() + config_.relay_patience});
  with_anchor(anchor, [this, peer, anchor, done = attempt_of(peer, plan, Way::relayed)](const Status& there) {
    if (!there || transport_.connected(peer)) return done(there);
    transport_.connect_through(anchor.peer.hash, peer,
                               [done](const Result<transport::PeerId>& found) { done(found ? ok() : Status(found.error())); });
  });
}

bool Dialer::has_carrier(const transport::PeerId& peer) const {
  const auto met = transport_.connection_origin(peer);
  return met && met->way != Way::relayed;
}

// `then` is called later, since it may end the plan that its caller works on. Anchors must be given by numeric address: a stranger's
// contact must not cause name lookups.
void Dialer::with_anchor(const wire::Anchor& anchor, std::function<void(Status)> then) {
  const auto where = parse_endpoint(anchor.address);
  const bool there = has_carrier(anchor.peer.hash);
  if (there || !where) {
    return boost::asio::post(io_, [alive = alive_, then = std::move(then), status = there ? ok() : Status(where.error())] {
      if (*alive) then(status);
    });
  }
  transport_.connect(*where, anchor.peer.hash,
                     [then = std::move(then)](const Result<transport::PeerId>& found) { then(found ? ok() : Status(found.error())); });
}

// A numeric address does not wait behind name lookups.
void Dialer::connect(const std::string& address, std::optional<transport::PeerId> expected, transport::Transport::Connected done) {
  if (const auto endpoint = parse_endpoint(address)) return transport_.connect(*endpoint, expected, std::move(done));
  names_.resolve(address, [this, alive = alive_, expected, done = std::move(done)](const Result<Endpoint>& endpoint) {
    if (!*alive) return;
    if (!endpoint) return done(fail(Kind::timeout, "{}", endpoint.error().detail));  // unknown whether a peer listens there
    transport_.connect(*endpoint, expected, done);
  });
}

// --- ends of attempts

std::function<void(Status)> Dialer::attempt_of(const transport::PeerId& peer, const Plan& plan, Way way) {
  return [this, peer, number = plan.number, way](const Status& result) { on_attempt(peer, number, way, result); };
}

void Dialer::on_attempt(const transport::PeerId& peer, std::uint64_t number, Way way, const Status& result) {
  const auto found = plans_.find(peer);
  if (found == plans_.end() || found->second.number != number) return;
  Plan& plan = found->second;
  --plan.running;
  if (!result) {
    log::debug("node", "a way to a peer failed", kv("peer", peer.hex()), kv("way", name(way)), kv("why", result.error().detail));
    if (way == Way::direct) plan.refused = result.error().kind == Kind::not_found;
    if (way == Way::relayed) begin_relayed(peer, plan);
  }
  finish_or_advance(peer, plan);
  arm();
}

// True also for a connection that the other side has made.
bool Dialer::is_reached(const transport::PeerId& peer, const Plan& plan) const {
  const auto met = transport_.connection_origin(peer);
  return met && (plan.purpose == Purpose::reach || met->way != Way::relayed);
}

void Dialer::finish_or_advance(const transport::PeerId& peer, Plan& plan) {
  if (is_reached(peer, plan)) return succeed(peer);
  if (plan.running > 0) return;
  if (plan.steps.empty()) return fail_plan(peer);
  std::ranges::min_element(plan.steps, {}, &Step::at)->at = Time::clock::now();  // no attempt is running: begin the next step at once
}

}  // namespace gw::node
