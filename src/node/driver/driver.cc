#include "node/driver/driver.h"

#include <random>

#include "base/log.h"
#include "base/metrics.h"
#include "node/driver/grid_orders.h"
#include "node/driver/message_lane.h"
#include "node/probe.h"
#include "os/clock.h"
#include "wire/grid_name.h"
#include "wire/messages/peer_messages.h"

namespace gw::node {
namespace {

using metrics::Metric;

// A passed deadline fires after a short delay, not at once: a machine with a constant past deadline must not keep the loop busy.
constexpr job::Time kSoonest = std::chrono::milliseconds(1);

// A message costs tens of microseconds here, much more than its transmission: one peer must not fill this thread with messages.
constexpr TokenBucket::Config kReadFrames{.per_second = 50e3, .burst = 100e3}, kReadBytes{.per_second = 1e9, .burst = 1e9};

peer::Link link_of(const transport::ConnectionOrigin& met) {
  const bool ours = met.dialer == transport::Dialer::us;
  if (met.way == transport::Way::relayed) return ours ? peer::Link::relayed : peer::Link::carried;
  if (met.way == transport::Way::reverse) return peer::Link::reversed;
  return ours ? peer::Link::dialled : peer::Link::accepted;
}

void count(const job::Event& event) {
  if (std::holds_alternative<job::JobAccepted>(event)) metrics::count(Metric::jobs_accepted);
  if (std::holds_alternative<job::JobOver>(event)) metrics::count(Metric::jobs_over);
  if (std::holds_alternative<job::ThreadPlaced>(event)) metrics::count(Metric::threads_placed);
  if (std::holds_alternative<job::HostLost>(event)) metrics::count(Metric::hosts_lost);
  if (const auto* seen = std::get_if<job::PeerSeen>(&event)) metrics::count(seen->alive ? Metric::peers_came : Metric::peers_went);
}

}  // namespace

// --- start and shutdown

std::uint64_t Driver::random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Driver::Driver(Parts parts, Config config)
    : io_(parts.io),
      identity_(parts.identity),
      signer_(parts.identity),
      config_(std::move(config)),
      names_(parts.io),
      loop_(parts.io, disk_),
      workers_({loop_, parts.code, *this}, {.process = config_.worker, .spares = config_.spare_workers}),
      requests_([this](std::function<void()> callback) { loop_.post(std::move(callback)); }),
      owner_(parts.io, {[this](const job::LendingConditions& conditions) { ask(peer::SetConditions{conditions}); },
                        [this] { return workers_.cpu_time(); }}),
      capacity_(parts.io, {.worker = config_.worker.program,
                           .tell = [this](peer::SetCapacity measured) { ask(std::move(measured)); },
                           .idle = [this] { return workers_.size() == 0; },
                           .workers_time = [this] { return workers_.cpu_time(); }}),
      deadline_(parts.io),
      alive_(std::make_shared<bool>(true)),
      disk_(parts.io, std::move(parts.stores), *this),
      output_(disk_.output_folder()),
      tasks_(disk_.output_folder()),
      output_thread_({.name = "gw-output", .waiting = NodeControl::kMaxDiskTasks}) {}

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
  std::uint16_t port = 0;  // of the first endpoint, which is announced to others
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

// Listens at the endpoint, or at the next free port.
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
  if (config_.invitations.empty()) config.grids.otherwise = config_.first_grid;
  config.grids.overlay.address = addresses_.empty() ? "" : addresses_.front();
  config.grids.overlay.name = config_.name;
  config.grids.overlay.known = config_.join;
  config.reachability.address = config.grids.overlay.address;
  dialer_->set_self({.address = config.reachability.address});
  config.slots.slots = config_.share.cores;
  config.slots.caps = {
      .self = {identity_.id()}, .slots_per_origin = config_.share.slots_per_peer, .jobs_per_origin = config_.share.jobs_per_peer};
  config.memory_bytes = config_.share.memory_bytes;
  config.lender.lending = {
      .owner = config_.owner, .rules = config_.share.rules, .idle_after = std::chrono::seconds(config_.share.idle_after_seconds)};
  config.budget = budget_of(config_.share);
  config.blobs.cache.bytes = config_.share.cache_bytes;
  const peer::Peer::Identity identity{
      .self = {identity_.id()}, .key = identity_.public_key(), .boot = config_.boot, .wall_offset = os::wall_now() - os::monotonic_now()};
  peer_ = std::make_unique<peer::Peer>(config, identity, signer_, Rng(random_seed()));
  job_views_ = std::make_unique<JobViews>(*peer_, config_.boot);
  make_control();
  Actions actions;
  GW_TRY_VOID(peer_->start(os::monotonic_now(), stored, actions));
  job_views_->recall(stored, std::chrono::system_clock::now());
  started_ = true;
  carry_out(std::move(actions));
  finish_wakeup();
  // Start does not wait until a holder of the grid's key has answered.
  for (const wire::Invitation& invitation : config_.invitations) {
    const peer::Grid* there = peer_->grids().find(wire::private_grid(invitation.grid_key));
    if (there != nullptr && !there->credentials.revoked()) continue;
    log::info(kArea, "asking to be let into a grid", kv("grid", invitation.name), kv("at", invitation.addresses.front()));
    ask(to_request(invitation, config_.name));
  }
  start_discovery();
  control_->begin();
  refill_workers();
  return ok();
}

void Driver::make_control() {
  const auto asked = [this](peer::Request request) { ask(std::move(request)); };
  const auto post = [this](std::function<void()> callback) { loop_.post(std::move(callback)); };
  control_ = std::make_unique<NodeControl>(
      NodeControl::Parts{*peer_, *job_views_, machine_names_, requests_, workers_, *transport_, *dialer_, disk_, output_thread_, output_,
                         tasks_, owner_, capacity_, asked, [this](std::uint64_t limit) { limit_bandwidth(limit); }, post},
      NodeControl::Config{.self = {identity_.id()},
                          .boot = config_.boot,
                          .version = config_.version,
                          .name = config_.name,
                          .state = config_.state,
                          .addresses = addresses_,
                          .share = config_.share,
                          .share_file = config_.share_file,
                          .fetch = config_.fetch,
                          .on_stop = config_.on_stop});
  tickets_ = std::make_unique<TicketQuestions>(
      TicketQuestions::Parts{*peer_, *job_views_, *transport_, *dialer_, signer_, post},
      TicketQuestions::Config{.self = {identity_.id()}, .key = identity_.public_key(), .addresses = addresses_});
}

void Driver::start_discovery() {
  const auto asked = [this](peer::Request request) { ask(std::move(request)); };
  Discovery::Config config{.trackers = config_.trackers, .seed = random_seed()};
  if (config_.discovery == Config::Discovery::on) config.lan_port = listen_port_;
  discovery_ = std::make_unique<Discovery>(Discovery::Parts{io_, names_, *peer_, asked}, config);
  discovery_->start();
}

// The threads that run here save their last images, so that no work is repeated where they continue.
asio::awaitable<void> Driver::drain() {
  constexpr std::chrono::milliseconds kLook{20};
  if (peer_->hosted_jobs().empty()) co_return;
  log::info(kArea, "threads are leaving", kv("jobs", peer_->hosted_jobs().size()));
  const auto until = std::chrono::steady_clock::now() + kDrainTime;
  ask(peer::SetSlots{.slots = 0, .vacate = {}, .drain_for = kDrainTime});
  asio::steady_timer timer(io_);
  while (!stopping_ && !peer_->hosted_jobs().empty() && std::chrono::steady_clock::now() < until) {
    timer.expires_after(kLook);
    co_await timer.async_wait(transport::kAsTuple);
  }
}

asio::awaitable<void> Driver::shut_down() {
  if (started_ && !failure_) co_await drain();
  if (started_) {
    turn([this](job::Time now, Actions& out) { peer_->leave(now, out); });
    flush_records();
  }
  stopping_ = true;
  deadline_.cancel();
  owner_.stop();
  capacity_.stop();
  workers_.end_all();
  requests_.close(fail(Kind::disconnected, "the daemon stops"));
  if (dialer_) dialer_->stop();
  if (discovery_) co_await discovery_->stop();
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
  finish_wakeup_later();
}

void Driver::carry_out(Actions actions) {
  for (job::Action& action : actions) std::visit([this](auto& what) { act(what); }, action);
}

// Handlers that are ready now run before a handler posted now, so their turns belong to one wake-up.
void Driver::finish_wakeup_later() {
  if (std::exchange(wakeup_ends_, true)) return;
  loop_.post([this] {
    wakeup_ends_ = false;
    finish_wakeup();
  });
}

void Driver::finish_wakeup() {
  if (stopping_) return;
  flush_records();
  if (job_views_->end_turn(std::chrono::system_clock::now())) job_views_->wake();
  arm();
}

void Driver::flush_records() {
  if (!unwritten_) return;
  metrics::count(Metric::record_batches);
  disk_.persist(*std::exchange(unwritten_, std::nullopt));
}

void Driver::arm() {
  job::Time next = std::min(peer_->next_deadline(), workers_.next_deadline());
  if (const auto paced = pacer_.next(std::chrono::steady_clock::now())) next = std::min<job::Time>(next, paced->time_since_epoch());
  if (next >= armed_) return;
  armed_ = next;
  const job::Time at = std::max(next, os::monotonic_now() + kSoonest);
  deadline_.expires_at(std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::steady_clock::duration>(at)));
  deadline_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive) on_deadline();
  });
}

void Driver::on_deadline() {
  armed_ = job::kNever;
  workers_.on_deadline(os::monotonic_now());
  send_paced();
  turn([this](job::Time at, Actions& out) { peer_->on_tick(at, out); });
}

// --- inputs

void Driver::ask(peer::Request request) {
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, std::move(request), out); });
}

void Driver::on_worker(job::WorkerId worker, peer::WorkerFrame frame) {
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, worker, std::move(frame), out); });
}

void Driver::on_restore_failed(job::WorkerId worker, const peer::RestoreFailed& failed) {
  log::warn(kArea, "image cannot be read", kv("worker", worker.value()), kv("why", failed.why));
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, worker, failed, out); });
}

void Driver::on_worker_progress(job::WorkerId worker) {
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, worker, peer::WorkerProgress{}, out); });
}

void Driver::on_worker_lost(job::WorkerId worker, const Death& death) {
  log::warn(kArea, "worker lost", kv("worker", worker.value()), kv("why", death.sentence));
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, worker, peer::WorkerDied{death.sentence, death.tasks}, out); });
}

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

// An orderly close is not a failure: a peer that leaves a grid announces that with `Leave`.
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
  if (pacer_.limited() && carries_content(message->job()) && is_for_others(*message))
    pacer_.on_received(std::chrono::steady_clock::now(), message->job(), bytes.size());
  turn([&](job::Time now, Actions& out) { peer_->on_message(now, {from}, *message, out); });
}

void Driver::on_request(const transport::RequestId& request, Bytes bytes) {
  if (wire::looks_like_question(bytes) && tickets_) return tickets_->on_question(os::monotonic_now(), request, bytes);
  (void)transport_->answer(request, transport::Lane::control, answer_probe(bytes, config_.version));
}

void Driver::on_disk(peer::DiskDone done) {
  turn([&](job::Time now, Actions& out) { peer_->on_disk(now, done, out); });
}

// A disk that cannot be written to: nothing can be made durable any more, so stop.
void Driver::on_disk_failed(const Error& error) {
  log::error(kArea, "the disk failed, so this daemon stops", kv("why", error.detail));
  stopping_ = true;
  failure_ = error;
  requests_.close(error);
  config_.on_stop();
}

// --- actions: network

void Driver::act(job::Send& send) {
  if (!pacer_.limited() || !is_for_others(send.message)) return this->send(std::move(send));
  const auto now = std::chrono::steady_clock::now();
  if (send.message.job().has_blob()) return pacer_.add_blob(std::move(send));
  if (send.message.job().has_want_blob()) return pacer_.add_request(now, std::move(send));
  if (carries_content(send.message.job())) pacer_.on_sent(now, send.message.ByteSizeLong());
  this->send(std::move(send));
}

bool Driver::is_for_others(const job::PeerMessage& message) const {
  return message.has_job() && !peer_->homes().contains(job::JobId::from(message.job().job()));
}

void Driver::limit_bandwidth(std::uint64_t bytes_per_s) {
  pacer_.set_limit(std::chrono::steady_clock::now(), bytes_per_s);
  send_paced();
}

void Driver::send_paced() {
  for (job::Send& due : pacer_.take_due(std::chrono::steady_clock::now())) send(std::move(due));
}

void Driver::send(job::Send send) {
  const auto bytes = wire::encode(send.message);
  if (!bytes) return log::error(kArea, "a message of ours is too long", kv("why", bytes.error().detail));
  const auto lane = carries_content(send.message.job()) ? transport::Lane::bulk : transport::Lane::control;
  metrics::count(Metric::messages_sent);
  dialer_->send(send.to.hash, send.contact, {lane, *bytes});
}

void Driver::act(job::DialBack& dial) {
  const auto told = [this, peer = dial.peer](const std::string& address, bool reached) {
    turn([&](job::Time now, Actions& out) { peer_->on_connection(now, peer, peer::DialledBack{address, reached}, out); });
  };
  const auto met = transport_->connection_origin(dial.peer.hash);
  if (!met || met->way == transport::Way::relayed) return loop_.post([told] { told("", false); });
  const Endpoint where(met->remote.address(), dial.port);
  transport_->probe(where, dial.peer.hash, [told, where](const Status& there) { told(text_of(where), there.has_value()); });
}

void Driver::act(job::Publish& publish) {
  std::set<transport::PeerId> anchors;
  for (const wire::Anchor& anchor : publish.contact.anchors) anchors.insert(anchor.peer.hash);
  transport_->keep(std::move(anchors));
  dialer_->set_self(publish.contact);
}

// Posted, because the transport reports the end at once, and no input may come inside a turn.
void Driver::act(job::Disconnect& disconnect) {
  loop_.post([this, ended = std::move(disconnect)] { transport_->disconnect(ended.peer.hash, ended.why); });
}

void Driver::act(job::StartWorker& start) {
  workers_.start(start, control_->share_of(start.job));
  loop_.post([this] { refill_workers(); });  // prepare the next worker too
}

void Driver::refill_workers() {
  if (Status refilled = workers_.refill(); !refilled) log::warn(kArea, "no spare worker", kv("why", refilled.error().detail));
}

void Driver::act(job::KillWorker& kill) {
  if (!kill.broken_rule.empty()) log::warn(kArea, "worker refused", kv("worker", kill.worker.value()), kv("why", kill.broken_rule));
  workers_.kill(kill.worker);
}

// --- actions: disk

void Driver::act(job::Persist& persist) {
  if (!unwritten_) {
    unwritten_ = std::move(persist);
    return;
  }
  unwritten_->ticket = persist.ticket;
  std::ranges::move(persist.records, std::back_inserter(unwritten_->records));
  std::ranges::move(persist.appends, std::back_inserter(unwritten_->appends));
}

// Flush first: the data must be deleted after the records that stop naming it.
void Driver::act(job::DropRecords& drop) {
  flush_records();
  disk_.drop_records(std::move(drop));
}

void Driver::act(job::DropOutput& drop) {
  flush_records();
  job_views_->forget(drop.job);
  output_thread_.add([this, job = drop.job] {
    output_.forget(job);
    tasks_.forget(job);
  });
  disk_.drop_output(drop.job);
}

void Driver::act(job::DropBlob& drop) {
  flush_records();
  metrics::count(Metric::blobs_dropped);
  disk_.drop(drop.hash);
}

void Driver::act(job::StoreBlob& store) {
  metrics::count(Metric::blobs_stored);
  disk_.store(std::move(store));
}

void Driver::act(job::LoadBlob& load) {
  metrics::count(Metric::blobs_loaded);
  disk_.load(load.hash);
}

// --- actions: notices to users

void Driver::act(job::Notify& notify) {
  count(notify.event);
  if (const auto* refused = std::get_if<job::PeerRefused>(&notify.event))
    log::warn(kArea, "peer refused", kv("peer", refused->peer.hash.hex()), kv("name", peer_->grids().name_of(refused->peer)),
              kv("why", refused->sentence));
  if (const auto* damaged = std::get_if<job::RecordsDamaged>(&notify.event))
    log::error(kArea, "records are damaged", kv("what", damaged->sentence));
  if (const auto* seen = std::get_if<job::PeerSeen>(&notify.event)) {
    machine_names_.note(seen->peer, peer_->grids().name_of(seen->peer));
    log::info(kArea, seen->alive ? "peer is there" : "peer is gone", kv("peer", seen->peer.hash.hex()),
              kv("name", machine_names_.name_of(seen->peer)));
  }
  if (const auto* answered = std::get_if<job::GridAnswered>(&notify.event); answered != nullptr && answered->request == 0) {
    if (answered->error) {
      log::warn(kArea, "not let into a grid", kv("why", answered->error->detail));
    } else {
      log::info(kArea, "let into a grid", kv("grid", answered->text));
    }
  }
  job_views_->on_event(std::chrono::system_clock::now(), notify.event);
  requests_.on_event(notify.event);
}

}  // namespace gw::node
