#include "worker/worker.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/clock.h"
#include "os/files/io.h"
#include "os/sealed_memory.h"
#include "worker/frame_values.h"

namespace gw::worker {
namespace {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

constexpr std::uint64_t kDefaultChildren = 1024;
constexpr std::size_t kMaxNativeBytes = 512u << 20;
constexpr std::size_t kMaxImageBytes = 64ull << 30;
constexpr std::size_t kMaxPacks = 8192;  // of one image
// While so much waits for a parent that does not read, effects stay in the gates, which make their guests wait.
constexpr std::size_t kMaxUnsentBytes = 16u << 20;
// In nanoseconds: the loop does not spin, and no sum overflows.
constexpr std::uint64_t kShortestPromotion = 1'000'000, kLongestPromotion = 1ull << 60;

std::uint64_t spawns_in(const wire::MarkList& stored) { return wire::mark_of(wire::marks_of(stored), job::kLogStream); }

}  // namespace

Worker::Worker(Parts parts)
    : engine_(parts.engine),
      socket_(std::move(parts.socket)),
      guests_running_(std::move(parts.guests_running)),
      outgoing_(std::move(parts.wake)) {
  say_hello(std::move(parts.held_by));
}

void Worker::say_hello(std::vector<std::string> held_by) {
  FromWorker frame;
  frame.mutable_hello()->set_version(wire::kWorkerProtocol);
  for (std::string& part : held_by) frame.mutable_hello()->add_cage(std::move(part));
  outgoing_.put_now(frame);
}

// --- the loop

Status Worker::run() {
  for (;;) {
    GW_TRY(const Flow flow, turn());
    if (flow == Flow::end) return ok();
  }
}

Result<Worker::Flow> Worker::turn() {
  if (Status written = write_frames(); !written) return Flow::end;  // the parent is gone
  std::array<pollfd, 2> watched{
      {{socket_.fd(), static_cast<short>(socket_.wants_write() ? POLLIN | POLLOUT : POLLIN), 0}, {outgoing_.wake_fd(), POLLIN, 0}}};
  const Time before = os::monotonic_now();
  const std::optional<Time> look = next_look(before);
  const Time wait = look ? std::max(*look - before, Time(0)) : Time(0);
  const timespec timeout{.tv_sec = wait / std::chrono::seconds(1), .tv_nsec = (wait % std::chrono::seconds(1)).count()};
  const int ready = ::ppoll(watched.data(), watched.size(), look ? &timeout : nullptr, nullptr);
  if (ready < 0 && errno != EINTR) return fail(Kind::internal, "cannot wait for the parent: {}", os::reason(errno));
  const Time now = os::monotonic_now();
  for (const auto& lane : lanes_) lane->on_tick(now);
  wake_sleeping_threads(now);
  spawned_children_.on_tick(now);
  give_up_late_requests(now);
  remove_finished();
  GW_TRY_VOID(look_after_tasks(now));
  return ready > 0 && watched[0].revents != 0 ? read_frames() : Flow::on;
}

std::optional<Worker::Time> Worker::next_look(Time now) const {
  std::optional<Time> next = sleeping_threads_.next();
  const auto sooner = [&](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  sooner(spawned_children_.next());
  for (const auto& lane : lanes_) sooner(lane->slice_ends());
  for (const auto& [id, thread] : threads_) sooner(thread->request_deadline());
  if (tasks_) {
    sooner(tasks_->next());
    for (const auto& lane : lanes_) sooner(lane->task_thread()->promotion_due());
    if (tasks_->busy()) sooner(now + tasks_->promote_after());  // of one that begins after this look
  }
  return next;
}

Status Worker::write_frames() {
  GW_TRY_VOID(queue_messages(outgoing_.take()));
  for (const auto& [id, thread] : threads_) GW_TRY_VOID(queue_effects(thread->gate()));
  for (const auto& [id, thread] : task_threads_) GW_TRY_VOID(queue_effects(thread->gate()));
  GW_TRY_VOID(queue_results());
  return socket_.on_writable();
}

Status Worker::queue_messages(std::deque<os::Message> messages) {
  for (os::Message& message : messages) GW_TRY_VOID(socket_.queue(std::move(message)));
  return ok();
}

Status Worker::queue_effects(ThreadGate& gate) {
  if (socket_.queued_bytes() > kMaxUnsentBytes) return ok();
  ThreadGate::InOrder taken = gate.take_in_order();
  GW_TRY_VOID(queue_messages(std::move(taken.before)));
  for (const FromWorker& frame : taken.frames) {
    GW_TRY(Bytes bytes, wire::encode(frame));
    GW_TRY_VOID(socket_.queue({std::move(bytes), {}}));
  }
  return ok();
}

// While the parent does not read, results stay with the tasks, and no more tasks begin then.
Status Worker::queue_results() {
  if (!tasks_) return ok();
  while (socket_.queued_bytes() <= kMaxUnsentBytes) {
    auto frame = tasks_->take_frame();
    if (!frame) break;
    GW_TRY_VOID(socket_.queue({*std::move(frame), {}}));
  }
  if (tasks_->take_released()) offer_tasks();
  return ok();
}

void Worker::wake_sleeping_threads(Time now) {
  for (const std::uint64_t id : sleeping_threads_.take_due(now)) {
    if (VirtualThread* thread = find(id)) {
      thread->wake();
    } else if (tasks_) {
      for (const auto& lane : lanes_) lane->task_thread()->wake_task(id);
    }
  }
}

// Before frames are read: the parent may know of a promoted task as soon as its frame is out.
Status Worker::look_after_tasks(Time now) {
  if (!tasks_) return ok();
  for (const auto& lane : lanes_) lane->task_thread()->promote_if_due(now);
  tasks_->on_tick(now);
  return add_promoted();
}

Status Worker::add_promoted() {
  for (Thread& thread : tasks_->take_promoted()) {
    const std::uint64_t id = thread->id();
    GW_TRY_VOID(check_new(id));
    add_task_thread(thread->lane());
    threads_[id] = std::move(thread);
  }
  return ok();
}

void Worker::add_task_thread(Lane& lane) {
  lane.set_task_thread(std::make_shared<VirtualThread>(*environment_, lane, *tasks_));
  lane.offer_tasks();
}

void Worker::offer_tasks() {
  for (const auto& lane : lanes_) lane->offer_tasks();
}

void Worker::give_up_late_requests(Time now) {
  for (const auto& [id, thread] : threads_) {
    if (!thread->give_up_requests(now)) continue;
    not_done(*thread,
             fail(Kind::guest_fault, "the program has not reached a point where it can be stopped: was it built with --mobile=coarse?"));
  }
}

void Worker::remove_finished() {
  std::erase_if(threads_, [this](const auto& entry) {
    if (!entry.second->finished()) return false;
    sleeping_threads_.forget(entry.first);
    return true;
  });
}

Result<Worker::Flow> Worker::read_frames() {
  GW_TRY(auto received, socket_.on_readable());
  for (os::Message& message : received.messages) {
    GW_TRY(const Flow flow, on_frame(std::move(message)));
    if (flow == Flow::end) return flow;
  }
  return received.closed ? Flow::end : Flow::on;
}

// --- frames

Result<Worker::Flow> Worker::on_frame(os::Message message) {
  GW_TRY(const ToWorker frame, wire::decode_to_worker(message.payload, message.descriptors.size()));
  const auto go_on = [](Status status) -> Result<Flow> {
    if (!status) return status.error();
    return Flow::on;
  };
  if (!environment_ && !frame.has_load() && !frame.has_shutdown()) return fail(Kind::invalid, "the first frame must be a Load");
  switch (frame.kind_case()) {
    case ToWorker::kLoad:
      return go_on(on_load(frame.load(), std::move(message.descriptors)));
    case ToWorker::kStart:
      return go_on(on_start(frame.start(), std::move(message.descriptors)));
    case ToWorker::kRestore:
      return go_on(on_restore(frame.restore(), std::move(message.descriptors)));
    case ToWorker::kInput:
      return go_on(on_input(frame.input()));
    case ToWorker::kMails:
      return go_on(on_mails(frame.mails()));
    case ToWorker::kChunk:
      return go_on(on_chunk(frame.chunk()));
    case ToWorker::kStored:
      return go_on(on_stored(frame.stored()));
    case ToWorker::kDeterminantsStable:
      return go_on(on_determinants_stable(frame.determinants_stable()));
    case ToWorker::kImageStable:
      return go_on(on_image_stable(frame.image_stable()));
    case ToWorker::kSuspend:
      return go_on(on_request(frame.suspend(), &VirtualThread::request_suspend));
    case ToWorker::kCheckpoint:
      return go_on(on_request(frame.checkpoint(), &VirtualThread::request_checkpoint));
    case ToWorker::kTerminate:
      return go_on(on_request(frame.terminate(), &VirtualThread::request_terminate));
    case ToWorker::kDrop:
      return go_on(on_drop(frame.drop()));
    case ToWorker::kChildren:
      environment_->children = frame.children().unfinished();
      return Flow::on;
    case ToWorker::kShutdown:
      return Flow::end;
    case ToWorker::kCallTask:
      return go_on(on_call_task(frame.call_task()));
    case ToWorker::kTaskSetup:
      return go_on(on_task_setup(frame.task_setup(), std::move(message.descriptors)));
    case ToWorker::kRunTasks:
      return go_on(on_run_tasks(frame.run_tasks()));
    case ToWorker::kDropTasks:
      return go_on(on_drop_tasks(frame.drop_tasks()));
    case ToWorker::kAdopt:
      return go_on(on_adopt(frame.adopt()));
    case ToWorker::KIND_NOT_SET:
      break;
  }
  return fail(Kind::unsupported, "a frame of this kind is not understood");
}

Status Worker::on_load(const ToWorker::Load& request, std::vector<os::UniqueFd> descriptors) {
  if (environment_) return fail(Kind::invalid, "a second Load came: a worker serves one job");
  Status loaded = load(request, std::move(descriptors));
  if (!loaded) {
    not_made(0, 0, loaded.error());
    return ok();
  }
  FromWorker frame;
  frame.mutable_loaded()->set_code_refused(environment_->module->code_source() == isolate::CodeSource::native_refused);
  outgoing_.put_now(frame);
  return ok();
}

Status Worker::load(const ToWorker::Load& request, std::vector<os::UniqueFd> descriptors) {
  GW_TRY(const auto wasm, os::SealedMemory::open_sealed(std::move(descriptors[0]), wire::kMaxModuleBytes));
  std::optional<os::SealedMemory> native;
  if (request.has_code()) {
    GW_TRY(auto opened, os::SealedMemory::open_sealed(std::move(descriptors[1]), kMaxNativeBytes));
    native.emplace(std::move(opened));
  }
  GW_TRY(auto module, engine_.load(Bytes(wasm.bytes().begin(), wasm.bytes().end()), native ? native->bytes() : ByteView()));
  for (std::uint32_t i = 0; i < request.pool_threads(); i++) {
    GW_TRY(auto lane, Lane::make(engine_, i, outgoing_));
    lanes_.push_back(std::move(lane));
  }
  GW_TRY(const isolate::Limits limits, limits_of(request.limits()));
  job::EffectGate::Config gate;
  if (request.determinants_after_image() > 0) gate.determinants_after_image = request.determinants_after_image();
  environment_.emplace(engine_, std::move(module), limits, request.keep_images(),
                       request.never_replayed() ? ThreadGate::Recording::off : ThreadGate::Recording::on, outgoing_, chunks_,
                       sleeping_threads_, guests_running_, spawned_children_,
                       request.limits().threads() == 0 ? kDefaultChildren : request.limits().threads(), gate);
  return ok();
}

Status Worker::check_new(std::uint64_t id) const {
  if (threads_.contains(id) || task_threads_.contains(id)) return fail(Kind::invalid, "thread {} is here already", id);
  return ok();
}

void Worker::add(NewThread new_thread) {
  const std::uint64_t id = new_thread.gate.thread().value();
  auto thread = std::make_shared<VirtualThread>(*environment_, next_lane(), std::move(new_thread.gate), std::move(new_thread.start_source));
  thread->set_spawns_before(new_thread.spawns_before);
  if (new_thread.stop_after_polls) thread->stop_after_polls(*new_thread.stop_after_polls);
  threads_[id] = thread;
  thread->start();
}

// The thread may take a while to stop; its name is free at once.
void Worker::drop(std::uint64_t id) {
  VirtualThread* thread = find(id);
  if (thread == nullptr) return;
  thread->abandon();
  threads_.erase(id);
  sleeping_threads_.forget(id);
}

Status Worker::on_drop(const ToWorker::Thread& which) {
  restoring_.erase(which.thread());
  drop(which.thread());
  return ok();
}

// A thread that cannot be made fails alone: the worker runs others.
Status Worker::on_start(const ToWorker::Start& start, std::vector<os::UniqueFd> descriptors) {
  GW_TRY_VOID(check_new(start.thread()));
  const std::uint64_t epoch = std::max<std::uint64_t>(start.epoch(), 1);
  auto opened = open_config(std::move(descriptors[0]));
  if (!opened) return not_made(start.thread(), epoch, opened.error()), ok();
  isolate::IsolateConfig config = config_of(*opened, environment_->limits);
  auto gate = job::EffectGate::begin(job::ThreadId(start.thread()), epoch, {start.determinants().begin(), start.determinants().end()},
                                     environment_->gate);
  if (!gate) return not_made(start.thread(), epoch, gate.error()), ok();
  gate->set_job(start.job());
  if (start.task_host()) {
    task_threads_[start.thread()] = std::make_unique<TaskThread>(*environment_, next_lane(), *std::move(gate), std::move(config));
    return ok();
  }
  add({.gate = *std::move(gate),
       .start_source = VirtualThread::FromStart{std::move(config)},
       .spawns_before = spawns_in(start.stored()),
       .stop_after_polls = start.has_stop_after_polls() ? std::optional(start.stop_after_polls()) : std::nullopt});
  return ok();
}

Result<wire::pb::ThreadConfig> Worker::open_config(os::UniqueFd descriptor) {
  GW_TRY(const auto memory, os::SealedMemory::open_sealed(std::move(descriptor), wire::kMaxThreadConfigBytes));
  return wire::decode_thread_config(memory.bytes());
}

// --- tasks

Status Worker::on_task_setup(const ToWorker::TaskSetup& setup, std::vector<os::UniqueFd> descriptors) {
  if (tasks_) return fail(Kind::invalid, "a second TaskSetup came: a worker serves one job");
  GW_TRY(auto config, open_config(std::move(descriptors[0])));
  const auto promote_after = std::chrono::nanoseconds(std::clamp(setup.promote_after_ns(), kShortestPromotion, kLongestPromotion));
  TaskRuns::Setup made{.config = std::move(config), .tasks = setup.tasks(), .values = setup.values(), .promote_after = promote_after};
  GW_TRY(job::TaskConfigs configs, TaskRuns::configs_of(made));
  tasks_.emplace(std::move(made), std::move(configs), outgoing_);
  for (const auto& lane : lanes_) add_task_thread(*lane);
  return ok();
}

// The parent may have dropped a task and given it again before it heard that the task was promoted. It then takes the promotion for that of
// the task given last, so that one does not run.
Status Worker::on_run_tasks(const ToWorker::Tasks& tasks) {
  if (!tasks_) return fail(Kind::invalid, "tasks are to run, but there was no TaskSetup");
  GW_TRY_VOID(tasks_->add(tasks));
  tasks_->set_lanes(tasks.lanes(), tasks.promoted());
  GW_TRY_VOID(add_promoted());
  for (const auto& [id, thread] : threads_)
    if (const auto task = job::task_of_thread(job::ThreadId(id), tasks_->tasks())) tasks_->drop(*task);
  offer_tasks();
  return ok();
}

Status Worker::on_drop_tasks(const ToWorker::Tasks& tasks) {
  if (!tasks_) return ok();
  tasks_->drop(tasks.ranges());
  for (const auto& lane : lanes_) lane->task_thread()->drop_task(tasks.ranges());
  return ok();
}

Status Worker::on_adopt(const ToWorker::Thread& which) {
  if (VirtualThread* thread = find(which.thread())) thread->adopt();
  return ok();
}

// The first descriptor of a restore is the image; the others, also those of later frames, are packs with its pages.
Status Worker::open_images(std::vector<os::UniqueFd> descriptors, Restoring& restoring) {
  for (os::UniqueFd& fd : descriptors) {
    if (restoring.from && restoring.from->packs.size() >= kMaxPacks) return fail(Kind::overloaded, "an image in too many pieces");
    GW_TRY(auto opened, os::SealedMemory::open_sealed(std::move(fd), kMaxImageBytes));
    opened.close_descriptor();  // a large image comes in more pieces than a process may have descriptors
    const auto memory = std::make_shared<const os::SealedMemory>(std::move(opened));
    if (restoring.from) {
      GW_TRY(restoring.from->packs.emplace_back(), wire::BlobPack::decode(memory->bytes(), memory));
    } else {
      GW_TRY(auto image, wire::Image::decode(memory->bytes(), memory));
      restoring.from.emplace(VirtualThread::FromImage{std::move(image), {}, restoring.begins});
    }
  }
  return ok();
}

Status Worker::on_restore(const ToWorker::Restore& restore, std::vector<os::UniqueFd> descriptors) {
  const std::uint64_t id = restore.thread();
  auto found = restoring_.find(id);
  if (found == restoring_.end()) {
    if (descriptors.empty()) return fail(Kind::invalid, "thread {} is to be restored, but there is no image", id);
    found = restoring_
                .emplace(id, Restoring{.epoch = restore.epoch(), .spawns_before = spawns_in(restore.stored()), .begins = restore.begins()})
                .first;
    if (restore.has_stop_after_polls()) found->second.stop_after_polls = restore.stop_after_polls();
  } else if (restore.epoch() != found->second.epoch) {
    return fail(Kind::invalid, "more of thread {} was expected", id);
  }
  Restoring& restoring = found->second;
  if (!restoring.failure)
    if (Status opened = open_images(std::move(descriptors), restoring); !opened) restoring.failure = opened.error();
  auto& list = restoring.determinants;
  // The gate refuses too many, and this thread alone is not made then.
  if (list.size() <= job::EffectGate::kMaxReplay) list.insert(list.end(), restore.determinants().begin(), restore.determinants().end());
  if (restore.more()) return ok();
  Restoring complete = std::move(restoring);
  restoring_.erase(found);
  if (complete.failure) return not_made(id, complete.epoch, *complete.failure), ok();
  return finish_restore(id, std::move(complete));
}

Status Worker::finish_restore(std::uint64_t id, Restoring restoring) {
  const Bytes& state = restoring.from->image.content().job_state;
  // Without a state it comes from a program that ran alone, without a gate.
  auto gate = state.empty() ? Result<job::EffectGate>(job::EffectGate(job::ThreadId(id), restoring.epoch, environment_->gate))
                            : job::EffectGate::restore(state, restoring.epoch, std::move(restoring.determinants), environment_->gate);
  if (!gate) return not_made(id, restoring.epoch, gate.error()), ok();
  if (gate->thread().value() != id) {
    not_made(id, restoring.epoch, fail(Kind::invalid, "the image for thread {} is of thread {}", id, gate->thread().value()));
    return ok();
  }
  GW_TRY_VOID(check_new(id));
  auto here = spawned_children_.take(restoring.from->image.id());
  add({.gate = *std::move(gate),
       .start_source = here ? VirtualThread::StartSource(VirtualThread::FromParent{*std::move(here)})
                            : VirtualThread::StartSource(*std::move(restoring.from)),
       .spawns_before = restoring.spawns_before,
       .stop_after_polls = restoring.stop_after_polls});
  return ok();
}

VirtualThread* Worker::find(std::uint64_t id) {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : found->second.get();
}

ThreadGate* Worker::find_gate(std::uint64_t id) {
  if (VirtualThread* thread = find(id)) return &thread->gate();
  const auto found = task_threads_.find(id);
  return found == task_threads_.end() ? nullptr : &found->second->gate();
}

Status Worker::on_call_task(const ToWorker::CallTask& request) {
  const auto found = task_threads_.find(request.thread());
  if (found == task_threads_.end()) return fail(Kind::invalid, "thread {} carries out no tasks", request.thread());
  if (const Status called = found->second->call(request); !called) outgoing_.put_now(task_frame(request.call(), called.error(), {}));
  return ok();
}

Status Worker::on_input(const ToWorker::Input& input) {
  VirtualThread* thread = find(input.thread());
  if (thread == nullptr) return ok();
  GW_TRY_VOID(thread->input().on_piece(input));
  thread->wake();
  return ok();
}

Status Worker::on_mails(const ToWorker::Mails& mails) {
  VirtualThread* thread = find(mails.thread());
  if (thread == nullptr) return ok();
  GW_TRY_VOID(thread->mailbox().on_mails(mails));
  thread->wake();
  return ok();
}

Status Worker::on_chunk(const ToWorker::Chunk& chunk) {
  GW_TRY_VOID(chunks_.on_chunk(chunk));
  // Threads that wait for something else look once and wait again.
  for (const auto& [id, thread] : threads_) thread->wake_from_chunk();
  if (tasks_)
    for (const auto& lane : lanes_) lane->task_thread()->wake_from_chunk();
  return ok();
}

Status Worker::on_stored(const ToWorker::Stored& stored) {
  ThreadGate* gate = find_gate(stored.thread());
  if (gate == nullptr) return ok();
  GW_TRY_VOID(gate->on_stored(wire::marks_of(stored.streams())));
  wake_for_room(stored.thread());
  return ok();
}

Status Worker::on_determinants_stable(const ToWorker::Stable& stable) {
  ThreadGate* gate = find_gate(stable.thread());
  if (gate == nullptr) return ok();
  GW_TRY_VOID(gate->on_determinants_stable(stable.count()));
  wake_for_room(stable.thread());
  return ok();
}

void Worker::wake_for_room(std::uint64_t id) {
  if (VirtualThread* thread = find(id)) thread->wake_for_room();
}

Status Worker::on_image_stable(const ToWorker::ImageStable& stable) {
  VirtualThread* thread = find(stable.thread());
  if (thread == nullptr) return ok();
  Hash256 image;
  std::ranges::copy(stable.image(), image.bytes.begin());
  GW_TRY_VOID(thread->gate().on_image_stable(image));
  thread->wake_for_room();
  return ok();
}

Status Worker::on_request(const ToWorker::Thread& which, void (VirtualThread::*request)()) {
  VirtualThread* thread = find(which.thread());
  if (thread == nullptr || thread->gone()) return ok();  // the thread has ended, and the parent will see
  if (!environment_->module->mobile() && request != &VirtualThread::request_terminate) {
    not_done(*thread, fail(Kind::guest_fault, "the program was built with --mobile=off and cannot be suspended"));
    return ok();
  }
  (thread->*request)();
  return ok();
}

void Worker::not_made(std::uint64_t thread, std::uint64_t epoch, const Error& error) {
  outgoing_.put_now(failed_frame(thread, epoch, ThreadFate::gone, error));
}

void Worker::not_done(VirtualThread& thread, const Error& error) {
  outgoing_.put_now(failed_frame(thread.id(), thread.gate().epoch(), ThreadFate::alive, error));
}

}  // namespace gw::worker
