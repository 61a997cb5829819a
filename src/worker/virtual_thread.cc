#include "worker/virtual_thread.h"

#include "os/clock.h"
#include "os/sealed_memory.h"

namespace gw::worker {
namespace {

using wire::pb::Effect;
using wire::pb::FromWorker;

// Programs with coarse mobility may take long to reach a point where they can stop; the parent is told when it takes longer than this.
constexpr std::chrono::seconds kPatience{20};
// Never paused: a paused guest would hold its pool thread. It goes on until it reaches a poll.
constexpr std::chrono::hours kNoPause{24 * 365};

}  // namespace

VirtualThread::VirtualThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, StartSource start_source)
    : environment_(environment),
      lane_(lane),
      id_(gate.thread().value()),
      gate_(std::move(gate), environment.outgoing),
      input_(id_, gate_, environment.outgoing),
      forked_(std::holds_alternative<FromFork>(start_source)),
      start_source_(std::move(start_source)) {}

// --- requests

void VirtualThread::enqueue() {
  std::lock_guard lock(mutex_);
  enqueue_locked();
}

void VirtualThread::enqueue_locked() {
  if (gone_) return;
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
  Next next = Next::over;
  if (outputs_) {
    next = hand_out_files();
  } else if (Status made = make_isolate(); !made) {
    not_made(made.error());
  } else if (answer_requests()) {
    next = follow(resume());
    if (next != Next::over && !answer_requests()) next = Next::over;
  }
  std::unique_ptr<isolate::Isolate> leaving;
  std::lock_guard lock(mutex_);
  queued_ = false;
  if (next == Next::over) {
    gone_ = true;
    leaving = std::move(isolate_);
    environment_.outgoing.wake();  // the loop removes it
  } else if (next == Next::run_again || again_) {
    enqueue_locked();
  }
}

Status VirtualThread::make_isolate() {
  if (!start_source_) return ok();
  StartSource start_source = *std::exchange(start_source_, std::nullopt);
  const bool started = std::holds_alternative<FromStart>(start_source);
  GW_TRY(auto made, make_from(std::move(start_source)));
  {
    std::lock_guard lock(mutex_);
    isolate_ = std::move(made);
  }
  // From here on every change is relative to an image that home has.
  if (started && environment_.keep_images && environment_.module->mobile()) GW_TRY_VOID(save(FromWorker::Image::CHECKPOINT));
  return ok();
}

Result<std::unique_ptr<isolate::Isolate>> VirtualThread::make_from(StartSource start_source) {
  isolate::PoolThread& thread = lane_.pool_thread();
  if (auto* start = std::get_if<FromStart>(&start_source))
    return isolate::Isolate::make(environment_.engine, thread, environment_.module, std::move(start->config), host());
  if (auto* fork = std::get_if<FromFork>(&start_source))
    return isolate::Isolate::make(environment_.engine, thread, std::move(fork->point), host());
  const auto& from = std::get<FromImage>(start_source);
  return isolate::Isolate::restore(environment_.engine, thread, environment_.module, {from.image, from.ancestors}, environment_.limits,
                                   host());
}

// Home knows a child by its fork, and waits for its end; nobody else is known before it is made.
void VirtualThread::not_made(const Error& error) {
  if (forked_) {
    Effect::End end;
    end.set_reason(Effect::End::TRAPPED);
    end.set_sentence("could not be forked: " + error.detail);
    return say_end(std::move(end));
  }
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
  isolate::Stop stop = isolate_->resume({.polls = polls_});
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

// Looks again after it has said what it waits for: what came before that has woken nobody.
VirtualThread::Next VirtualThread::wait_for_room(isolate::Outlet outlet) {
  std::lock_guard lock(mutex_);
  waits_for_room_ = outlet;
  return gate_.is_roomy(outlet) ? Next::run_again : Next::wait;
}

VirtualThread::Next VirtualThread::follow_wait(const isolate::Wait& wait) {
  if (const auto* sleep = std::get_if<isolate::SleepUntil>(&wait)) {
    environment_.sleeping_threads.add(sleep->deadline, id_);
    environment_.outgoing.wake();
  }
  if (std::holds_alternative<isolate::ForkRequested>(wait)) {
    fork_child();
    return Next::run_again;
  }
  if (const auto* room = std::get_if<isolate::AwaitRoom>(&wait)) return wait_for_room(room->outlet);
  std::lock_guard lock(mutex_);
  waits_for_chunk_ = std::holds_alternative<isolate::AwaitChunk>(wait);
  if (!std::holds_alternative<isolate::AtCheckpoint>(wait)) return Next::wait;
  checkpoint_wanted_ = checkpoint_wanted_ || environment_.keep_images;
  return Next::run_again;
}

// The child's name comes from the number of the effect that announces it, so nothing may be emitted in between.
void VirtualThread::fork_child() {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_) return isolate_->refuse_fork();  // no children of a thread that is elsewhere
  }
  const job::ThreadId id = gate_.next_child();
  if (gate_.next_sequence() <= stored_before_) {
    isolate_->repeat_fork(id.value());
    Effect effect;
    effect.mutable_fork()->set_child(id.value());
    return gate_.emit(std::move(effect));
  }
  if (!environment_.forked_threads.reserve()) return isolate_->refuse_fork();
  auto point = isolate_->fork(id.value());
  if (!point) {
    environment_.forked_threads.release(1);
    return isolate_->refuse_fork();
  }
  start_child(id, *std::move(point));
}

// Where images are kept, home must have the child's first one before it hears of the child: then it is born here, else where there is
// room.
void VirtualThread::start_child(job::ThreadId id, isolate::ForkPoint point) {
  Lane& lane = environment_.keep_images ? lane_ : environment_.next_lane();
  auto child = std::make_shared<VirtualThread>(environment_, lane, gate_.fork(id), FromFork{std::move(point)});
  child->tracked_ = tracked_;  // its pages are the parent's, and home has those
  Effect effect;
  effect.mutable_fork()->set_child(id.value());
  if (environment_.keep_images && child->make_isolate()) {
    if (const auto image = child->save(FromWorker::Image::FORKED))
      effect.mutable_fork()->set_image(image->bytes.data(), image->bytes.size());
  }
  environment_.forked_threads.put(std::move(child));
  gate_.emit(std::move(effect));
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
  using isolate::SaveOptions;
  // What may leave leaves before the image, so that a program that is suspended has printed what it wrote.
  for (const FromWorker& frame : gate_.take_frames()) environment_.outgoing.put(frame);
  SaveOptions options{.pages = tracked_ ? SaveOptions::Pages::changed : SaveOptions::Pages::all,
                      .track = environment_.keep_images ? SaveOptions::Track::yes : SaveOptions::Track::no,
                      .job_state = gate_.save()};
  // The image is written to the memory that goes to the parent: a second copy could be as large as the program.
  std::shared_ptr<os::UnsealedMemory> room;
  options.make_memory = [&](std::size_t bytes) -> Result<wire::ImageMemory> {
    GW_TRY(os::UnsealedMemory made, os::UnsealedMemory::make("image", bytes));
    room = std::make_shared<os::UnsealedMemory>(std::move(made));
    return wire::ImageMemory{room->bytes(), room};
  };
  Hash256 id;
  {
    GW_TRY(const wire::Image image, isolate_->save(options));
    id = image.id();
  }
  tracked_ = environment_.keep_images;
  gate_.on_saved(id);
  GW_TRY(const os::SealedMemory memory, std::move(*room).seal());
  GW_TRY(os::UniqueFd descriptor, memory.share());
  FromWorker frame;
  frame.mutable_image()->set_thread(id_);
  frame.mutable_image()->set_why(why);
  frame.mutable_image()->set_id(id.bytes.data(), id.bytes.size());
  std::vector<os::UniqueFd> descriptors;
  descriptors.push_back(std::move(descriptor));
  environment_.outgoing.put(frame, std::move(descriptors));
  return id;
}

VirtualThread::Next VirtualThread::end(const isolate::Stop& stop) {
  end_ = wire_end(stop);
  if (id_ == job::kMainThread.value() && std::holds_alternative<isolate::Exited>(stop)) {
    outputs_.emplace(isolate_->outputs());
    return hand_out_files();
  }
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

// A program that has ended cannot be suspended: whoever asks for it sees the end instead.
VirtualThread::Next VirtualThread::hand_out_files() {
  {
    std::lock_guard lock(mutex_);
    if (abandoned_) return Next::over;
    suspend_wanted_ = checkpoint_wanted_ = false;
    request_deadline_.reset();
  }
  while (gate_.has_room(isolate::Outlet::output)) {
    const auto piece = outputs_->next();
    if (!piece) {
      end_.Clear();
      end_.set_reason(Effect::End::TRAPPED);
      end_.set_sentence("its output files could not be handed out: " + piece.error().detail);
    }
    if (!piece || !*piece) {
      say_end(end_);
      return Next::over;
    }
    Effect effect;
    *effect.mutable_file() = wire_file(**piece);
    gate_.emit(std::move(effect));
  }
  return wait_for_room(isolate::Outlet::output);
}

void VirtualThread::fail_request(ThreadFate fate, const Error& error) {
  environment_.outgoing.put(failed_frame(id_, gate_.epoch(), fate, error));
}

}  // namespace gw::worker
