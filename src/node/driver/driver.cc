#include "node/driver/driver.h"

#include <random>

#include "base/log.h"
#include "base/metrics.h"
#include "node/probe.h"
#include "os/clock.h"
#include "wire/grid_name.h"
#include "wire/peer_messages.h"

namespace gw::node {
namespace {

using metrics::Metric;

// A deadline that has passed comes soon, not at once: nothing here may keep the loop busy by itself.
constexpr job::Time kSoonest = std::chrono::milliseconds(1);

// A message costs tens of microseconds here, much more than its way: no peer may fill this thread with them alone.
constexpr TokenBucket::Config kReadFrames{.per_second = 50e3, .burst = 100e3}, kReadBytes{.per_second = 1e9, .burst = 1e9};

peer::Link link_of(const transport::ConnectionOrigin& met) {
  const bool ours = met.dialer == transport::Dialer::us;
  if (met.way == transport::Way::relayed) return ours ? peer::Link::relayed : peer::Link::carried;
  if (met.way == transport::Way::reverse) return peer::Link::reversed;
  return ours ? peer::Link::dialled : peer::Link::accepted;
}

}  // namespace

// --- beginning and end

std::uint64_t Driver::random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Driver::Driver(Parts parts, Config config)
    : io_(parts.io),
      identity_(parts.identity),
      code_(parts.code),
      signer_(parts.identity),
      config_(std::move(config)),
      started_at_(std::chrono::system_clock::now()),
      names_(parts.io),
      pool_(config_.worker, config_.spare_workers),
      deadline_(parts.io),
      alive_(std::make_shared<bool>(true)),
      disk_(parts.io, std::move(parts.stores), *this),
      output_(disk_.output_folder()),
      output_thread_({.name = "gw-output", .waiting = kMaxPending}) {}

Driver::~Driver() { *alive_ = false; }

Status Driver::start() {
  GW_TRY(const peer::Stored stored, disk_.stored());
  GW_TRY_VOID(listen());
  return start_peer(stored);
}

Status Driver::listen() {
  transport::Receiver& receiver = *this;
  const transport::Transport::Config config{.boot = config_.boot, .connection = {.read_frames = kReadFrames, .read_bytes = kReadBytes}};
  GW_TRY(transport_, transport::Transport::make(io_, identity_, receiver, config));
  std::uint16_t port = 0;  // of the first, which is the one that others are told
  for (const Endpoint& where : config_.listen) {
    GW_TRY(const Endpoint bound, listen_at(where));
    addresses_.push_back(text_of(bound));
    if (listen_port_ == 0) listen_port_ = bound.port();
    if (!config_.advertise.empty()) addresses_.back() = fmt::format("{}:{}", config_.advertise, bound.port());
    if (port == 0) port = bound.port();
    log::info(kArea, "listening", kv("at", text_of(bound)), kv("as", addresses_.back()));
  }
  Dialer::Owner& owner = *this;
  dialer_ = std::make_unique<Dialer>(Dialer::Config{.port = port, .seed = random_seed()}, io_, *transport_, names_, owner);
  return ok();
}

// There, or at the next port that is free.
Result<Endpoint> Driver::listen_at(Endpoint where) {
  for (std::uint16_t tried = 1;; ++tried) {
    auto bound = transport_->listen(where);
    if (bound || bound.error().kind != Kind::overloaded || tried >= config_.ports) return bound;
    where.port(static_cast<std::uint16_t>(where.port() + 1));
  }
}

Status Driver::start_peer(const peer::Stored& stored) {
  peer::Peer::Config config = config_.peer;
  config.grids.grids = config_.grids;
  if (config_.invitations.empty()) config.grids.otherwise = wire::kDefaultGrid;
  config.grids.overlay.address = addresses_.empty() ? "" : addresses_.front();
  config.grids.overlay.known = config_.join;
  config.reachability.address = config.grids.overlay.address;
  dialer_->set_self({.address = config.reachability.address});
  config.slots.slots = config_.share.cores;
  config.slots.caps = {
      .self = {identity_.id()}, .slots_per_origin = config_.share.slots_per_peer, .jobs_per_origin = config_.share.jobs_per_peer};
  config.memory_bytes = config_.share.memory_bytes;
  const peer::Peer::Identity identity{
      .self = {identity_.id()}, .key = identity_.public_key(), .boot = config_.boot, .wall_offset = os::wall_now() - os::monotonic_now()};
  peer_ = std::make_unique<peer::Peer>(config, identity, signer_, Rng(random_seed()));
  job_views_ = std::make_unique<JobViews>(*peer_, config_.boot);
  Actions actions;
  GW_TRY_VOID(peer_->start(os::monotonic_now(), stored, actions));
  job_views_->recall(stored, std::chrono::system_clock::now());
  started_ = true;
  carry_out(std::move(actions));
  arm();
  accept_invitations();
  start_discovery();
  if (Status started = pool_.refill(); !started) log::warn(kArea, "no spare worker", kv("why", started.error().detail));
  return ok();
}

asio::awaitable<void> Driver::shut_down() {
  if (started_) turn([this](job::Time now, Actions& out) { peer_->leave(now, out); });
  stopping_ = true;
  deadline_.cancel();
  workers_.clear();
  fail_requests(fail(Kind::disconnected, "the daemon stops"));
  if (dialer_) dialer_->stop();
  if (lan_) lan_->stop();
  if (trackers_) co_await trackers_->stop();
  if (transport_) co_await transport_->stop();
}

// --- turns

void Driver::turn(const std::function<void(job::Time, Actions&)>& input) {
  if (stopping_) return;
  GW_ASSERT(!std::exchange(in_turn_, true));
  Actions actions;
  input(os::monotonic_now(), actions);
  carry_out(std::move(actions));
  in_turn_ = false;
  if (job_views_->end_turn(std::chrono::system_clock::now()) && !std::exchange(wake_posted_, true))
    post([this] {
      wake_posted_ = false;
      job_views_->wake();
    });
  arm();
}

void Driver::carry_out(Actions actions) {
  for (job::Action& action : actions) std::visit([this](auto& what) { act(what); }, action);
}

void Driver::arm() {
  job::Time next = peer_->next_deadline();
  for (const auto& [id, worker] : workers_) next = std::min(next, worker.process->next_deadline());
  if (next >= armed_ || stopping_) return;
  armed_ = next;
  const job::Time at = std::max(next, os::monotonic_now() + kSoonest);
  deadline_.expires_at(std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::steady_clock::duration>(at)));
  deadline_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive) on_deadline();
  });
}

void Driver::on_deadline() {
  armed_ = job::kNever;
  const job::Time now = os::monotonic_now();
  std::vector<job::WorkerId> due;
  for (const auto& [id, worker] : workers_)
    if (worker.process->next_deadline() <= now) due.push_back(id);
  for (const job::WorkerId id : due) on_worker_ready(id);
  turn([this](job::Time at, Actions& out) { peer_->on_tick(at, out); });
}

// --- what happens

void Driver::on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met) {
  dialer_->on_connected(peer, met);
  turn([&](job::Time now, Actions& out) { peer_->on_connection(now, {peer}, peer::Connected{"", link_of(met)}, out); });
}

void Driver::on_reached(const transport::PeerId& peer, const std::string& address) {
  turn([&](job::Time now, Actions& out) { peer_->on_connection(now, {peer}, peer::Connected{address, peer::Link::dialled}, out); });
}

void Driver::on_unreachable(const transport::PeerId& peer, Dialer::Failure failure) {
  metrics::count(Metric::dials_failed);
  const auto told = failure == Dialer::Failure::refused ? overlay::Failure::refused : overlay::Failure::no_answer;
  turn([&](job::Time now, Actions& out) { peer_->on_connection(now, {peer}, peer::Unreachable{told}, out); });
}

// A goodbye says nothing about who is there: whoever leaves a grid says so in it.
void Driver::on_disconnected(const transport::PeerId& peer, const transport::Ended& ended) {
  metrics::count(Metric::connections_ended);
  dialer_->on_disconnected(peer, ended);
  const bool broken = ended.cause == transport::Cause::reset || ended.cause == transport::Cause::silent;
  const peer::Connection event = broken ? peer::Connection(peer::Reset{}) : peer::Closed{};
  turn([&](job::Time now, Actions& out) { peer_->on_connection(now, {peer}, event, out); });
}

void Driver::on_message(const transport::PeerId& from, transport::Lane, Bytes bytes) {
  const auto message = wire::decode_peer_message(bytes);
  metrics::count(Metric::messages_received);
  if (!message) {
    metrics::count(Metric::messages_refused);
    log::warn(kArea, "message refused", kv("peer", from.hex()), kv("why", message.error().detail));
    return transport_->disconnect(from, message.error().detail);
  }
  turn([&](job::Time now, Actions& out) { peer_->on_message(now, {from}, *message, out); });
}

void Driver::on_request(const transport::RequestId& request, Bytes bytes) {
  (void)transport_->answer(request, transport::Lane::control, answer_probe(bytes, config_.version));
}

void Driver::on_disk(peer::DiskDone done) {
  turn([&](job::Time now, Actions& out) { peer_->on_disk(now, done, out); });
}

// Nothing can be promised any more.
void Driver::on_disk_failed(const Error& error) {
  log::error(kArea, "the disk failed, so this daemon stops", kv("why", error.detail));
  stopping_ = true;
  failure_ = error;
  fail_requests(error);
  config_.on_stop();
}

}  // namespace gw::node
