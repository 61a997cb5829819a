// What people ask of a peer.

#include <boost/asio/post.hpp>
#include <cstdlib>
#include <thread>

#include "base/metrics.h"
#include "node/driver/driver.h"
#include "node/probe.h"
#include "os/clock.h"
#include "wire/peer_messages.h"

namespace gw::node {
namespace {

constexpr std::size_t kMaxOutputPiece = 1u << 20;
constexpr std::size_t kMaxUploadBytes = 1u << 20;
constexpr std::chrono::seconds kPingPatience(10);

PeerView view_of(const overlay::Descriptor& peer, const std::string& grid) {
  return {.id = peer.id, .grid = grid, .address = peer.address, .reach = peer.reach, .slots = peer.slots, .free_slots = peer.free_slots};
}

PeerView view_of(const overlay::Overlay::Known& known, const std::string& grid, job::Time now) {
  using State = overlay::Overlay::Known::State;
  PeerView view = view_of(known.descriptor, grid);
  view.state = known.state == State::alive       ? PeerView::State::alive
               : known.state == State::suspected ? PeerView::State::suspected
                                                 : PeerView::State::silent;
  if (known.distance > job::Time(0)) view.distance = std::chrono::duration_cast<std::chrono::microseconds>(known.distance);
  if (known.last_seen != job::kNever) view.heard = std::chrono::duration_cast<std::chrono::milliseconds>(now - known.last_seen);
  return view;
}

Error too_much() { return fail(Kind::overloaded, "too many requests are under way: try again later"); }

}  // namespace

void Driver::post(std::function<void()> callback) {
  boost::asio::post(io_, [alive = alive_, callback = std::move(callback)] {
    if (*alive) callback();
  });
}

// --- blobs and jobs

void Driver::store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) {
  const auto refuse = [&](Error why) { post([done, why = std::move(why)] { done(why); }); };
  if (bytes.size() > kMaxUploadBytes) return refuse(fail(Kind::invalid, "a blob has at most 1 MiB, this one {} bytes", bytes.size()));
  if (stopping_) return refuse(fail(Kind::disconnected, "the daemon stops"));
  if (uploads_.size() >= kMaxPending) return refuse(too_much());
  uploads_.emplace(hash, std::move(done));
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Upload{{hash, std::move(bytes)}}, out); });
}

void Driver::submit(Bytes signed_charter, Bytes manifest, std::function<void(Result<job::JobId>)> done) {
  const auto refuse = [&](Error why) { post([done, why = std::move(why)] { done(why); }); };
  if (stopping_) return refuse(fail(Kind::disconnected, "the daemon stops"));
  if (submits_.size() >= kMaxPending) return refuse(too_much());
  submits_.emplace(job::JobId{sha256(signed_charter)}, std::move(done));
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Submit{std::move(signed_charter), std::move(manifest)}, out); });
}

void Driver::cancel(const job::JobId& id, std::function<void(Status)> done) {
  const auto answer = [&](Status status) { post([done, status = std::move(status)] { done(status); }); };
  if (!job_views_->knows(id)) return answer(fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()));
  if (job_views_->over(id)) return answer(ok());
  if (cancels_.size() >= kMaxPending) return answer(too_much());
  cancels_.emplace(id, std::move(done));
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Cancel{id}, out); });
}

void Driver::supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) {
  const auto refuse = [&](Error why) { post([done, why = std::move(why)] { done(why); }); };
  if (stopping_) return refuse(fail(Kind::disconnected, "the daemon stops"));
  if (inputs_.size() >= kMaxPending) return refuse(too_much());
  inputs_.emplace(std::pair(id, piece), std::move(done));
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::SupplyInput{id, piece, std::move(bytes)}, out); });
}

void Driver::answer_requests(const job::Event& event) {
  const auto answer = [this](auto& waiting, const auto& id, const auto& result) {
    const auto [first, last] = waiting.equal_range(id);
    for (auto request = first; request != last; ++request) post([done = request->second, result] { done(result); });
    waiting.erase(first, last);
  };
  if (const auto* uploaded = std::get_if<job::BlobUploaded>(&event)) answer(uploads_, uploaded->hash, ok());
  if (const auto* refused = std::get_if<job::BlobRefused>(&event)) answer(uploads_, refused->hash, Status(refused->error));
  if (const auto* accepted = std::get_if<job::JobAccepted>(&event)) answer(submits_, accepted->job, Result<job::JobId>(accepted->job));
  if (const auto* refused = std::get_if<job::JobRefused>(&event)) answer(submits_, refused->job, Result<job::JobId>(refused->error));
  if (const auto* stored = std::get_if<job::InputStored>(&event)) answer(inputs_, std::pair(stored->job, stored->piece), ok());
  if (const auto* refused = std::get_if<job::InputRefused>(&event))
    answer(inputs_, std::pair(refused->job, refused->piece), Status(refused->error));
  if (const auto* answered = std::get_if<job::GridAnswered>(&event)) on_grid_answer(*answered);
  if (const auto* over = std::get_if<job::JobOver>(&event)) answer(cancels_, over->job, ok());
}

void Driver::fail_requests(const Error& why) {
  for (const auto& [hash, done] : std::exchange(uploads_, {})) done(why);
  for (const auto& [id, done] : std::exchange(submits_, {})) done(why);
  for (const auto& [id, done] : std::exchange(cancels_, {})) done(why);
  for (const auto& [piece, done] : std::exchange(inputs_, {})) done(why);
  for (const auto& [number, done] : std::exchange(grid_requests_, {})) done(why);
}

void Driver::stop() { post(config_.on_stop); }

// --- what is shown

NodeView Driver::node() const {
  double load = 0;
  (void)::getloadavg(&load, 1);  // 0 where the system does not say
  const peer::Reachability& reachability = peer_->reachability();
  std::vector<std::string> anchors;
  for (const wire::Anchor& anchor : reachability.contact().anchors) anchors.push_back(anchor.address);
  return {.id = {identity_.id()},
          .boot = config_.boot,
          .version = config_.version,
          .addresses = addresses_,
          .slots = config_.share.cores,
          .free_slots = peer_->slots().free_slots(),
          .relayed_for_others = transport_->totals().relayed.bytes,
          .started_at = started_at_,
          .state = config_.state,
          .share = config_.share,
          .reach = reachability.contact().reach,
          .dialled_back = static_cast<std::uint32_t>(reachability.verdict().reached),
          .not_dialled_back = static_cast<std::uint32_t>(reachability.verdict().missed),
          .anchors = std::move(anchors),
          .load = load,
          .cores = std::thread::hardware_concurrency(),
          .workers = static_cast<std::uint32_t>(workers_.size())};
}

std::vector<PeerView> Driver::peers() const {
  std::map<transport::PeerId, PeerView::Link> links;
  for (const auto& [id, met, traffic] : transport_->peers()) links[id] = {met.way, traffic.bytes_in, traffic.bytes_out};
  std::vector<PeerView> views;
  for (const peer::Grid* one : peer_->grids().in_order()) {
    const overlay::Overlay& grid = one->overlay;
    const std::string& name = one->credentials.name;
    views.push_back(view_of(grid.self(), name));
    views.back().state = PeerView::State::self;
    if (one->credentials.revoked()) continue;  // nobody speaks to it there any more
    for (const overlay::Overlay::Known& known : grid.all()) {
      views.push_back(view_of(known, name, os::monotonic_now()));
      if (const auto link = links.find(known.descriptor.id.hash); link != links.end()) views.back().link = link->second;
    }
  }
  return views;
}

Result<JobView> Driver::job(const job::JobId& id) const {
  GW_TRY(JobView view, job_views_->view(id));
  for (JobPeerView& peer : view.peers) {
    const bool self = peer.id.hash == identity_.id();
    peer.state = self ? PeerView::State::self : peer_->grids().alive(peer.id) ? PeerView::State::alive : PeerView::State::silent;
  }
  return view;
}

void Driver::ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) {
  if (stopping_) return post([done] { done(fail(Kind::disconnected, "the daemon stops")); });
  if (peer.hash == identity_.id()) return post([this, done] { done(PingView{.way = "self", .version = config_.version}); });
  if (transport_->connected(peer.hash)) return ask_probe(peer, std::move(done));
  dialer_->reach(peer.hash, peer_->grids().contact_of(peer), [this, peer, done](const Status& reached) {
    if (!reached) return done(reached.error());
    ask_probe(peer, done);
  });
}

void Driver::ask_probe(const job::PeerId& peer, std::function<void(Result<PingView>)> done) {
  const auto met = transport_->connection_origin(peer.hash);
  const job::Time asked = os::monotonic_now();
  const auto answered = [asked, met, done](const Result<Bytes>& answer) {
    auto pong = answer ? read_probe_answer(*answer, os::monotonic_now() - asked) : Result<PingView>(answer.error());
    if (pong && met) {
      pong->way = name(met->way);
      pong->remote = text_of(met->remote);
    }
    done(pong);
  };
  const Status sent = transport_->request(peer.hash, transport::Lane::control, make_probe(), kPingPatience, answered);
  if (!sent) post([done, why = sent.error()] { done(why); });
}

void Driver::set_transport_metrics() const {
  using metrics::Metric;
  const transport::Transport::Totals totals = transport_->totals();
  metrics::set(Metric::connections_direct, totals.connections[0]);
  metrics::set(Metric::connections_reverse, totals.connections[1]);
  metrics::set(Metric::connections_relayed, totals.connections[2]);
  std::uint64_t in = 0, out = 0;
  for (const transport::Traffic& traffic : totals.traffic) {
    in += traffic.bytes_in;
    out += traffic.bytes_out;
  }
  metrics::set(Metric::bytes_received, in);
  metrics::set(Metric::bytes_sent, out);
  metrics::set(Metric::relay_circuits, totals.circuits);
  metrics::set(Metric::relay_bytes, totals.relayed.bytes);
  metrics::set(Metric::relay_refused, totals.relayed.refused);
}

std::string Driver::metrics() {
  using metrics::Metric;
  std::uint64_t known = 0, alive = 0, running = 0, waiting = 0;
  for (const PeerView& view : peers()) {
    ++known;
    alive += view.state == PeerView::State::alive || view.state == PeerView::State::self ? 1 : 0;
  }
  for (const JobSummary& job : jobs()) {
    running += job.state == JobState::running ? 1 : 0;
    waiting += job.waiting;
  }
  metrics::set(Metric::peers_known, known);
  metrics::set(Metric::peers_alive, alive);
  metrics::set(Metric::jobs_running, running);
  metrics::set(Metric::threads_waiting, waiting);
  metrics::set(Metric::images_kept, peer_->keeper().size());
  metrics::set(Metric::slots, config_.share.cores);
  metrics::set(Metric::slots_free, peer_->slots().free_slots());
  metrics::set(Metric::workers_running, workers_.size());
  set_transport_metrics();
  return metrics::text();
}

void Driver::read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                         std::function<void(Result<OutputPiece>)> done) {
  auto request = job_views_->output(id, stream, offset, std::min(limit, kMaxOutputPiece));
  if (!request || reads_ >= kMaxPending) return post([done, why = request ? too_much() : request.error()] { done(why); });
  ++reads_;
  request->end = disk_.output_end(id);
  output_thread_.add([this, request = *request, done = std::move(done)] {
    disk_.answer([this, done, piece = output_.read(request)] {
      --reads_;
      done(piece);
    });
  });
}

Result<std::vector<JobEvent>> Driver::events(const job::JobId& id, std::uint64_t from, std::size_t limit) const {
  return job_views_->events(id, from, limit);
}

Result<std::unique_ptr<Subscription>> Driver::watch(const job::JobId& id, std::function<void()> changed) {
  return job_views_->watch(id, std::move(changed));
}

}  // namespace gw::node
