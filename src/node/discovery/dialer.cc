#include "node/discovery/dialer.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/log.h"

namespace gw::node {
namespace {

constexpr std::string_view kArea = "node";
constexpr std::size_t kMaxChanges = 8;   // of a contact, while one plan is carried out
constexpr std::size_t kMaxWaiting = 64;  // callbacks for one peer

bool leads_somewhere(const wire::Contact& contact) { return !contact.address.empty() || !contact.anchors.empty(); }

}  // namespace

Dialer::Dialer(Config config, boost::asio::io_context& io, transport::Transport& transport, NameResolver& names, Owner& owner)
    : config_(config),
      io_(io),
      transport_(transport),
      names_(names),
      owner_(owner),
      rng_(config.seed),
      memory_(config.remembered),
      due_(io),
      alive_(std::make_shared<bool>(true)) {}

Dialer::~Dialer() { *alive_ = false; }

void Dialer::stop() {
  stopped_ = true;
  due_.cancel();
}

// --- requests

void Dialer::send(const transport::PeerId& to, const wire::Contact& contact, PendingMessage message) {
  if (const auto met = transport_.connection_origin(to)) {
    if (met->way == transport::Way::relayed && leads_somewhere(contact)) note_relayed(to, contact);
    return hand_over(to, std::move(message));
  }
  if (Plan* plan = plan_for(to, contact, Purpose::reach)) keep(*plan, std::move(message));
  arm();
}

void Dialer::reach(const transport::PeerId& to, const wire::Contact& contact, Reached done) {
  const auto tell = [&](Status status) { boost::asio::post(io_, [done = std::move(done), status = std::move(status)] { done(status); }); };
  if (transport_.connected(to)) return tell(ok());
  Plan* plan = plan_for(to, contact, Purpose::reach);
  if (plan == nullptr) return tell(fail(Kind::not_found, "there is no way to the peer: it cannot be dialled and names no anchors"));
  if (plan->waiting.size() >= kMaxWaiting)
    return tell(fail(Kind::overloaded, "{} requests wait for this peer already", plan->waiting.size()));
  plan->waiting.push_back(std::move(done));
  arm();
}

void Dialer::dial(const std::string& address) {
  if (addresses_.size() >= config_.dials || !addresses_.insert(address).second) return;
  connect(address, std::nullopt, [this, address](const Result<transport::PeerId>& peer) {
    addresses_.erase(address);
    if (!peer) return log::info(kArea, "cannot reach a peer", kv("at", address), kv("why", peer.error().detail));
    owner_.on_reached(*peer, address);
  });
}

// The present plan for the peer, or a new one. nullptr: there is no way to it, or there are too many plans.
Dialer::Plan* Dialer::plan_for(const transport::PeerId& peer, const wire::Contact& contact, Purpose purpose) {
  if (const auto found = plans_.find(peer); found != plans_.end()) {
    Plan& plan = found->second;
    const bool was_upgrade = purpose == Purpose::reach && std::exchange(plan.purpose, purpose) == Purpose::upgrade;
    if (was_upgrade || (purpose == Purpose::reach && contact != plan.contact)) change(peer, plan, contact);
    return &plan;
  }
  std::vector<Step> steps = steps_for(peer, contact, purpose);
  if (steps.empty()) return nullptr;
  if (plans_.size() >= config_.dials) {
    log::debug(kArea, "message dropped: too many peers are being dialled");
    return nullptr;
  }
  Plan& plan = plans_[peer];
  plan.number = ++plans_made_;
  plan.purpose = purpose;
  plan.contact = contact;
  plan.steps = std::move(steps);
  return &plan;
}

// The peer has published a new contact since the attempts began: they go on, but their failure no longer decides.
void Dialer::change(const transport::PeerId& peer, Plan& plan, const wire::Contact& contact) {
  std::vector<Step> steps = steps_for(peer, contact, plan.purpose);
  if (steps.empty() || ++plan.changes > kMaxChanges) return;  // the next plan uses the new contact
  plan.number = ++plans_made_;
  plan.contact = contact;
  plan.steps = std::move(steps);
  plan.relays.clear();
  plan.running = 0;
}

// --- results

// A failure is only logged: every sender repeats its messages until they are answered.
void Dialer::hand_over(const transport::PeerId& to, PendingMessage message) {
  if (const Status sent = transport_.send(to, message.lane, std::move(message.bytes)); !sent)
    log::debug(kArea, "message dropped", kv("peer", to.hex()), kv("why", sent.error().detail));
}

void Dialer::keep(Plan& plan, PendingMessage message) const {
  if (plan.pending.size() >= config_.messages || message.bytes.size() > config_.bytes - plan.bytes)
    return log::debug(kArea, "message dropped: too many wait for this peer");
  plan.bytes += message.bytes.size();
  plan.pending.push_back(std::move(message));
}

void Dialer::succeed(const transport::PeerId& peer) {
  Plan plan = std::move(plans_.extract(peer).mapped());
  for (PendingMessage& message : plan.pending) hand_over(peer, std::move(message));
  for (const Reached& done : plan.waiting) done(ok());
}

void Dialer::fail_plan(const transport::PeerId& peer) {
  const Plan plan = std::move(plans_.extract(peer).mapped());
  if (plan.purpose == Purpose::upgrade) return;
  memory_.forget(peer);
  log::debug(kArea, "cannot reach a peer", kv("peer", peer.hex()));
  for (const Reached& done : plan.waiting) done(fail(Kind::timeout, "no way to the peer worked"));
  owner_.on_unreachable(peer, plan.refused ? Failure::refused : Failure::no_answer);
}

void Dialer::on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met) {
  memory_.remember(peer, met.way);
  const auto found = plans_.find(peer);
  if (met.way == transport::Way::relayed) {
    note_relayed(peer, found != plans_.end() ? found->second.contact : wire::Contact{});
  } else {
    upgrades_.erase(peer);
  }
  if (found != plans_.end()) succeed(peer);
}

void Dialer::on_disconnected(const transport::PeerId& peer, const transport::Ended& ended) {
  const auto lost = upgrades_.extract(peer);
  if (!lost || ended.cause != transport::Cause::carrier) return;
  plan_for(peer, lost.mapped().contact, Purpose::reach);
  arm();
}

// Schedules the search for a better way than the relay; at once if the peer's contact is new.
void Dialer::note_relayed(const transport::PeerId& peer, const wire::Contact& contact) {
  const auto [upgrade, fresh] = upgrades_.try_emplace(peer, Upgrade{contact, Time::clock::now() + config_.upgrade_soon});
  if (fresh) return arm();
  if (upgrade->second.contact == contact || !leads_somewhere(contact)) return;
  const bool first = !leads_somewhere(upgrade->second.contact);
  upgrade->second.contact = contact;
  if (!first) upgrade->second.at = Time::clock::now();
  arm();
}

}  // namespace gw::node
