#include "job/host/hosted_job.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

HostedJob::HostedJob(const Config& config, const Environment& environment, const Claim& claim)
    : config_(config),
      environment_(environment),
      claim_(claim),
      storage_(claim.home == environment.self ? nullptr : &environment.budget, {claim.job, claim.home, environment.grid}),
      code_(config.code, environment.blobs, environment.swarm, storage_,
            {claim.job, claim.home, claim.manifest, environment.excess, claim.home == environment.self}),
      status_({claim.home, claim.job, claim.claim, claim.slots}),
      tasks_(config.tasks, {claim.job, claim.home, claim.claim, code_}),
      fetches_(environment.images,
               [this](const ImageFetches::Name& name, const ImageTrees::Size& size) {
                 HostedThread& thread = threads_.at(name.second);
                 thread.set_fetched(size);
                 return threads_.charge(thread);
               }),
      threads_(config.threads, {claim.job, environment.images, storage_, code_}),
      lanes_(claim.slots) {}

HostedThread::Environment HostedJob::thread_environment() {
  return {.config = config_.thread,
          .job = claim_.job,
          .home = claim_.home,
          .code = code_,
          .images = environment_.images,
          .fetches = fetches_,
          .status = status_.number()};
}

void HostedJob::begin(Time now, Actions& out) {
  full_status_at_ = now + config_.status_every;
  busy_at_ = now;
  code_.begin(now, out);
}

void HostedJob::close(Actions& out) {
  while (!threads_.empty()) threads_.remove(threads_.all().begin()->first, out);
  code_.close(out);
}

// --- threads

void HostedJob::give_back(ThreadId id, const std::string& why, Gone gone, Actions& out) {
  const HostedThread& thread = threads_.at(id);
  status_.set_failure(why);
  threads_.drop_from_worker(thread, out);
  status_.send_gone(id, thread.epoch(), out, gone);
  threads_.remove(id, out);
}

void HostedJob::give_back_all(Time now, const std::string& why, Actions& out) {
  GW_REACHED("host: there was no room for the code or the inputs of a job");
  tasks_.return_all(now, why, out);
  while (!threads_.empty()) give_back(threads_.all().begin()->first, why, Gone::no_room, out);
}

// Starts the worker and queued threads, after something that they may have waited for has come.
void HostedJob::advance(Time now, Actions& out) {
  if (now >= code_.start_at() && has_work())
    code_.start_worker(WorkerId{++environment_.next_worker}, claim_.slots, config_.thread.determinants, out);
  start_queued(now, out);
}

void HostedJob::start_queued(Time now, Actions& out) {
  if (!code_.ready()) return;
  const std::set<ThreadId>& queued = threads_.queued();
  for (auto next = queued.begin(); slots_used() + tasks_.lanes_used(lanes_.count()) < lanes_.count() && next != queued.end();) {
    HostedThread& thread = threads_.at(*next++);
    if (thread.begins() && thread.task() >= code_.manifest()->tasks() && !GW_BUG(51)) {
      out.notify(
          PeerRefused{claim_.home, fmt::format("it assigned task {} of a job of {} tasks", thread.task(), code_.manifest()->tasks())});
      threads_.remove(thread.id(), out);
      continue;
    }
    std::optional<wire::pb::ThreadConfig> config;
    if (thread.begins()) {
      auto made = code_.stage_start(now, thread.task(), out);
      if (!made)
        made.error().kind == Kind::overloaded ? give_back(thread.id(), made.error().detail, Gone::no_room, out)
                                              : fail_one(thread, made.error().detail, out);
      if (!made || !*made) continue;  // goes on when the pieces are here
      config = *std::move(made);
    }
    threads_.start(thread, now, config, out);
  }
  // Threads go before tasks: while one waits for a slot, the worker gets no more tasks, and ends those it has.
  const std::size_t used = std::min<std::size_t>(lanes_.count(), slots_used() + tasks_.promoted());
  tasks_.feed(now, lanes_.count() - static_cast<std::uint32_t>(used), queued.empty() ? HostedTasks::More::yes : HostedTasks::More::no, out);
}

// --- what home is told

void HostedJob::send_full_status(Time now, Actions& out) {
  full_status_at_ = now + config_.status_every;
  status_.send_full(now, threads_.all(), out);
}

// --- home

void HostedJob::on_claim(Time now, const JobMessage::ClaimName& claim, Actions& out) {
  note_children(claim.children(), out);
  if (claim.want_full()) return send_full_status(now, out);
  status_.send(out);
}

void HostedJob::on_assign(Time now, const JobMessage::Assign& assign, Actions& out) {
  const ThreadId id{assign.thread()};
  if (const HostedThread* found = threads_.find(id)) {
    if (found->epoch() >= assign.epoch()) return status_.send_held(now, *found, out);
    GW_REACHED("host: a thread was assigned again in a new epoch");
    threads_.drop_from_worker(*found, out);
    threads_.remove(id, out);
  }
  // A thread runs once per epoch: an assignment that comes late or twice after its worker died does not start it again.
  const bool running = assign.promoted() && tasks_.has_promoted(assign.task());
  if (!threads_.may_add(id, assign.epoch()) || (draining() && !running) || code_.broken()) {
    if (running) tasks_.drop(assign.task(), out);  // home starts it elsewhere
    return status_.send_gone(id, assign.epoch(), out);
  }
  if (running) tasks_.adopt(assign.task());
  if (!running && !assign.forked()) tasks_.forget(assign.task(), out);
  HostedThread& thread = threads_.add(thread_environment(), assign, now);
  if (running) {
    GW_REACHED("host: a promoted task was adopted");
    threads_.adopt(thread, now, out);
  }
  if (const Status charged = threads_.charge(thread); !charged) return give_back(id, charged.error().detail, Gone::no_room, out);
  status_.set_failure({});
  if (assign.restore()) thread.ask_image(now, out);
  threads_.refresh(thread);
  status_.send_held(now, thread, out);
  if (running && draining()) suspend(thread, out);
  advance(now, out);
}

void HostedJob::on_task_batch(Time now, const JobMessage::TaskBatch& batch, Actions& out) {
  std::optional<std::string> refused;
  if (draining()) refused = "";
  if (code_.broken()) refused = code_.no_room().empty() ? status_.failure() : code_.no_room();
  tasks_.on_batch(now, batch, refused, out);
  // A batch that comes late may name a task that was lost elsewhere, as a thread, and is a thread of this host meanwhile.
  const ThreadId first = thread_of_task(batch.tasks().first(), wire::kMaxTasks);
  const ThreadId behind{first.value() + batch.tasks().count()};
  for (auto thread = threads_.all().lower_bound(first); thread != threads_.all().end() && thread->first < behind; ++thread) {
    GW_REACHED("host: a batch named a task that is a thread");
    tasks_.forget(thread->second.task(), out);
  }
  busy_at_ = now;
  advance(now, out);
}

void HostedJob::on_drop(Time now, const JobMessage::ThreadName& name, Actions& out) {
  const HostedThread* found = threads_.find(ThreadId{name.thread()});
  if (found == nullptr && code_.manifest() != nullptr)
    if (const auto task = task_of_thread(ThreadId{name.thread()}, code_.manifest()->tasks()); task && tasks_.drop(*task, out))
      start_queued(now, out);
  if (found == nullptr || found->epoch() > name.epoch()) return;
  GW_REACHED("host: a thread was dropped");
  threads_.drop_from_worker(*found, out);
  threads_.remove(found->id(), out);
  start_queued(now, out);
}

void HostedJob::note_children(std::uint64_t unfinished, Actions& out) {
  if (!code_.ready() || std::exchange(children_, unfinished) == unfinished) return;
  ToWorker frame;
  frame.mutable_children()->set_unfinished(unfinished);
  code_.tell(std::move(frame), {}, out);
}

void HostedJob::on_stored(Time now, const JobMessage::Stored& stored, Actions& out) {
  note_children(stored.children(), out);
  HostedThread* thread = threads_.find(stored.thread(), stored.epoch());
  if (thread == nullptr) return;
  if (stored.again()) thread->hurry(now);
  if (!thread->on_stored(now, wire::marks_of(stored.streams()), out)) {
    if (const Status charged = threads_.charge(*thread); !charged)
      return give_back(thread->id(), charged.error().detail, Gone::no_room, out);
    return threads_.refresh(*thread);
  }
  threads_.remove(thread->id(), out);
  start_queued(now, out);
}

void HostedJob::on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out) {
  HostedThread* thread = threads_.find(change.thread(), change.epoch());
  if (thread == nullptr) return;
  thread->on_keeper_change(now, change, out);
  threads_.refresh(*thread);
}

void HostedJob::on_input(Time now, const JobMessage::Input& input, Actions& out) {
  HostedThread* thread = threads_.find(input.thread(), input.epoch());
  if (thread == nullptr) return;
  thread->on_input(now, input, out);
  threads_.refresh(*thread);
}

void HostedJob::on_suspend(Time now, const JobMessage::ThreadName& name, Actions& out) {
  HostedThread* thread = threads_.find(name.thread(), name.epoch());
  if (thread == nullptr) return status_.send_gone(ThreadId{name.thread()}, name.epoch(), out);
  suspend(*thread, out);
  start_queued(now, out);
}

// A thread that does not run has changed nothing: the image at its keeper is its whole state.
void HostedJob::suspend(HostedThread& thread, Actions& out) {
  if (thread.running() != nullptr) {
    thread.suspend(out);
    return threads_.refresh(thread);
  }
  status_.send_suspended(thread, out);
  threads_.remove(thread.id(), out);
}

// A paused worker could not save anything.
void HostedJob::drain(Time now, Actions& out) {
  GW_REACHED("host: a claim was drained");
  lanes_.set(lanes_.count(), worker(), out);
  status_.set_draining();
  send_full_status(now, out);  // before the first thread leaves, so that home does not assign it here again
  tasks_.return_all(now, "", out);
  std::vector<ThreadId> all;
  for (const auto& [id, thread] : threads_.all()) all.push_back(id);
  for (const ThreadId id : all)
    if (HostedThread* found = threads_.find(id)) suspend(*found, out);
}

// --- keepers

void HostedJob::on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out) {
  HostedThread* thread = threads_.find(image.thread(), image.epoch());
  if (thread == nullptr) return;
  if (const Status status = thread->on_image_is(now, from, image, out); !status) {
    if (status.error().kind == Kind::guest_fault)
      status_.send_failed(thread->id(), thread->epoch(), status.error().detail, out, HostStatus::Fault::kept_state);
    return threads_.remove(thread->id(), out);
  }
  threads_.refresh(*thread);
  start_queued(now, out);
}

void HostedJob::on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out) {
  HostedThread* thread = threads_.find(kept.thread(), kept.epoch());
  if (thread == nullptr) return;
  thread->on_kept(now, from, kept, out);
  if (thread->running() != nullptr && thread->stalled(now)) status_.send_held(now, *thread, out);  // it refuses
  threads_.refresh(*thread);
}

// --- the disk

void HostedJob::on_blob_stored(Time now, const Hash256& hash, Actions& out) {
  // A blob of another job is no sign of life of this one. Once the code is here, blobs come for an image, or from a thread that saves
  // itself, whose frames count.
  const bool ours = environment_.blobs.is_held(hash, claim_.job);
  if (ours) busy_at_ = now;
  if (ours && (!code_.ready() || fetches_.size() > 0)) status_.on_progress();
  code_.on_blob_stored(now, hash, out);
  advance(now, out);
}

void HostedJob::on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  code_.on_loaded(now, hash, bytes, out);
  if (!code_.no_room().empty()) give_back_all(now, code_.no_room(), out);
  advance(now, out);
}

void HostedJob::on_image_change(Time now, const ImageTrees::Change& change, Actions& out) {
  on_fetched(fetches_.on_change(change, out), out);
  if (change.what == ImageTrees::Change::What::lost) return on_image_lost(now, change, out);
  if (change.what != ImageTrees::Change::What::complete) return;
  if (HostedThread* saved = threads_.take_saved(change.name.root)) {
    saved->on_image_stored(now, out);
    threads_.refresh(*saved);
  }
  advance(now, out);
}

void HostedJob::on_worker_progress(Time now) {
  busy_at_ = now;
  status_.on_progress();
}

// Bytes that are not an image here are not an image at any host: home is told that the thread failed, and asks another host to confirm it.
void HostedJob::on_restore_failed(Time now, const RestoreFailure& failure, Actions& out) {
  const HostedThread* thread = threads_.find(failure.thread.value(), failure.epoch);
  if (thread == nullptr) return;
  GW_REACHED("host: an image could not be read from the disk");
  status_.set_failure(failure.why);
  const bool kept = thread->running() != nullptr && thread->running()->restored;  // else the job begins with that image
  if (failure.no_image)
    status_.send_failed(failure.thread, failure.epoch, failure.why, out, kept ? HostStatus::Fault::kept_state : HostStatus::Fault::program);
  status_.send_gone(failure.thread, failure.epoch, out);
  threads_.remove(failure.thread, out);
  advance(now, out);
}

// Home hears what is lost: it places the thread again, and fails it if another host finds the same.
void HostedJob::on_fetched(std::vector<ImageFetches::Done> done, Actions& out) {
  for (ImageFetches::Done& one : done) {
    HostedThread& thread = threads_.at(one.name.second);
    if (one.root) {
      thread.on_fetched(*one.root);
      status_.on_progress();
      threads_.refresh(thread);
      continue;
    }
    const std::string why = one.root.error().detail;
    const bool no_room = one.root.error().kind == Kind::overloaded;
    if (!no_room) status_.send_failed(thread.id(), thread.epoch(), why, out, HostStatus::Fault::kept_state);
    give_back(thread.id(), why, no_room ? Gone::no_room : Gone::failed, out);
  }
}

void HostedJob::on_code_lost(Time now, const Hash256& hash, Actions& out) {
  const CodeStaging::Need need = code_.need_of(hash);
  code_.on_blob_lost(hash);
  if (need == CodeStaging::Need::none) return;
  const std::string why = fmt::format("blob {} of the job is lost: no peer that takes part in it has it any more", hash.hex());
  switch (need) {
    case CodeStaging::Need::tasks: {
      GW_REACHED("host: the rows of tasks are lost");
      tasks_.lose_if([&](std::uint32_t task) { return code_.task_needs(task, hash); }, now, why, out);
      const std::set<ThreadId> queued = threads_.queued();
      for (const ThreadId id : queued)
        if (const HostedThread& thread = threads_.at(id); thread.begins() && code_.task_needs(thread.task(), hash))
          fail_one(thread, why, out);
      break;
    }
    case CodeStaging::Need::worker:
      tasks_.lose_running(now, why, out);
      fail_all(why, out);
      break;
    default:
      tasks_.lose_if([](std::uint32_t) { return true; }, now, why, out);
      fail_all(why, out);
  }
}

// A running thread needs an image only until its keeper has it. If the image is lost before that, the thread leaves and continues elsewhere
// from the image before.
void HostedJob::on_image_lost(Time now, const ImageTrees::Change& change, Actions& out) {
  const std::vector<ThreadId> affected = threads_.that_need(change.name.root);
  for (const ThreadId id : affected) {
    if (threads_.at(id).running() == nullptr)
      status_.send_failed(id, threads_.at(id).epoch(), change.sentence, out, HostStatus::Fault::kept_state);
    threads_.drop_from_worker(threads_.at(id), out);
    threads_.remove(id, out);
  }
  if (affected.empty()) return;
  status_.set_failure(change.sentence);
  send_full_status(now, out);
  start_queued(now, out);
}

// --- the worker

Status HostedJob::on_frame(Time now, const FromWorker& frame, const std::optional<NewImage>& image, Actions& out) {
  // The image of a thread that has done nothing since the one before is the same again, and no progress.
  const bool nothing_new = image && environment_.images.holds({claim_.job, image->root});
  if (!nothing_new) status_.on_progress();
  busy_at_ = now;
  switch (frame.kind_case()) {
    case FromWorker::kHello:
    case FromWorker::kStopped:  // its end is an effect
      return ok();
    case FromWorker::kLoaded:
      code_.on_worker_loaded();
      tasks_.on_worker_ready(out);
      start_queued(now, out);
      return ok();
    case FromWorker::kEffects:
      return on_effects(now, frame.effects(), out);
    case FromWorker::kDeterminants:
      return on_determinants(now, frame.determinants(), out);
    case FromWorker::kWantChunk:
      return on_want_chunk(now, wire::hash_of(frame.want_chunk().hash()), out);
    case FromWorker::kWantInput: {
      HostedThread* thread = threads_.find(ThreadId{frame.want_input().thread()});
      if (thread == nullptr || thread->running() == nullptr) return ok();  // it has left meanwhile
      thread->on_want_input(now, frame.want_input().piece(), out);
      threads_.refresh(*thread);
      return ok();
    }
    case FromWorker::kWantMail: {
      HostedThread* thread = threads_.find(ThreadId{frame.want_mail().thread()});
      if (thread == nullptr || thread->running() == nullptr) return ok();  // it has left meanwhile
      thread->on_want_mail(now, frame.want_mail(), out);
      threads_.refresh(*thread);
      start_queued(now, out);
      return ok();
    }
    case FromWorker::kImage:
      if (!image) return fail(Kind::invalid, "the worker sent no image beside its frame");
      return on_image(now, frame.image(), *image, out);
    case FromWorker::kFailed:
      return on_failed(now, frame.failed(), out);
    case FromWorker::kTaskResults:
      if (!code_.ready()) return fail(Kind::invalid, "the result of a task came before the module was loaded");
      GW_TRY_VOID(tasks_.on_results(now, frame.task_results(), out));
      start_queued(now, out);
      return ok();
    case FromWorker::kPromoted:
      if (!code_.ready()) return fail(Kind::invalid, "a task ran before the module was loaded");
      GW_TRY_VOID(tasks_.on_promoted(now, frame.promoted().task(), out));
      start_queued(now, out);
      return ok();
    case FromWorker::kTaskDone:
    case FromWorker::KIND_NOT_SET:
      break;
  }
  return fail(Kind::invalid, "the worker sent a frame that nobody asked for");
}

Status HostedJob::on_want_chunk(Time now, const Hash256& hash, Actions& out) {
  const Status held = code_.on_want_chunk(now, hash, out);
  if (held || held.error().kind != Kind::overloaded) return held;
  give_back_all(now, held.error().detail, out);
  return ok();
}

Status HostedJob::on_effects(Time now, const FromWorker::Effects& frame, Actions& out) {
  std::set<ThreadId> touched;
  for (const Effect& effect : frame.effects()) {
    GW_TRY(HostedThread * thread, threads_.thread_of_worker(effect.thread(), effect.epoch()));
    if (thread == nullptr) continue;  // the worker has been told
    const Status added = thread->add_effect(effect);
    if (!added && added.error().kind != Kind::guest_fault) return added;
    touched.insert(thread->id());
    if (added) continue;
    touched.erase(thread->id());
    fail_one(*thread, added.error().detail, out);
    start_queued(now, out);
  }
  for (const ThreadId id : touched) {
    HostedThread& thread = threads_.at(id);
    thread.send_effects(now, out);
    threads_.refresh(thread);
  }
  return ok();
}

Status HostedJob::on_determinants(Time now, const FromWorker::Determinants& frame, Actions& out) {
  GW_TRY(HostedThread * thread, threads_.thread_of_worker(frame.thread(), frame.epoch()));
  if (thread == nullptr) return ok();
  GW_TRY_VOID(thread->on_determinants(now, frame, out));
  thread->exhausted() ? fail_exhausted(*thread, out) : threads_.refresh(*thread);
  return ok();
}

Status HostedJob::on_image(Time now, const FromWorker::Image& frame, const NewImage& image, Actions& out) {
  const ThreadId id{frame.thread()};
  const bool of_child = frame.why() == FromWorker::Image::SPAWNED;
  if ((image.thread != id && !of_child) || frame.id() != wire::bytes_of(image.root))
    return fail(Kind::invalid, "the worker sent an image of thread {} as another one of {}", image.thread.value(), id.value());
  GW_TRY(HostedThread * thread, threads_.thread_of_worker(frame.thread(), image.epoch));
  if (thread == nullptr) return ok();
  Status taken = of_child ? thread->on_spawned(now, image, frame.spawn(), out) : thread->on_image(now, image, frame.why(), out);
  if (!taken && taken.error().kind == Kind::guest_fault) {
    fail_one(*thread, taken.error().detail, out);
    start_queued(now, out);
    return ok();
  }
  if (!taken && taken.error().kind != Kind::overloaded) return taken;
  threads_.set_saving(image.root, id);
  if (taken) taken = threads_.charge(*thread);
  if (taken) {
    threads_.refresh(*thread);
    return ok();
  }
  GW_REACHED("host: there was no room for an image of a thread");
  give_back(id, taken.error().detail, Gone::no_room, out);
  start_queued(now, out);
  return ok();
}

Status HostedJob::on_failed(Time now, const FromWorker::Failed& frame, Actions& out) {
  if (frame.thread() == 0) {
    if (!frame.guest_fault()) return fail(Kind::internal, "the worker could not load the module: {}", frame.error());
    tasks_.return_all(now, frame.error(), out);
    fail_all(frame.error(), out);
    return ok();
  }
  HostedThread* thread = threads_.find(frame.thread(), frame.epoch());
  if (thread == nullptr && frame.gone() && code_.ready()) tasks_.on_not_made(now, ThreadId{frame.thread()}, frame.error(), out);
  if (thread == nullptr) return ok();
  if (!frame.gone()) {
    thread->on_save_failed(now, frame.guest_fault());
    if (thread->exhausted()) {
      fail_exhausted(*thread, out);
      start_queued(now, out);
      return ok();
    }
    threads_.refresh(*thread);
    return ok();
  }
  if (frame.guest_fault()) status_.send_failed(thread->id(), thread->epoch(), frame.error(), out);
  give_back(thread->id(), frame.error(), Gone::failed, out);
  start_queued(now, out);
  return ok();
}

// The thread would wait for its keeper without end, so it fails.
void HostedJob::fail_exhausted(const HostedThread& thread, Actions& out) {
  fail_one(thread,
           fmt::format("it asked for the time or for input {} times and cannot be checkpointed in between: build it with --mobile=fine",
                       config_.thread.determinants),
           out);
}

void HostedJob::fail_one(const HostedThread& thread, const std::string& sentence, Actions& out) {
  status_.send_failed(thread.id(), thread.epoch(), sentence, out);
  threads_.drop_from_worker(thread, out);
  threads_.remove(thread.id(), out);
}

// The program itself cannot run.
void HostedJob::fail_all(const std::string& sentence, Actions& out) {
  while (!threads_.empty()) fail_one(threads_.all().begin()->second, sentence, out);
}

void HostedJob::on_worker_died(Time now, std::string why, std::span<const std::uint32_t> tasks, Actions& out) {
  GW_REACHED("host: a worker died");
  code_.on_worker_died(now);
  children_ = 0;
  lanes_.on_worker_died();
  status_.set_failure(std::move(why));
  // Threads that were not in the worker continue in the next one. If there will be none, home gets them back without blame.
  std::vector<ThreadId> lost;
  for (const auto& [id, thread] : threads_.all()) {
    if (thread.in_worker() || code_.broken()) lost.push_back(id);
    if (!thread.in_worker() && code_.broken()) status_.send_gone(id, thread.epoch(), out);
  }
  for (const ThreadId id : lost) threads_.remove(id, out);
  tasks_.on_worker_died(now, tasks, status_.failure(), code_.broken(), out);
  send_full_status(now, out);
  advance(now, out);
}

void HostedJob::on_tick(Time now, Actions& out) {
  while (HostedThread* thread = threads_.take_due(now)) {
    if (thread->stranded(now)) {
      GW_REACHED("host: the last image of a suspended thread did not become stable");
      status_.send_gone(thread->id(), thread->epoch(), out);
      threads_.remove(thread->id(), out);
      continue;
    }
    thread->on_due(now, out);
    threads_.refresh(*thread);
  }
  tasks_.on_tick(now, out);
  code_.on_tick(now, out);
  if (now >= code_.start_at()) advance(now, out);
  if (now >= full_status_at_) send_full_status(now, out);
}

}  // namespace gw::job
