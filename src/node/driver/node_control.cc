#include "node/driver/node_control.h"

#include <cstdlib>
#include <thread>

#include "base/metrics.h"
#include "node/driver/grid_orders.h"
#include "node/probe.h"
#include "os/clock.h"
#include "wire/plain_text.h"

namespace gw::node {
namespace {

constexpr std::size_t kMaxOutputPiece = 1u << 20;
constexpr std::size_t kMaxTaskPage = 1000;
constexpr std::size_t kMaxUploadBytes = 1u << 20;
constexpr std::chrono::seconds kPingPatience(10);

PeerView view_of(const overlay::Descriptor& peer, const std::string& grid) {
  return {.id = peer.id,
          .name = peer.name,
          .grid = grid,
          .address = peer.address,
          .reach = peer.reach,
          .slots = peer.slots,
          .free_slots = peer.free_slots};
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

}  // namespace

NodeControl::NodeControl(Parts parts, Config config)
    : parts_(std::move(parts)), config_(std::move(config)), job_views_(parts_.jobs), started_at_(std::chrono::system_clock::now()) {}

template <class T>
void NodeControl::on_output_thread(std::function<Result<T>()> read, std::function<void(Result<T>)> done) {
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  parts_.output_thread.add([this, read = std::move(read), done = std::move(done)] {
    auto found = std::make_shared<Result<T>>(read());  // shared with a task, which must be copyable
    parts_.disk.answer([this, found, done] {
      --disk_tasks_;
      done(std::move(*found));
    });
  });
}

template <class T>
void NodeControl::refuse(std::function<void(T)> done, Error why) {
  parts_.post([done = std::move(done), why = std::move(why)] { done(why); });
}

// --- blobs and jobs

void NodeControl::store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) {
  if (bytes.size() > kMaxUploadBytes)
    return refuse(std::move(done), fail(Kind::invalid, "a blob has at most 1 MiB, this one {} bytes", bytes.size()));
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  auto blob = std::make_shared<job::Blob>(job::Blob{hash, std::move(bytes)});  // shared with a task, which must be copyable
  parts_.output_thread.add([this, blob, done = std::move(done)] {
    const Hash256 found = sha256(as_bytes(blob->bytes));
    parts_.disk.answer([this, blob, found, done] {
      --disk_tasks_;
      if (found != blob->hash)
        return done(
            fail(Kind::corrupt, "the SHA-256 of the {} bytes received is {}, not {}", blob->bytes.size(), found.hex(), blob->hash.hex()));
      if (parts_.requests.add_upload(blob->hash, done)) parts_.ask(peer::Upload{std::move(*blob)});
    });
  });
}

void NodeControl::fetch(UrlRequest request, std::function<void(Result<UrlPieces>)> done) {
  constexpr std::size_t kPiecesAtOnce = 4;
  if (const auto closed = parts_.requests.closed()) return refuse(std::move(done), *closed);
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  const auto work = [this, request = std::move(request), done] {
    auto range = std::make_shared<Result<UrlRange>>(fail(Kind::disconnected, "the daemon stops"));
    if (!closing_) *range = UrlFetcher(config_.fetch).fetch(request.url, request.offset, kPiecesAtOnce * kMaxUploadBytes, request.version);
    parts_.disk.answer([this, range, done] {
      --disk_tasks_;
      *range ? store_pieces(std::move(**range), done) : done(range->error());
    });
  };
  if (fetch_thread_.try_add(work)) return;
  --disk_tasks_;
  refuse(std::move(done), too_many_requests());
}

void NodeControl::store_pieces(UrlRange range, std::function<void(Result<UrlPieces>)> done) {
  struct Storing {
    UrlPieces pieces;
    std::size_t waiting = 1;  // pieces, and this function
    Status status = ok();
    std::function<void(Result<UrlPieces>)> done;
    void end(const Status& stored) {
      if (!stored) status = stored;
      if (--waiting == 0) status ? done(std::move(pieces)) : done(status.error());
    }
  };
  auto storing = std::make_shared<Storing>();
  storing->pieces.total = range.total;
  storing->pieces.version = range.version;
  storing->done = std::move(done);
  for (std::size_t at = 0; at < range.bytes.size(); at += kMaxUploadBytes) {
    std::string piece = range.bytes.substr(at, kMaxUploadBytes);
    const Hash256 hash = sha256(as_bytes(piece));
    storing->pieces.pieces.push_back(hash);
    ++storing->waiting;
    store_blob(hash, std::move(piece), [storing](const Status& stored) { storing->end(stored); });
  }
  storing->end(ok());
}

void NodeControl::submit(const wire::pb::JobSubmission& submission, std::function<void(Result<job::JobId>)> done) {
  const auto bytes = [](const std::string& text) { return Bytes(text.begin(), text.end()); };
  if (parts_.requests.add_submit({sha256(as_bytes(submission.charter()))}, std::move(done)))
    parts_.ask(peer::Submit{bytes(submission.charter()), bytes(submission.manifest()), bytes(submission.row_inputs())});
}

void NodeControl::cancel(const job::JobId& id, std::function<void(Status)> done) {
  if (!job_views_.knows(id)) return refuse(std::move(done), fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()));
  if (job_views_.over(id)) return parts_.post([done = std::move(done)] { done(ok()); });
  if (parts_.requests.add_cancel(id, std::move(done))) parts_.ask(peer::Cancel{id});
}

std::optional<Error> NodeControl::not_running(const job::JobId& id) const {
  if (!job_views_.knows(id)) return fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex());
  if (job_views_.over(id)) return fail(Kind::invalid, "job {} has ended", id.brief());
  return std::nullopt;
}

void NodeControl::suspend(const job::JobId& id, std::function<void(Status)> done) {
  if (const auto why = not_running(id)) return refuse(std::move(done), *why);
  if (parts_.requests.add_suspend(id, std::move(done))) parts_.ask(peer::SuspendJob{id});
}

void NodeControl::resume(const job::JobId& id, std::function<void(Status)> done) {
  if (const auto why = not_running(id)) return refuse(std::move(done), *why);
  if (parts_.requests.add_resume(id, std::move(done))) parts_.ask(peer::ResumeJob{id});
}

Result<wire::pb::JobImage> NodeControl::image(const job::JobId& id) const {
  if (const auto why = not_running(id)) return *why;
  GW_TRY(const peer::Peer::SuspendedImage found, parts_.peer.suspended_image(id));
  wire::pb::JobImage image;
  image.set_root(wire::bytes_of(found.root));
  wire::write(found.stored, *image.mutable_stored());
  image.set_supplied_input(found.supplied_input);
  image.set_manifest(std::string(as_text(found.manifest)));
  return image;
}

void NodeControl::load_blob(const Hash256& hash, std::function<void(Result<std::string>)> done) {
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  parts_.disk.with_blobs([this, hash, done = std::move(done)](BlobStore& blobs) {
    auto loaded = std::make_shared<Result<std::string>>(blobs.load(hash));  // shared with a task, which must be copyable
    parts_.disk.answer([this, loaded, done] {
      --disk_tasks_;
      done(std::move(*loaded));
    });
  });
}

void NodeControl::forget(const job::JobId& id, std::function<void(Status)> done) {
  if (!job_views_.knows(id)) return refuse(std::move(done), fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()));
  if (!job_views_.over(id)) return refuse(std::move(done), fail(Kind::invalid, "job {} has not ended: cancel it first", id.brief()));
  if (parts_.requests.closed()) return refuse(std::move(done), *parts_.requests.closed());
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  parts_.ask(peer::Forget{id});
  parts_.disk.after_records([this, done = std::move(done)] {
    --disk_tasks_;
    done(ok());
  });
}

void NodeControl::supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) {
  if (parts_.requests.add_input(id, piece, std::move(done))) parts_.ask(peer::SupplyInput{id, piece, std::move(bytes)});
}

// --- views

NodeView NodeControl::node() const {
  double load = 0;
  (void)::getloadavg(&load, 1);  // 0 where the system does not say
  const peer::Reachability& reachability = parts_.peer.reachability();
  std::vector<std::string> anchors;
  for (const wire::Anchor& anchor : reachability.contact().anchors) anchors.push_back(anchor.address);
  return {.id = config_.self,
          .name = config_.name,
          .boot = config_.boot,
          .version = config_.version,
          .addresses = config_.addresses,
          .slots = config_.share.cores,
          .free_slots = parts_.peer.slots().free_slots(),
          .relayed_for_others = parts_.transport.totals().relayed.bytes,
          .started_at = started_at_,
          .state = config_.state,
          .share = config_.share,
          .not_lending = parts_.peer.lender().lending().closed().value_or(""),
          .workers_fail = parts_.peer.lender().lending().workers_fail(),
          .capacity = parts_.peer.lender().capacity(),
          .reach = reachability.contact().reach,
          .dialled_back = static_cast<std::uint32_t>(reachability.verdict().reached),
          .not_dialled_back = static_cast<std::uint32_t>(reachability.verdict().missed),
          .anchors = std::move(anchors),
          .load = load,
          .cores = std::thread::hardware_concurrency(),
          .workers = static_cast<std::uint32_t>(parts_.workers.size()),
          .storage = storage()};
}

StorageView NodeControl::storage() const {
  const peer::PastJobs& past = parts_.peer.past();
  return {.finished_jobs = past.all().size(),
          .finished_bytes = past.bytes(),
          .keep_for = std::chrono::duration_cast<std::chrono::seconds>(past.config().age),
          .keep_bytes = past.config().bytes,
          .free_bytes = parts_.disk.room().free_bytes,
          .full = parts_.disk.room().full,
          .lent_threads = parts_.peer.budget().used().threads,
          .lent_bytes = parts_.peer.budget().used().bytes,
          .lent_limit = parts_.peer.budget().limits().all.bytes,
          .cache_bytes = parts_.peer.blobs().cache().bytes(),
          .cache_limit = parts_.peer.blobs().cache().limit(),
          .cache_hits = parts_.peer.blobs().cache().hits(),
          .cache_hit_bytes = parts_.peer.blobs().cache().hit_bytes()};
}

std::vector<PeerView> NodeControl::peers() const {
  std::map<transport::PeerId, PeerView::Link> links;
  for (const auto& [id, met, traffic] : parts_.transport.peers()) links[id] = {met.way, traffic.bytes_in, traffic.bytes_out};
  std::vector<PeerView> views;
  for (const peer::Grid* one : parts_.peer.grids().in_order()) {
    const overlay::Overlay& grid = one->overlay;
    const std::string& name = one->credentials.name;
    views.push_back(view_of(grid.self(), name));
    views.back().state = PeerView::State::self;
    views.back().capacity = parts_.peer.lender().capacity();
    if (one->credentials.revoked()) continue;  // members refuse this peer
    for (const overlay::Overlay::Known& known : grid.all()) {
      views.push_back(view_of(known, name, os::monotonic_now()));
      if (const job::Capacity* said = parts_.peer.measures().capacity_of(known.descriptor.id)) views.back().capacity = *said;
      views.back().network_speed = parts_.peer.measures().network_speed_of(known.descriptor.id);
      if (const auto link = links.find(known.descriptor.id.hash); link != links.end()) views.back().link = link->second;
    }
  }
  return views;
}

std::string NodeControl::name_of(const job::PeerId& peer) const {
  if (peer == config_.self) return config_.name;
  std::string known = parts_.peer.grids().name_of(peer);
  return known.empty() ? parts_.names.name_of(peer) : known;
}

JobView NodeControl::with_peer_states(JobView view) const {
  for (JobPeerView& peer : view.peers) {
    peer.name = name_of(peer.id);
    const bool self = peer.id == config_.self;
    peer.state = self ? PeerView::State::self : parts_.peer.grids().alive(peer.id) ? PeerView::State::alive : PeerView::State::silent;
  }
  return view;
}

// Threads and peers of a job that is over are only on disk.
void NodeControl::job(const job::JobId& id, std::function<void(Result<JobView>)> done) {
  auto view = job_views_.view(id);
  if (!view) return refuse(std::move(done), view.error());
  const std::uint32_t bytes = job_views_.details_bytes(id);
  if (bytes == 0) return parts_.post([done, shown = with_peer_states(*std::move(view))] { done(shown); });
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  parts_.output_thread.add([this, id, bytes, end = parts_.disk.output_end(id), known = *std::move(view), done = std::move(done)]() mutable {
    auto details = parts_.output.details(id, end, bytes);
    if (details) {
      known = JobViews::past_view(id, *details);
    } else {
      known.summary.sentence = fmt::format("the list of its threads is lost: {}", details.error().detail);
    }
    parts_.disk.answer([this, known = std::move(known), done = std::move(done)]() mutable {
      --disk_tasks_;
      done(with_peer_states(std::move(known)));
    });
  });
}

void NodeControl::ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) {
  if (parts_.requests.closed()) return refuse(std::move(done), *parts_.requests.closed());
  if (peer == config_.self) return parts_.post([this, done] { done(PingView{.way = "self", .version = config_.version}); });
  if (parts_.transport.connected(peer.hash)) return ask_probe(peer, std::move(done));
  parts_.dialer.reach(peer.hash, parts_.peer.grids().contact_of(peer), [this, peer, done](const Status& reached) {
    if (!reached) return done(reached.error());
    ask_probe(peer, done);
  });
}

void NodeControl::ask_probe(const job::PeerId& peer, std::function<void(Result<PingView>)> done) {
  const auto met = parts_.transport.connection_origin(peer.hash);
  const job::Time asked = os::monotonic_now();
  const auto answered = [asked, met, done](const Result<Bytes>& answer) {
    auto pong = answer ? read_probe_answer(*answer, os::monotonic_now() - asked) : Result<PingView>(answer.error());
    if (pong && met) {
      pong->way = name(met->way);
      pong->remote = text_of(met->remote);
    }
    done(pong);
  };
  const Status sent = parts_.transport.request(peer.hash, transport::Lane::control, make_probe(), kPingPatience, answered);
  if (!sent) refuse(std::move(done), sent.error());
}

void NodeControl::set_transport_metrics() const {
  using metrics::Metric;
  const transport::Transport::Totals totals = parts_.transport.totals();
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

std::string NodeControl::metrics() {
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
  metrics::set(Metric::images_kept, parts_.peer.keeper().size());
  metrics::set(Metric::slots, config_.share.cores);
  metrics::set(Metric::slots_free, parts_.peer.slots().free_slots());
  metrics::set(Metric::workers_running, parts_.workers.size());
  set_transport_metrics();
  return metrics::text();
}

// --- output and events of jobs

void NodeControl::read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                              std::function<void(Result<OutputPiece>)> done) {
  auto request = job_views_.output(id, stream, offset, std::min(limit, kMaxOutputPiece));
  if (!request) return refuse(std::move(done), request.error());
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  request->end = parts_.disk.output_end(id);
  parts_.output_thread.add([this, request = *request, done = std::move(done)] {
    parts_.disk.answer([this, done, piece = parts_.output.read(request)] {
      --disk_tasks_;
      done(piece);
    });
  });
}

void NodeControl::read_frames(const job::JobId& id, const FrameQuery& query, std::function<void(Result<OutputFrames>)> done) {
  auto source = job_views_.source(id);
  if (!source) return refuse(std::move(done), source.error());
  source->end = parts_.disk.output_end(id);
  FrameQuery limited = query;
  limited.limit = std::min(query.limit, kMaxOutputPiece);
  on_output_thread<OutputFrames>([this, source = *source, limited] { return parts_.tasks.frames(source, limited); }, std::move(done));
}

// The list of the tasks of a job that is over is on disk, in its details.
void NodeControl::tasks(const job::JobId& id, const job::TaskQuery& query, std::function<void(Result<job::TaskPage>)> done) {
  auto source = job_views_.source(id);
  if (!source) return refuse(std::move(done), source.error());
  source->end = parts_.disk.output_end(id);
  job::TaskQuery limited = query;
  limited.limit = std::min(query.limit, kMaxTaskPage);
  std::optional<job::TaskPage> running;
  if (auto page = job_views_.tasks(id, limited)) running = *std::move(page);
  const std::uint32_t bytes = job_views_.details_bytes(id);
  if (!running && bytes == 0) return refuse(std::move(done), fail(Kind::not_found, "the tasks of job {} were not recorded", id.brief()));
  on_output_thread<job::TaskPage>(
      [this, source = *source, limited, bytes, running = std::move(running)]() -> Result<job::TaskPage> {
        job::TaskPage page;
        if (running) {
          page = *running;
        } else {
          GW_TRY(const wire::pb::JobRecord details, parts_.output.details(source.job, source.end, bytes));
          GW_TRY(const job::TaskStates states, job::states_of(details));
          page = job::page_of(states, limited, source.tasks);
          job::add_details(details, page);
        }
        GW_TRY_VOID(parts_.tasks.complete(source, page.tasks));
        return page;
      },
      std::move(done));
}

void NodeControl::manifest(const job::JobId& id, std::function<void(Result<std::string>)> done) {
  if (!job_views_.knows(id)) return refuse(std::move(done), fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()));
  if (const job::Manifest* running = job_views_.manifest(id))
    return parts_.post([done, bytes = running->content().SerializeAsString()] { done(bytes); });
  on_output_thread<std::string>(
      [this, id, end = parts_.disk.output_end(id), bytes = job_views_.details_bytes(id)]() -> Result<std::string> {
        GW_TRY(const wire::pb::JobRecord details, parts_.output.details(id, end, bytes));
        return details.manifest();
      },
      std::move(done));
}

Result<std::vector<JobEvent>> NodeControl::events(const job::JobId& id, std::uint64_t from, std::size_t limit) const {
  return job_views_.events(id, from, limit);
}

Result<std::unique_ptr<Subscription>> NodeControl::watch(const job::JobId& id, std::function<void()> changed) {
  return job_views_.watch(id, std::move(changed));
}

// --- grids

std::vector<GridView> NodeControl::grids() const {
  std::vector<GridView> views;
  for (const peer::Grid* grid : parts_.peer.grids().in_order()) views.push_back(view_of(*grid));
  return views;
}

// The addresses of this peer, those that its grids have published first.
std::vector<std::string> NodeControl::own_addresses() const {
  std::vector<std::string> addresses = config_.addresses;
  for (const peer::Grid* grid : parts_.peer.grids().in_order()) {
    const std::string& published = grid->overlay.self().address;
    if (!published.empty() && std::ranges::find(addresses, published) == addresses.end()) addresses.insert(addresses.begin(), published);
  }
  return addresses;
}

void NodeControl::change_grids(GridOrder order, std::function<void(Result<std::string>)> done) {
  const auto number = parts_.requests.add_grid_request(std::move(done));
  if (!number) return;
  auto request = to_request(order, {*number, config_.name, own_addresses()});
  if (!request) return parts_.requests.on_event(job::GridAnswered{*number, request.error()});
  parts_.ask(*std::move(request));
}

// --- the share

// A worker's part of memory and CPU time is in proportion to its part of the slots.
WorkerShare NodeControl::share_of(const job::JobId& job) const {
  const Share& share = config_.share;
  const job::SlotLeases::Grant* const grant = parts_.peer.slots().find(job);
  const std::uint32_t slots = grant == nullptr ? 1 : grant->slots;
  WorkerShare part{.percent = share.cpu_percent, .nice = share.nice};
  if (share.memory_bytes > 0) part.resident_bytes = share.memory_bytes / std::max(share.cores, 1u) * slots;
  if (share.cpu_percent < 100) part.processors = slots * share.cpu_percent / 100.0;
  return part;
}

// Where the owner sets no limit, the workers together may use what one may (default_worker_memory()).
CapacityWatch::Lent NodeControl::lent() const {
  const Share& share = config_.share;
  const std::uint64_t memory = share.memory_bytes > 0 ? share.memory_bytes : default_worker_memory();
  const std::uint64_t used = parts_.peer.budget().used().bytes, limit = parts_.peer.budget().limits().all.bytes;
  CapacityWatch::Lent lent{.capacity = {}, .cpu_percent = share.cpu_percent, .nice = share.nice};
  lent.capacity.set_memory_bytes(memory / std::max(share.cores, 1u));
  lent.capacity.set_disk_bytes(std::min(parts_.disk.room().free_bytes, limit - std::min(used, limit)));
  for (const std::string& tag : share.tags) lent.capacity.add_tags(tag);
  return lent;
}

std::vector<HostedJobView> NodeControl::hosted() const {
  std::vector<HostedJobView> views;
  const WallTime now = std::chrono::system_clock::now();
  for (const auto& [id, grant] : parts_.peer.slots().grants()) {
    using State = HostedJobView::State;
    const WorkerTable::Use use = parts_.workers.use_of(id);
    const auto hosted_job = parts_.peer.hosted_jobs().find(id);
    views.push_back({.id = id,
                     .home = grant.home,
                     .home_name = name_of(grant.home),
                     .state = grant.draining_until != job::kNever ? State::leaving
                              : grant.claimed                     ? State::claimed
                                                                  : State::reserved,
                     .slots = grant.slots,
                     .memory_bytes = use.resident_bytes,
                     .owner = grant.consumer,
                     .program = hosted_program(id),
                     .since = now - std::chrono::duration_cast<WallTime::duration>(os::monotonic_now() - grant.since),
                     .cpu_time = std::chrono::duration_cast<std::chrono::milliseconds>(use.cpu_time),
                     .lanes = hosted_job == parts_.peer.hosted_jobs().end() ? 0 : hosted_job->second->lanes(),
                     .priority = grant.priority});
  }
  return views;
}

std::vector<BalanceView> NodeControl::balance() const {
  std::vector<BalanceView> views;
  for (const auto& [name, entry] : parts_.peer.lender().balance().entries())
    views.push_back({.peer = name.peer,
                     .user = name.user,
                     .given_slot_seconds = std::chrono::duration<double>(entry.given).count(),
                     .used_slot_seconds = std::chrono::duration<double>(entry.used).count(),
                     .given_bytes = entry.given_bytes,
                     .used_bytes = entry.used_bytes,
                     .changed_at = WallTime(std::chrono::duration_cast<WallTime::duration>(entry.changed_at))});
  return views;
}

// The first argument of the job, as the manifest has it. A stranger may have written it: the gateway and the command line show it as text.
std::string NodeControl::hosted_program(const job::JobId& job) const {
  constexpr std::size_t kMost = 80;
  const auto found = parts_.peer.hosted_jobs().find(job);
  const job::Manifest* manifest = found == parts_.peer.hosted_jobs().end() ? nullptr : found->second->manifest();
  if (manifest == nullptr || manifest->content().config().args().empty()) return "";
  return wire::plain_text(manifest->content().config().args(0), kMost);
}

void NodeControl::share(const ShareChange& change, std::function<void(Result<Share>)> done) {
  const auto& closed = parts_.requests.closed();
  const Result<Share> next = closed ? Result<Share>(*closed) : changed(config_.share, change);
  if (!next) return refuse(std::move(done), next.error());
  if (disk_tasks_ >= kMaxDiskTasks) return refuse(std::move(done), too_many_requests());
  ++disk_tasks_;
  parts_.disk.with_blobs([this, next = *next, file = config_.share_file, done = std::move(done)](BlobStore&) {
    Status stored = file.empty() ? ok() : save_share(file, next);
    parts_.disk.answer([this, next, stored = std::move(stored), done] {
      --disk_tasks_;
      if (!stored) return done(stored.error());
      apply_share(next);
      done(next);
    });
  });
}

void NodeControl::begin() {
  parts_.owner.set(config_.share.rules.when, config_.share.nice);
  parts_.capacity.begin([this] { return lent(); });
  parts_.limit_bandwidth(config_.share.bandwidth_bytes_per_s);
}

// Changes the slots first, because a worker's part depends on them. A job that uses more memory than its new part moves to other peers
// instead of being killed.
void NodeControl::apply_share(const Share& share) {
  config_.share = share;
  peer::SetSlots order{.slots = share.cores,
                       .memory_bytes = share.memory_bytes,
                       .vacate = {},
                       .caps = {.slots_per_origin = share.slots_per_peer, .jobs_per_origin = share.jobs_per_peer},
                       .budget = budget_of(share),
                       .rules = share.rules,
                       .idle_after = std::chrono::seconds(share.idle_after_seconds),
                       .cache_bytes = share.cache_bytes};
  parts_.ask(order);
  parts_.owner.set(share.rules.when, share.nice);
  parts_.capacity.look();
  parts_.limit_bandwidth(share.bandwidth_bytes_per_s);
  parts_.workers.set_nice(share.nice);
  order.vacate = parts_.workers.hold([this](const job::JobId& job) { return share_of(job); });
  if (!order.vacate.empty()) parts_.ask(order);
}

}  // namespace gw::node
