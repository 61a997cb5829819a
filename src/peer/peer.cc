#include "peer/peer.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"
#include "peer/message_kinds.h"

namespace gw::peer {

using job::Home;
using job::HostedJob;
using job::Manifest;
using job::Send;

namespace {

constexpr Time kReportPeriod = std::chrono::minutes(10);
constexpr std::size_t kReported = 64;

Grids::Config in_wall_time(Grids::Config config, Time offset) {
  config.wall_offset = offset;
  return config;
}

// Limits per origin do not apply to this peer's own jobs.
job::SlotLeases::Config of_self(job::SlotLeases::Config config, const PeerId& self) {
  config.caps.self = self;
  return config;
}

}  // namespace

Peer::Peer(const Config& config, const Identity& identity, const overlay::Signer& signer, Rng rng)
    : config_(config),
      identity_(identity),
      signer_(signer),
      rng_(rng),
      grids_(in_wall_time(config.grids, identity.wall_offset), {identity.self, identity.key, identity.boot}, signer, rng_),
      reachability_(
          config.reachability, [this](const PeerId& peer) { return grids_.contact_of(peer); }, Rng(rng_.next())),
      grid_administration_(config.grid_administration, {identity.self, identity.key, identity.wall_offset, grids_, rng_}),
      strangers_({kReportPeriod, 1, kReported}),
      boot_numbers_(config.boot_numbers),
      authorities_(config.authorities, identity.self),
      slots_(of_self(config.slots, identity.self), identity.boot),
      blobs_(config.blobs, [this](const JobId& job) { return holders_of(job); }),
      swarm_(
          config.swarm, blobs_, [this](const JobId& job) { return holders_of(job); },
          [this](const PeerId& peer) { return grids_.distance(peer); }, Rng(rng_.next())),
      chunk_uploads_(config.chunk_uploads, blobs_, swarm_, Rng(rng_.next())),
      images_(config.images, blobs_),
      budget_(config.budget),
      keeper_(config.keeper, {grids_, images_, authorities_, budget_}),
      past_(config.past),
      uploads_(config.uploads, blobs_),
      memory_bytes_(config.memory_bytes),
      disk_queue_(config.disk_queue),
      lender_(config.lender, {identity.self, identity.wall_offset}, {grids_, authorities_, slots_, hosted_jobs_, homes_}),
      measures_(config.measures),
      history_(config.history),
      searches_(config.searches, {identity.self, signer, grids_}),
      introductions_(config.introductions),
      router_(config.router, {authorities_, slots_, blobs_, swarm_, chunk_uploads_, keeper_, homes_, hosted_jobs_}, router_environment()) {
  lender_.on_resized(memory_bytes_);
  grids_.set_slots(slots_.slots(), lender_.announced_slots());
}

JobRouter::Environment Peer::router_environment() {
  return {.self = identity_.self,
          .signer = signer_,
          .grids = grids_,
          .disk_is_behind = [this] { return disk_full() || disk_queue_.behind(); },
          .disk_is_full = [this] { return disk_full(); },
          .searches = searches_,
          .terms = std::bind_front(&Lender::terms, &lender_),
          .on_no_slot =
              [this](Time now, const job::SlotLeases::Wanted& wanted, Actions& out) {
                if (const auto grant = slots_.make_room(wanted, now + config_.drain_for)) drain(now, {*grant}, out);
                return lender_.who_holds_slots(wanted);
              },
          .introduction = [this](const job::Charter& charter) { return grid_of(charter)->overlay.introduction(); },
          .capacity = [this] { return lender_.capacity(); },
          .on_capacity = std::bind_front(&PeerMeasures::on_capacity, &measures_),
          .memory_for = [this](std::uint32_t slots) { return memory_bytes_ / std::max(1u, slots_.slots()) * slots; },
          .make_hosted_job =
              [this](const HostedJob::Claim& claim) {
                const auto& grid = authorities_.find(claim.job)->charter().grid();
                const auto excess = std::bind_front(&Lender::excess, &lender_, claim.job);
                return std::make_unique<HostedJob>(
                    config_.hosted_job,
                    HostedJob::Environment{identity_.self, blobs_, swarm_, images_, next_worker_, budget_, grid, excess}, claim);
              }};
}

// --- turns

// Hands the records to the disk and holds back the actions that wait for them. Messages of the peer to itself are delivered at once.
void Peer::finish_turn(Time now, Actions& turn, std::vector<Action>& out) {
  std::deque<Action> ready;
  for (;;) {
    for (const PeerId& peer : std::exchange(turn.watched_peers, {})) grids_.watch_peer(now, peer, turn);
    apply_peer_changes(now, turn);
    give_up_lost_blobs(now, turn);
    apply_image_changes(now, turn);
    look_up_keys(now, turn);
    publish(turn);
    tell_wounded(turn);
    apply_job_changes(now, turn);
    lender_.deal(now, turn);
    grids_.set_slots(slots_.slots(), lender_.announced_slots());
    disk_queue_.add(turn, ready);
    turn = Actions();
    while (!ready.empty() && turn.empty()) {
      Action action = std::move(ready.front());
      ready.pop_front();
      if (auto* send = std::get_if<Send>(&action)) {
        dispatch(now, std::move(*send), turn, out);
      } else {
        out.push_back(std::move(action));
      }
    }
    if (ready.empty() && turn.empty() && !images_.has_changes() && touched_.empty()) return;
  }
}

void Peer::dispatch(Time now, Send send, Actions& turn, std::vector<Action>& out) {
  if (send.message.has_job()) {
    std::optional<JobMessage> roster = router_.prepare(send.to, *send.message.mutable_job());
    if (roster) dispatch(now, job::to_peer(send.to, JobId::from(roster->job()), std::move(*roster)), turn, out);
  }
  if (send.to == identity_.self) return deliver(now, identity_.self, send.message, turn);
  send.message.set_version(wire::kPeerProtocol);
  send.message.set_boot(identity_.boot);
  if (!send.message.has_overlay()) {
    send.contact = grids_.contact_of(send.to);
    if (is_of_job(send.message)) grids_.watch_peer(now, send.to, turn);
  }
  count_sent(now, send.to, send.message.job());
  out.push_back(std::move(send));
}

void Peer::on_disk(Time now, const DiskDone& done, std::vector<Action>& out) {
  Actions turn;
  if (const auto* persisted = std::get_if<Persisted>(&done)) {
    disk_queue_.on_persisted(persisted->ticket, turn.now);
  } else if (const auto* stored = std::get_if<BlobStored>(&done)) {
    blobs_.on_stored(stored->hash);
    uploads_.on_stored(stored->hash, turn);
    images_.on_stored(stored->hash, turn);
    chunk_uploads_.on_stored(now, stored->hash, turn);
    for (const JobId& job : blobs_.jobs_of(stored->hash)) {
      if (const auto home = homes_.find(job); home != homes_.end()) {
        touched_.insert(job);
        home->second->on_blob_stored(now, stored->hash, turn);
      }
      const auto hosted_job = hosted_jobs_.find(job);
      if (hosted_job == hosted_jobs_.end()) continue;
      touched_.insert(job);
      hosted_job->second->on_blob_stored(now, stored->hash, turn);
    }
  } else if (const auto* loaded = std::get_if<BlobLoaded>(&done)) {
    blobs_.on_loaded(loaded->hash, loaded->bytes, turn);
    if (!loaded->bytes) on_blob_damaged(now, loaded->hash);
    images_.on_loaded(now, loaded->hash, loaded->bytes, turn);
    for (const JobId& job : blobs_.jobs_of(loaded->hash)) {
      const auto hosted_job = hosted_jobs_.find(job);
      if (hosted_job == hosted_jobs_.end()) continue;
      touched_.insert(job);
      hosted_job->second->on_loaded(now, loaded->hash, loaded->bytes, turn);
    }
  } else if (const auto* lost = std::get_if<BlobLost>(&done)) {
    on_blob_damaged(now, lost->hash);
  } else if (const auto* room = std::get_if<DiskRoom>(&done)) {
    GW_REACHED("peer: the disk became full, or has room again");
    blobs_.set_disk_full(room->full);
  }
  finish_turn(now, turn, out);
}

void Peer::on_message(Time now, const PeerId& from, const PeerMessage& message, std::vector<Action>& out) {
  Actions turn;
  const BootNumbers::Change change = boot_numbers_.on_seen(now, from, message.boot());
  if (change == BootNumbers::Change::newer) {
    GW_REACHED("peer: another one was restarted");
    end_life(now, from, turn);
  }
  if (change == BootNumbers::Change::older) {
    turn.notify(job::PeerRefused{from, fmt::format("it sent a message of its life {}, which is over", message.boot())});
  } else if (introduce_host(now, from, message.job(), turn); admits(now, from, message, turn)) {
    if (!message.has_overlay()) grids_.on_seen(now, from, turn);
    deliver(now, from, message, turn);
  }
  finish_turn(now, turn, out);
}

// A peer that offers slots may be farther away than any peer that this one knows. It describes itself and nobody else: with descriptors of
// ever new peers it would displace the partners that are needed.
void Peer::introduce_host(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (!message.offer().has_host() || overlay::read(message.offer().host(), signer_).id != from) return;
  const auto home = homes_.find(JobId::from(message.job()));
  if (home == homes_.end() || !introductions_.admit(now, from)) return;
  if (const Grid* grid = grid_of(home->second->charter())) grids_.introduce(now, grid->credentials.id, message.offer().host(), out);
}

// Messages about jobs are taken only from peers that are, or may be, in a grid with this peer.
bool Peer::admits(Time now, const PeerId& from, const PeerMessage& message, Actions& out) {
  if (is_for_everybody(message) || grids_.admits(now, from)) return true;
  if (strangers_.admit(now, from))
    out.notify(job::PeerRefused{from, "it speaks of jobs and has shown no membership of a grid of this peer"});
  return false;
}

void Peer::on_connection(Time now, const PeerId& peer, const Connection& event, std::vector<Action>& out) {
  Actions turn;
  if (const auto* connected = std::get_if<Connected>(&event)) {
    if (connected->link == Link::accepted || !connected->address.empty()) grids_.on_connected(now, peer, connected->address, turn);
    grid_administration_.on_connected(now, peer, connected->address, turn);
    reachability_.on_connected(now, peer, connected->link);
  } else if (const auto* dialled = std::get_if<DialledBack>(&event)) {
    PeerMessage::DialedBack result;
    result.set_address(dialled->address);
    result.set_reached(dialled->reached);
    reachability_.on_dialled(peer, result, turn);
  } else if (std::holds_alternative<Closed>(event)) {
    reachability_.on_disconnected(now, peer);
  } else if (const auto* unreachable = std::get_if<Unreachable>(&event)) {
    grids_.on_unreachable(now, peer, unreachable->failure, turn);
  } else {
    GW_REACHED("peer: a connection broke");
    reachability_.on_disconnected(now, peer);
    grids_.on_reset(now, peer, turn);
  }
  finish_turn(now, turn, out);
}

void Peer::leave(Time now, std::vector<Action>& out) {
  Actions turn;
  grids_.leave(now, turn);
  finish_turn(now, turn, out);
}

// Everything the peer had in its earlier boot is lost, in all grids.
void Peer::end_life(Time now, const PeerId& peer, Actions& out) {
  router_.on_peer_restarted(peer);
  swarm_.on_peer_gone(now, peer, out);
  chunk_uploads_.on_peer_gone(now, peer, out);
  for (auto& [job, home] : homes_) {
    touched_.insert(job);
    home->on_peer_lost(now, peer, out);
  }
}

void Peer::deliver(Time now, const PeerId& from, const PeerMessage& message, Actions& out) {
  switch (message.kind_case()) {
    case PeerMessage::kJob:
      touched_.insert(JobId::from(message.job().job()));
      count_received(now, from, message.job());
      // A peer that only claims to take part is not watched: the number of watched peers is limited.
      if (router_.on_message(now, from, message.job(), out)) grids_.watch_peer(now, from, out);
      return;
    case PeerMessage::kOverlay:
      return grids_.on_message(now, from, message.overlay(), out);
    case PeerMessage::kDialBack:
      return reachability_.on_dial_back(now, from, static_cast<std::uint16_t>(message.dial_back().port()), out);
    case PeerMessage::kDialedBack:
      return reachability_.on_answer(now, from, message.dialed_back());
    case PeerMessage::kAdmit:
      return grid_administration_.on_admit(now, from, message.admit(), out);
    case PeerMessage::kAdmitted:
      return grid_administration_.on_admitted(now, from, message.admitted(), out);
    case PeerMessage::kRevocations:
      return grid_administration_.on_revocations(now, from, message.revocations(), out);
    case PeerMessage::KIND_NOT_SET:
      return;
  }
}

// The members of a job that might have its blobs.
std::vector<PeerId> Peer::holders_of(const JobId& job) {
  const job::Authority* const authority = authorities_.find(job);
  std::vector<PeerId> holders = authority == nullptr ? std::vector<PeerId>() : authority->members();
  std::erase(holders, identity_.self);
  return holders;
}

void Peer::give_up_lost_blobs(Time now, Actions& out) {
  for (const Hash256& hash : swarm_.take_unserved()) blobs_.ask_members(now, hash);
  for (const Hash256& hash : blobs_.take_lost()) {
    images_.on_lost(hash);
    chunk_uploads_.on_lost(hash, out);
    for (const JobId& job : blobs_.jobs_of(hash))
      if (const auto home = homes_.find(job); home != homes_.end() && blobs_.is_shared(hash, job)) home->second->on_blob_lost(hash);
    for (auto& [job, hosted_job] : hosted_jobs_) {
      touched_.insert(job);
      hosted_job->on_code_lost(now, hash, out);
    }
  }
}

void Peer::apply_peer_changes(Time now, Actions& out) {
  for (const PeerId& seen : grids_.take_newly_seen()) grid_administration_.on_seen(now, seen, out);
  for (const Grids::Lost& lost : grids_.take_losses()) {
    swarm_.on_peer_gone(now, lost.peer, out);
    chunk_uploads_.on_peer_gone(now, lost.peer, out);
    for (auto& [job, home] : homes_) {
      if (grid_of(home->charter()) != grids_.find(lost.grid)) continue;
      touched_.insert(job);
      home->on_peer_lost(now, lost.peer, out);
    }
  }
}

void Peer::look_up_keys(Time now, Actions& out) {
  for (;;) {
    for (const job::KeyLookup& lookup : std::exchange(out.lookups, {})) {
      const auto home = homes_.find(lookup.job);
      const Grid* grid = home == homes_.end() ? nullptr : grid_of(home->second->charter());
      if (grid == nullptr) continue;
      const GridId id = grid->credentials.id;
      lookups_[{id, grids_.place(now, id, lookup.key, out)}] = {lookup.job, lookup.slot};
    }
    const std::vector<Grids::KeyAnswer> answers = grids_.take_key_answers();
    if (answers.empty()) return;
    for (const Grids::KeyAnswer& answer : answers) {
      const auto lookup = lookups_.extract({answer.grid, answer.number});
      if (lookup.empty()) continue;
      const auto& [job, slot] = lookup.mapped();
      touched_.insert(job);
      if (const auto home = homes_.find(job); home != homes_.end()) home->second->on_located(now, slot, answer.peer, out);
    }
  }
}

// Another peer may have the blob: it is asked for again. Its users wait until it comes or is reported lost.
void Peer::on_blob_damaged(Time now, const Hash256& hash) {
  blobs_.on_lost(now, hash);
  images_.on_damaged(hash);
}

void Peer::apply_image_changes(Time now, Actions& out) {
  for (const job::ImageTrees::Change& change : images_.take_changes()) {
    keeper_.on_image_change(change, out);
    const auto hosted_job = hosted_jobs_.find(change.name.job);
    if (hosted_job == hosted_jobs_.end()) continue;
    touched_.insert(change.name.job);
    hosted_job->second->on_image_change(now, change, out);
  }
}

void Peer::on_worker(Time now, WorkerId worker, FromWorker event, std::vector<Action>& out) {
  Actions turn;
  const JobId* const found = worker_jobs_.job_of(worker);
  if (found == nullptr) return;  // killed meanwhile
  HostedJob& hosted_job = *hosted_jobs_.at(*found);
  touched_.insert(*found);
  if (auto* died = std::get_if<WorkerDied>(&event)) {
    hosted_job.on_worker_died(now, std::move(died->why), died->tasks, turn);
  } else if (std::holds_alternative<WorkerProgress>(event)) {
    hosted_job.on_worker_progress(now);
  } else if (const auto* failed = std::get_if<RestoreFailed>(&event)) {
    hosted_job.on_restore_failed(now, {failed->thread, failed->epoch, failed->why, failed->no_image}, turn);
  } else {
    auto& frame = std::get<WorkerFrame>(event);
    const Status status = hosted_job.on_frame(now, frame.frame, frame.image, turn);
    if (!status) {
      turn.add(job::KillWorker{worker, status.error().detail});
      hosted_job.on_worker_died(now, status.error().detail, {}, turn);
    }
  }
  finish_turn(now, turn, out);
}

void Peer::on_tick(Time now, std::vector<Action>& out) {
  Actions turn;
  grids_.on_tick(now, turn);
  reachability_.on_tick(now, turn);
  grid_administration_.on_tick(now, turn);
  for (const job::SlotLeases::Grant& grant : slots_.expire(now)) {
    if (!grant.claimed) continue;
    GW_REACHED("peer: a lease ran out");
    end_claim(grant, turn);
  }
  swarm_.on_tick(now, turn);
  chunk_uploads_.on_tick(now, turn);
  blobs_.on_tick(now, turn);
  uploads_.on_tick(now, turn);
  keeper_.on_tick(now, turn);
  past_.on_tick(now + identity_.wall_offset, turn);
  lender_.on_tick(now, turn);
  while (const auto job = home_deadlines_.take_due(now)) {
    touched_.insert(*job);
    homes_.at(*job)->on_tick(now, turn);
  }
  while (const auto job = hosted_deadlines_.take_due(now)) {
    touched_.insert(*job);
    if (const auto hosted_job = hosted_jobs_.find(*job); hosted_job != hosted_jobs_.end()) hosted_job->second->on_tick(now, turn);
    end_unused_claim(now, *job, turn);
  }
  finish_turn(now, turn, out);
}

Time Peer::next_deadline() const {
  Time next = std::min({grids_.next_deadline(), reachability_.next_deadline(), grid_administration_.next_deadline(), slots_.next_deadline(),
                        blobs_.next_deadline(), swarm_.next_deadline(), chunk_uploads_.next_deadline(), uploads_.next_deadline(),
                        keeper_.next_deadline(), lender_.next_deadline()});
  if (const Time old = past_.next_deadline(); old != job::kNever) next = std::min(next, old - identity_.wall_offset);
  return std::min({next, home_deadlines_.next(), hosted_deadlines_.next()});
}

// --- jobs

void Peer::on_local(Time now, Request request, std::vector<Action>& out) {
  Actions turn;
  if (auto* upload = std::get_if<Upload>(&request)) {
    uploads_.add(now, std::move(upload->blob), turn);
  } else if (const auto* submitted = std::get_if<Submit>(&request)) {
    submit(now, *submitted, turn);
  } else if (auto* input = std::get_if<SupplyInput>(&request)) {
    supply_input(std::move(*input), turn);
  } else if (const auto* forgotten = std::get_if<Forget>(&request)) {
    past_.forget(forgotten->job, turn);
  } else if (const auto* suspend = std::get_if<SuspendJob>(&request)) {
    change_job(*suspend, &Home::suspend, now, turn);
  } else if (const auto* resume = std::get_if<ResumeJob>(&request)) {
    change_job(*resume, &Home::resume, now, turn);
  } else if (auto* slots = std::get_if<SetSlots>(&request)) {
    set_slots(now, std::move(*slots), turn);
  } else if (const auto* owner = std::get_if<SetConditions>(&request)) {
    drain(now, slots_.resize(slots_.slots(), lender_.set_conditions(owner->conditions), now + config_.drain_for), turn);
  } else if (auto* measured = std::get_if<SetCapacity>(&request)) {
    lender_.set_capacity(std::move(measured->capacity), std::move(measured->workers_fail));
  } else if (auto* about_grids = std::get_if<GridRequest>(&request)) {
    grid_administration_.on_request(now, std::move(*about_grids), grids_in_use(), turn);
  } else if (const auto* rumoured = std::get_if<Rumoured>(&request)) {
    std::visit([&](const auto& who) { grids_.on_rumoured(now, rumoured->grid, who, turn); }, rumoured->who);
  } else if (const auto home = homes_.find(std::get<Cancel>(request).job); home != homes_.end()) {
    touched_.insert(home->first);
    home->second->cancel(now, turn);
  }
  finish_turn(now, turn, out);
}

template <class JobRequest>
void Peer::change_job(const JobRequest& request, Status (Home::*change)(Time, Actions&), Time now, Actions& out) {
  const auto home = homes_.find(request.job);
  Status changed = fail(Kind::not_found, "there is no job {} at this peer that is not over", request.job.hash.hex());
  touched_.insert(request.job);
  if (home != homes_.end()) changed = (home->second.get()->*change)(now, out);
  if (!changed) out.notify(job::JobRequestRefused{request.job, changed.error()});
}

Result<Peer::SuspendedImage> Peer::suspended_image(const JobId& job) const {
  const auto home = homes_.find(job);
  if (home == homes_.end()) return fail(Kind::not_found, "there is no job {} at this peer that is not over", job.hash.hex());
  GW_TRY(const ThreadId thread, home->second->suspended_thread());
  const std::optional<Hash256> root = keeper_.whole_image({job, thread});
  if (!root) return fail(Kind::not_found, "job {} was suspended before it had begun: there is no image of it", job.brief());
  return SuspendedImage{*root, home->second->stored_effects(thread), home->second->supplied_input(),
                        Manifest::encode(home->second->manifest().content())};
}

void Peer::set_slots(Time now, SetSlots request, Actions& out) {
  if (request.budget) budget_.set_limits(*request.budget);
  lender_.on_resized(memory_bytes_ = request.memory_bytes);
  if (request.cache_bytes) blobs_.set_cache_limit(*request.cache_bytes, out);
  const Time until = now + request.drain_for;
  if (request.rules) std::ranges::copy(lender_.set_rules(now, *request.rules, request.idle_after), std::back_inserter(request.vacate));
  std::vector<job::SlotLeases::Grant> leaving = slots_.resize(request.slots, request.vacate, until);
  request.caps.self = identity_.self;
  std::ranges::copy(slots_.set_caps(request.caps, until), std::back_inserter(leaving));
  drain(now, leaving, out);
}

void Peer::drain(Time now, const std::vector<job::SlotLeases::Grant>& leaving, Actions& out) {
  for (const job::SlotLeases::Grant& grant : leaving)
    if (const auto hosted_job = hosted_jobs_.find(grant.job); hosted_job != hosted_jobs_.end()) {
      touched_.insert(grant.job);
      if (GW_BUG(57)) {
        slots_.end(grant.job);
        end_claim(grant, out);
        continue;
      }
      hosted_job->second->drain(now, out);
    }
}

// Tells the job's home at once, so that it places the threads that are still here on other peers.
void Peer::end_claim(const job::SlotLeases::Grant& grant, Actions& out) {
  touched_.insert(grant.job);
  router_.close_hosted_job(grant.job, out);
  JobMessage message;
  message.mutable_no_claim()->set_claim(grant.claim);
  out.send(grant.home, grant.job, std::move(message));
}

// An older job has taken the slots of gangs that had not begun.
void Peer::tell_wounded(Actions& out) {
  for (const job::SlotLeases::Grant& grant : slots_.take_wounded()) {
    touched_.insert(grant.job);
    router_.close_hosted_job(grant.job, out);
    JobMessage message;
    message.mutable_wounded()->set_claim(grant.claim);
    out.send(grant.home, grant.job, std::move(message));
  }
}

// A home that claims slots and runs nothing on them would keep other homes from using them.
void Peer::end_unused_claim(Time now, const JobId& job, Actions& out) {
  const auto hosted_job = hosted_jobs_.find(job);
  if (hosted_job == hosted_jobs_.end()) return;
  const Time idle_since = hosted_job->second->idle_since();
  if (GW_BUG(53) || idle_since == job::kNever || now - idle_since <= config_.unused_claim) return;
  GW_REACHED("peer: a claim that was not used has ended");
  if (const auto grant = slots_.end_unused(now, job, idle_since)) end_claim(*grant, out);
}

// Looks only at the jobs that the turn has touched, so that a turn does not cost O(jobs).
void Peer::apply_job_changes(Time now, Actions& out) {
  for (const JobId& job : std::exchange(touched_, {})) {
    if (const auto home = homes_.find(job); home != homes_.end()) home->second->end_turn(out);
    if (const auto home = homes_.find(job); home != homes_.end() && home->second->over()) end_home(job, out);
    if (const auto hosted_job = hosted_jobs_.find(job); hosted_job != hosted_jobs_.end() && hosted_job->second->drained()) {
      GW_REACHED("peer: all threads of a claim have left");
      if (const auto grant = slots_.end(job)) end_claim(*grant, out);
    }
    lender_.refresh(now, job);
    const auto home = homes_.find(job);
    home_deadlines_.set(job, home == homes_.end() ? job::kNever : home->second->next_deadline());
    const auto hosted_job = hosted_jobs_.find(job);
    // A worker comes and goes only in turns that touch its job.
    worker_jobs_.set(job, hosted_job == hosted_jobs_.end() ? std::nullopt : hosted_job->second->worker());
    hosted_deadlines_.set(job, hosted_job == hosted_jobs_.end() ? job::kNever : hosted_job->second->next_deadline());
  }
}

void Peer::supply_input(SupplyInput request, Actions& out) {
  const auto home = homes_.find(request.job);
  Status taken = fail(Kind::not_found, "there is no job {} at this peer that is not over", request.job.hash.hex());
  touched_.insert(request.job);
  if (home != homes_.end()) taken = home->second->supply_input(request.piece, std::move(request.bytes), out);
  if (!taken) return out.notify(job::InputRefused{request.job, request.piece, taken.error()});
  out.after_disk(job::Notify{job::InputStored{request.job, request.piece}});
}

void Peer::submit(Time now, const Submit& request, Actions& out) {
  const JobId id{sha256(request.charter)};
  // The same charter again means the same job. A job that is not durable yet is not accepted yet.
  if (homes_.contains(id) || past_.find(id) != nullptr) return out.after_disk(job::Notify{job::JobAccepted{id}});
  const JobsHere here{homes_, past_, config_.homes, grids_, uploads_, identity_.self};
  auto prepared = disk_full() ? Result<Submission>(Uploads::no_room("no new job"))
                              : check_submission(here, request.charter, request.manifest, request.row_inputs);
  if (!prepared) return out.notify(job::JobRefused{id, prepared.error()});
  const Grid& grid = *grid_of(prepared->charter);
  add_home(grid, *std::move(prepared), std::string(as_text(request.manifest)), out).begin(now, {request.manifest, request.row_inputs}, out);
}

// REQUIRES: the blobs that the manifest names are here.
Home& Peer::add_home(const Grid& grid, Submission submission, std::string manifest_bytes, Actions& out) {
  auto& [charter, manifest, blobs] = submission;
  const JobId id = charter.id();
  for (const Hash256& chunk : blobs) home_blobs_.adopt(id, chunk);
  swarm_.open(id, std::nullopt);
  home_blobs_.put(id, charter.manifest(), std::move(manifest_bytes), out);
  if (authorities_.find(id) == nullptr) authorities_.add(charter);
  authorities_.hold(id);
  touched_.insert(id);
  auto& home = homes_[id] = std::make_unique<Home>(config_.home, home_environment(grid), std::move(charter), std::move(manifest));
  return *home;
}

Home::Environment Peer::home_environment(const Grid& grid) {
  return {identity_.self,
          identity_.boot,
          identity_.wall_offset,
          grid,
          identity_.key,
          signer_,
          rng_,
          history_,
          [this](const JobId& job) { return homes_.contains(job) ? job::JobCourse::unfinished : past_.course_of(job); },
          home_blobs_.access()};
}

void Peer::release_home(const JobId& id, Actions& out) {
  home_blobs_.release(id, out);
  swarm_.close(id);
  chunk_uploads_.close(id);
  authorities_.release(id);
}

void Peer::end_home(const JobId& job, Actions& out) {
  release_home(job, out);
  past_.add(job, homes_.at(job)->record(), out);
  homes_.erase(job);
}

}  // namespace gw::peer
