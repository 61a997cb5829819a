#include "worker/virtual_thread.h"

#include <algorithm>

#include "os/clock.h"
#include "os/sealed_memory.h"

namespace gw::worker {
namespace {

using wire::pb::Effect;
using wire::pb::FromWorker;

// Programs with coarse mobility may take long to reach a point where they can stop; the parent is told when it takes longer than this.
constexpr std::chrono::seconds kPatience{20};
// A guest is never paused, because it would hold its pool thread: it goes on until it reaches a poll.
constexpr std::chrono::hours kNoPause{24 * 365};

// The limit of what a task emits before it becomes a thread. Together with what one call may add, the result fits into a frame.
job::EffectGate gate_of_task(job::ThreadId thread, job::EffectGate::Config config) {
  config.outbox_bytes = 256u << 10;
  config.outbox_effects = 1024;
  config.unstable_determinants = 16384;
  return {thread, 1, config};
}

}  // namespace

VirtualThread::VirtualThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, StartSource start_source)
    : environment_(environment),
      lane_(lane),
      id_(gate.thread().value()),
      gate_(std::move(gate), environment.outgoing, environment.recording),
      input_(gate_, environment.outgoing),
      start_source_(std::move(start_source)) {}

VirtualThread::VirtualThread(ThreadEnvironment& environment, Lane& lane, TaskRuns& tasks)
    : environment_(environment),
      lane_(lane),
      tasks_(&tasks),
      id_(tasks.thread_of(0).value()),
      gate_(gate_of_task(tasks.thread_of(0), environment.gate), environment.outgoing, environment.recording, ThreadGate::State::closed),
      input_(gate_, environment.outgoing),
      idle_(true) {}

// --- requests

void VirtualThread::enqueue() {
  std::lock_guard lock(mutex_);
  enqueue_locked();
}

void VirtualThread::enqueue_locked() {
  if (gone_ || idle_) return;
  again_ = true;
  if (queued_) return;
  queued_ = true;
  lane_.enqueue(shared_from_this());
}

void VirtualThread::ask_to_stop_locked() {
  if (!request_deadline_) request_deadline_ = os::monotonic_now() + kPatience;
  if (running_) isolate_->suspend(kNoPause);
  enqueue_locked();
}

void VirtualThread::request_suspend() {
  std::lock_guard lock(mutex_);
  suspend_wanted_ = true;
  ask_to_stop_locked();
}

void VirtualThread::request_checkpoint() {
  std::lock_guard lock(mutex_);
  checkpoint_wanted_ = true;
  ask_to_stop_locked();
}

void VirtualThread::request_terminate() {
  std::lock_guard lock(mutex_);
  terminate_wanted_ = true;
  if (running_) isolate_->terminate();
  enqueue_locked();
}

void VirtualThread::wake() { enqueue(); }

void VirtualThread::wake_from_chunk() {
  std::lock_guard lock(mutex_);
  if (queued_ || waits_for_chunk_) enqueue_locked();
}

void VirtualThread::wake_for_room() {
  std::lock_guard lock(mutex_);
  if (waits_for_room_ && gate_.is_roomy(*waits_for_room_)) enqueue_locked();
}

void VirtualThread::abandon() {
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  gate_.abandon();
  request_terminate();
}

void VirtualThread::give_way() {
  std::lock_guard lock(mutex_);
  if (running_) isolate_->suspend(kNoPause);
}

bool VirtualThread::give_up_requests(Time now) {
  std::lock_guard lock(mutex_);
  if (gone_ || !request_deadline_ || now < *request_deadline_) return false;
  request_deadline_.reset();
  suspend_wanted_ = checkpoint_wanted_ = false;
  return true;
}

std::optional<VirtualThread::Time> VirtualThread::request_deadline() const {
  std::lock_guard lock(mutex_);
  return gone_ ? std::nullopt : request_deadline_;
}

bool VirtualThread::gone() const {
  std::lock_guard lock(mutex_);
  return gone_;
}

bool VirtualThread::finished() const { return gone() && (moved_ || gate_.all_stored()); }

// --- steps

void VirtualThread::step() {
  {
    std::lock_guard lock(mutex_);
    again_ = false;
    waits_for_room_.reset();
  }
  finish_step(run_step());
}

void VirtualThread::take_tasks() {
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(idle_, false)) return;
    queued_ = true;
  }
  finish_step(Next::task_over);
}

VirtualThread::Next VirtualThread::run_step() {
  if (outputs_) return hand_out_files();
  if (const Status made = make_isolate(); !made) {
    not_made(made.error());
    return Next::over;
  }
  if (!answer_requests()) return Next::over;
  const Next next = follow(resume());
  if (next == Next::over || next == Next::task_over) return next;
  return answer_requests() ? next : Next::over;
}

void VirtualThread::finish_step(Next next) {
  while (next == Next::task_over) next = begin_task() ? run_step() : Next::idle;
  std::unique_ptr<isolate::Isolate> leaving;
  std::lock_guard lock(mutex_);
  queued_ = false;
  if (next == Next::over) {
    gone_ = true;
    leaving = std::move(isolate_);
    environment_.outgoing.wake();  // the loop removes it
  } else if (next == Next::idle) {
    idle_ = true;
  } else if (next == Next::run_again || again_) {
    enqueue_locked();
  }
}

// --- tasks

// The next task that can be made is in progress. False: none is to begin here now.
bool VirtualThread::begin_task() {
  for (;;) {
    if (lane_.others_ready()) {
      lane_.offer_tasks();  // after them
      return false;
    }
    const auto task = tasks_->take();
    if (!task) return false;
    const job::ThreadId thread = tasks_->thread_of(task->number);
    gate_.restart(gate_of_task(thread, environment_.gate));
    {
      std::lock_guard lock(mutex_);
      id_ = thread.value();
      again_ = abandoned_ = terminate_wanted_ = false;
      waits_for_room_.reset();
      task_ = task->number;
      task_began_.reset();
    }
    if (const Status made = renew_isolate(*task); !made) {
      end_task_unmade(task->number, made.error());
      continue;
    }
    std::lock_guard lock(mutex_);
    task_began_ = os::monotonic_now();
    return true;
  }
}

Status VirtualThread::renew_isolate(const TaskRuns::Task& task) {
  GW_TRY(isolate::GuestStart start, tasks_->start_of(task));
  std::unique_ptr<isolate::Isolate> fresh;
  isolate::PoolThread& thread = lane_.pool_thread();
  GW_TRY(const TaskRuns::Point point, tasks_->start_point([&]() -> Result<isolate::ForkPoint> {
    GW_TRY(fresh, isolate::Isolate::make(environment_.engine, thread, environment_.module, tasks_->config(environment_.limits), host()));
    return fresh->freeze();
  }));
  if (!fresh && isolate_ && isolate_->put_back(*point)) return isolate_->set_start(std::move(start));
  if (!fresh) {
    GW_TRY(fresh, isolate::Isolate::make(environment_.engine, thread, *point, host()));
  }
  GW_TRY_VOID(fresh->set_start(std::move(start)));
  std::lock_guard lock(mutex_);
  std::swap(isolate_, fresh);
  return ok();
}

// A task that could not begin. The fault of its program or configuration is a result; what this machine lacks another one may have.
void VirtualThread::end_task_unmade(std::uint32_t task, const Error& error) {
  {
    std::lock_guard lock(mutex_);
    task_.reset();
  }
  if (error.kind != Kind::invalid && error.kind != Kind::guest_fault) {
    environment_.outgoing.put(failed_frame(id_, gate_.epoch(), ThreadFate::gone, error));
    return tasks_->end(std::nullopt);
  }
  end_.Clear();
  end_.set_reason(Effect::End::TRAPPED);
  end_.set_sentence("it could not be started: " + error.detail);
  give_result(task, Time(0));
}

// False: the task is a thread by now.
bool VirtualThread::end_task() {
  std::uint32_t task = 0;
  bool dropped = false;
  {
    std::lock_guard lock(mutex_);
    if (promoted_) return false;
    task = *std::exchange(task_, std::nullopt);
    dropped = abandoned_;
  }
  if (dropped) {
    tasks_->end(std::nullopt);
  } else {
    give_result(task, isolate_->cpu_time());
  }
  return true;
}

void VirtualThread::give_result(std::uint32_t task, Time run_time) {
  Effect effect;
  *effect.mutable_end() = std::move(end_);
  gate_.emit(std::move(effect));
  wire::pb::TaskResult result;
  result.set_task(task);
  result.set_run_time_ns(static_cast<std::uint64_t>(run_time.count()));
  for (Effect& one : gate_.take_all()) *result.add_effects() = std::move(one);
  tasks_->end(std::move(result));
}

// A chunk of an input comes soon, and a short sleep ends soon; home has to know of everything else that a task waits for.
bool VirtualThread::must_be_thread(const isolate::Wait& wait) const {
  if (const auto* sleep = std::get_if<isolate::SleepUntil>(&wait))
    return sleep->input_too || sleep->deadline > os::monotonic_now() + tasks_->promote_after();
  return !std::holds_alternative<isolate::AwaitChunk>(wait) && !std::holds_alternative<isolate::AtCheckpoint>(wait);
}

void VirtualThread::promote() {
  std::lock_guard lock(mutex_);
  promote_locked();
}

// The frame is behind the entry in the list, so that the loop knows the thread before the parent does, and before the end of the thread.
void VirtualThread::promote_locked() {
  if (!task_ || promoted_ || abandoned_) return;
  promoted_ = true;
  tasks_->add_promoted(shared_from_this());
  FromWorker frame;
  frame.mutable_promoted()->set_task(*task_);
  environment_.outgoing.put_now(frame);
  environment_.outgoing.wake();
}

bool VirtualThread::waits_for_adoption() const { return tasks_ != nullptr && gate_.closed(); }

std::optional<VirtualThread::Time> VirtualThread::promotion_due() const {
  std::lock_guard lock(mutex_);
  return task_ && task_began_ && !promoted_ ? std::optional(*task_began_ + tasks_->promote_after()) : std::nullopt;
}

void VirtualThread::promote_if_due(Time now) {
  std::lock_guard lock(mutex_);
  if (task_ && task_began_ && now >= *task_began_ + tasks_->promote_after()) promote_locked();
}

void VirtualThread::drop_task(const TaskRuns::Ranges& ranges) {
  std::lock_guard lock(mutex_);
  const auto is_it = [this](const wire::pb::TaskRange& range) { return *task_ >= range.first() && *task_ - range.first() < range.count(); };
  if (!task_ || promoted_ || !std::ranges::any_of(ranges, is_it)) return;
  abandoned_ = terminate_wanted_ = true;
  if (running_) isolate_->terminate();
  enqueue_locked();
}

void VirtualThread::wake_task(std::uint64_t id) {
  std::lock_guard lock(mutex_);
  if (task_ && id_ == id) enqueue_locked();
}

void VirtualThread::adopt() {
  gate_.open();
  wake();
}

Status VirtualThread::make_isolate() {
  if (!start_source_) return ok();
  StartSource start_source = *std::exchange(start_source_, std::nullopt);
  const auto* image = std::get_if<FromImage>(&start_source);
  const bool restored = std::holds_alternative<FromParent>(start_source) || (image != nullptr && !image->begins);
  const bool begins = std::holds_alternative<FromStart>(start_source) || (image != nullptr && image->begins);
  GW_TRY(auto made, make_from(std::move(start_source)));
  {
    std::lock_guard lock(mutex_);
    isolate_ = std::move(made);
  }
  // From here on every change is relative to an image that home has.
  if (restored) tracked_ = tracks_writes();
  if (begins && tracks_writes()) GW_TRY_VOID(save(FromWorker::Image::CHECKPOINT));
  return ok();
}

Result<std::unique_ptr<isolate::Isolate>> VirtualThread::make_from(StartSource start_source) {
  isolate::PoolThread& thread = lane_.pool_thread();
  if (auto* start = std::get_if<FromStart>(&start_source))
    return isolate::Isolate::make(environment_.engine, thread, environment_.module, std::move(start->config), host());
  if (auto* parent = std::get_if<FromParent>(&start_source))
    return isolate::Isolate::make(environment_.engine, thread, std::move(parent->point), host());
  auto& from = std::get<FromImage>(start_source);
  const auto track = tracks_writes() ? isolate::SaveOptions::Track::yes : isolate::SaveOptions::Track::no;
  return isolate::Isolate::restore(environment_.engine, thread, environment_.module, {from.image, from.packs, track}, environment_.limits,
                                   host());
}

void VirtualThread::not_made(const Error& error) {
  fail_request(ThreadFate::gone, error);
  moved_ = true;
}

isolate::Stop VirtualThread::resume() {
  {
    std::lock_guard lock(mutex_);
    running_ = true;
    if (terminate_wanted_) isolate_->terminate();
    if (suspend_wanted_ || checkpoint_wanted_) isolate_->suspend(kNoPause);
  }
  environment_.guests_running.add(1);
  if (task_) environment_.guests_running.set_cell(lane_.number(), std::uint64_t{*task_} + 1);
  isolate::Stop stop = isolate_->resume({.polls = polls_});
  environment_.guests_running.set_cell(lane_.number(), 0);
  environment_.guests_running.add(-1);
  std::lock_guard lock(mutex_);
  running_ = false;
  return stop;
}

VirtualThread::Next VirtualThread::follow(const isolate::Stop& stop) {
  if (std::holds_alternative<isolate::Suspended>(stop)) {
    std::lock_guard lock(mutex_);
    suspend_wanted_ = suspend_wanted_ || polls_.has_value();
    return Next::run_again;
  }
  if (const auto* parked = std::get_if<isolate::Parked>(&stop)) return follow_wait(parked->on);
  return end(stop);
}

// Checks again after it has registered what it waits for: room that came before that woke no thread.
VirtualThread::Next VirtualThread::wait_for_room(isolate::Outlet outlet) {
  std::lock_guard lock(mutex_);
  waits_for_room_ = outlet;
  return gate_.is_roomy(outlet) ? Next::run_again : Next::wait;
}

VirtualThread::Next VirtualThread::follow_wait(const isolate::Wait& wait) {
  const bool waits = waits_for_adoption();
  if (waits && must_be_thread(wait)) promote();
  if (const auto* sleep = std::get_if<isolate::SleepUntil>(&wait)) {
    environment_.sleeping_threads.add(sleep->deadline, id_);
    environment_.outgoing.wake();
  }
  if (const auto* mail = std::get_if<isolate::AwaitMail>(&wait); mail != nullptr && !waits) wait_for_item(*mail);
  if (std::holds_alternative<isolate::ForkRequested>(wait)) return waits ? Next::wait : fork();
  if (const auto* room = std::get_if<isolate::AwaitRoom>(&wait)) return wait_for_room(room->outlet);
  std::lock_guard lock(mutex_);
  waits_for_chunk_ = std::holds_alternative<isolate::AwaitChunk>(wait);
  if (!std::holds_alternative<isolate::AtCheckpoint>(wait)) return Next::wait;
  checkpoint_wanted_ = checkpoint_wanted_ || (environment_.keep_images && !waits);
  return Next::run_again;
}

// The child's name comes from the number of the spawn that announces it, so no other spawn may be emitted in between. The child itself
// begins wherever home places it.
VirtualThread::Next VirtualThread::fork() {
  if (!may_fork()) return refuse_fork();
  const job::ThreadId child = gate_.next_child();
  Effect effect;
  effect.mutable_spawn()->set_child(child.value());
  if (gate_.next_spawn() <= spawns_before_) {
    isolate_->answer_fork(child.value());
  } else {
    const auto image = save_child(child);
    if (!image) return refuse_fork();
    effect.mutable_spawn()->set_image(image->bytes.data(), image->bytes.size());
    if (auto point = isolate_->fork(child.value()))
      environment_.spawned_children.put(os::monotonic_now(), *image, *std::move(point));
    else
      isolate_->answer_fork(child.value());
  }
  gate_.emit(std::move(effect));
  return Next::run_again;
}

bool VirtualThread::may_fork() const {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_) return false;  // no children of a thread that is elsewhere
  }
  if (gate_.fork_was_refused()) return false;
  return gate_.next_spawn() <= spawns_before_ || environment_.children + gate_.spawns() < environment_.most_children;
}

// A refusal is recorded: a replay, perhaps in a worker with fewer threads, has to see it too. Where the earlier run forked, a thread that
// cannot fork here is given back: it can do so elsewhere.
VirtualThread::Next VirtualThread::refuse_fork() {
  if (const Status refused = gate_.refuse_fork(); !refused) {
    fail_request(ThreadFate::gone, fail(Kind::overloaded, "the thread forks as it did before, and there is no room for its child here"));
    moved_ = true;
    return Next::over;
  }
  isolate_->refuse_fork();
  return Next::run_again;
}

Status VirtualThread::report(ByteView bytes) {
  Effect effect;
  effect.set_report(bytes.data(), bytes.size());
  gate_.emit(std::move(effect));
  return ok();
}

bool VirtualThread::answer_requests() {
  bool suspend = false, checkpoint = false;
  {
    std::lock_guard lock(mutex_);
    if (terminate_wanted_) return true;  // the next run ends at once
    suspend = std::exchange(suspend_wanted_, false);
    checkpoint = std::exchange(checkpoint_wanted_, false) && !suspend;
    request_deadline_.reset();
  }
  if (!suspend && !checkpoint) return true;
  if (auto saved = save(suspend ? FromWorker::Image::SUSPENDED : FromWorker::Image::CHECKPOINT); !saved) {
    fail_request(ThreadFate::alive, saved.error());
    return true;
  }
  moved_ = suspend;
  return !suspend;
}

Result<Hash256> VirtualThread::save(FromWorker::Image::Why why) {
  FromWorker frame;
  frame.mutable_image()->set_why(why);
  return send_image(std::move(frame), gate_.save(), [this](const isolate::SaveOptions& options) { return isolate_->save(options); });
}

Result<Hash256> VirtualThread::save_child(job::ThreadId child) {
  FromWorker frame;
  frame.mutable_image()->set_why(FromWorker::Image::SPAWNED);
  frame.mutable_image()->set_spawn(gate_.next_spawn());
  return send_image(std::move(frame), gate_.fork(child).save(),
                    [&](const isolate::SaveOptions& options) { return isolate_->save_child(child.value(), options); });
}

Result<Hash256> VirtualThread::send_image(FromWorker frame, Bytes gate, const SaveIsolate& save_isolate) {
  using isolate::SaveOptions;
  // Effects that may leave are sent before the image, so that a program that is suspended has printed what it wrote.
  for (const FromWorker& before : gate_.take_frames()) environment_.outgoing.put(before);
  // A program that forks once does so again: the next image is to have the changes only.
  const bool track = environment_.keep_images || tracked_ || frame.image().why() == FromWorker::Image::SPAWNED;
  SaveOptions options{.pages = tracked_ ? SaveOptions::Pages::changed : SaveOptions::Pages::all,
                      .track = track ? SaveOptions::Track::yes : SaveOptions::Track::no,
                      .job_state = std::move(gate)};
  // The image is written to the memory that goes to the parent: a second copy could be as large as the program.
  std::shared_ptr<os::UnsealedMemory> room;
  options.make_memory = [&](std::size_t bytes) -> Result<wire::ImageMemory> {
    GW_TRY(os::UnsealedMemory made, os::UnsealedMemory::make("image", bytes));
    room = std::make_shared<os::UnsealedMemory>(std::move(made));
    return wire::ImageMemory{room->bytes(), room};
  };
  // If anything fails, the writes that should have been saved are not tracked any more: the next image has all pages.
  tracked_ = false;
  Hash256 id;
  {
    GW_TRY(const wire::Image image, save_isolate(options));
    id = image.id();
  }
  GW_TRY(const os::SealedMemory memory, std::move(*room).seal());
  GW_TRY(os::UniqueFd descriptor, memory.share());
  tracked_ = track;
  frame.mutable_image()->set_thread(id_);
  frame.mutable_image()->set_id(id.bytes.data(), id.bytes.size());
  std::vector<os::UniqueFd> descriptors;
  descriptors.push_back(std::move(descriptor));
  // Before the parent has the image: it may call the image stable at once, and the thread may wait for that.
  if (frame.image().why() != FromWorker::Image::SPAWNED) gate_.on_saved(id);
  environment_.outgoing.put(frame, std::move(descriptors));
  return id;
}

VirtualThread::Next VirtualThread::end(const isolate::Stop& stop) {
  end_ = wire_end(stop);
  if (!leaves_files(stop)) return finish();
  outputs_.emplace(isolate_->outputs());
  return hand_out_files();
}

// Files are left by the main thread and by tasks; a forked thread has the outputs of its parent, and leaves none.
bool VirtualThread::leaves_files(const isolate::Stop& stop) const {
  if (!std::holds_alternative<isolate::Exited>(stop)) return false;
  return id_ == job::kMainThread.value() || job::task_of_thread(job::ThreadId(id_), wire::kMaxTasks).has_value();
}

VirtualThread::Next VirtualThread::finish() {
  if (tasks_ != nullptr && end_task()) return Next::task_over;
  say_end(end_);
  return Next::over;
}

void VirtualThread::say_end(Effect::End end) {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_) return;
  }
  // First, because home may end this process as soon as it knows of the end.
  FromWorker frame;
  frame.mutable_stopped()->set_thread(id_);
  if (isolate_) frame.mutable_stopped()->set_cpu_time_ns(static_cast<std::uint64_t>(isolate_->cpu_time().count()));
  environment_.outgoing.put(frame);
  Effect effect;
  *effect.mutable_end() = std::move(end);
  gate_.emit(std::move(effect));
}

// A program that has ended cannot be suspended: the requester sees the end instead.
VirtualThread::Next VirtualThread::hand_out_files() {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_ && !(task_ && !promoted_)) return Next::over;
    if (abandoned_) outputs_.reset();
    suspend_wanted_ = checkpoint_wanted_ = false;
    request_deadline_.reset();
  }
  if (!outputs_) return finish();
  while (gate_.has_room(isolate::Outlet::output)) {
    const auto piece = outputs_->next();
    if (!piece) {
      end_.Clear();
      end_.set_reason(Effect::End::TRAPPED);
      end_.set_sentence("its output files could not be handed out: " + piece.error().detail);
    }
    if (!piece || !*piece) {
      outputs_.reset();
      return finish();
    }
    Effect effect;
    *effect.mutable_file() = wire_file(**piece);
    gate_.emit(std::move(effect));
  }
  if (waits_for_adoption()) promote();  // the files of a task do not fit into its result
  return wait_for_room(isolate::Outlet::output);
}

void VirtualThread::fail_request(ThreadFate fate, const Error& error) {
  environment_.outgoing.put(failed_frame(id_, gate_.epoch(), fate, error));
}

}  // namespace gw::worker
