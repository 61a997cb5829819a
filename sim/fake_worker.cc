#include "fake_worker.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/reached.h"
#include "job/authority/task_config.h"

namespace gw::sim {
namespace {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

template <class Frame>
std::uint64_t spawns_in(const Frame& frame) {
  return wire::mark_of(wire::marks_of(frame.stored()), job::kLogStream);
}

// Only a thread does this: a task that comes to it is promoted.
bool is_for_threads(StepKind kind) {
  return kind == StepKind::fork || kind == StepKind::checkpoint || kind == StepKind::send || kind == StepKind::receive;
}

}  // namespace

std::string encode_program(const GuestState& beginning) {
  return fmt::format("{} {} {} {} {}{}", beginning.program, beginning.steps, beginning.forks_left, beginning.pure, beginning.reads,
                     beginning.mates != 0   ? fmt::format(" {} {}", beginning.rigid, beginning.mates)
                     : beginning.rigid != 0 ? " 1"
                                            : "");
}

// The arguments have the program of the task alone, or the programs of all tasks.
GuestState decode_program(const wire::pb::ThreadConfig& config) {
  constexpr std::string_view kTask = "GODWIT_TASK=";
  int task = 0;
  for (const std::string& variable : config.env())
    if (variable.starts_with(kTask)) task = std::atoi(variable.c_str() + kTask.size());
  GuestState state;
  char* next = const_cast<char*>(config.args(config.args_size() > 1 ? task : 0).c_str());
  for (std::uint64_t* word : {&state.program, &state.steps, &state.forks_left, &state.pure, &state.reads, &state.rigid, &state.mates})
    *word = std::strtoull(next, &next, 10);
  state.ancestor = state.program;
  state.task = state.mates > 0 ? static_cast<std::uint64_t>(task) : 0;
  state.leaves = config.outputs().empty() ? 0 : 1;
  for (const wire::pb::InputEntry& entry : config.inputs())
    if (entry.path().starts_with(kGuestInputs)) take_file(state, entry.chunks(0));
  return state;
}

Result<std::vector<ThreadId>> FakeWorker::on_frame(const ToWorker& frame, const std::string& config, Bytes image,
                                                   std::vector<WorkerOutput>& out) {
  const auto thread_of = [&](std::uint64_t id) { return threads_.find(ThreadId{id}); };
  const std::vector<ThreadId> none;
  switch (frame.kind_case()) {
    case ToWorker::kLoad:
      gate_.determinants_after_image = frame.load().determinants_after_image();
      out.emplace_back().frame.mutable_loaded();
      return none;
    case ToWorker::kStart: {
      GW_TRY(const ThreadId started, start(frame.start(), config, out));
      return std::vector{started};
    }
    case ToWorker::kRestore:
      return restore(frame.restore(), std::move(image), out);
    case ToWorker::kStored:
      if (const auto found = thread_of(frame.stored().thread()); found != threads_.end()) {
        for (const auto& [stream, sequence] : wire::marks_of(frame.stored().streams()))
          GW_TRY_VOID(found->second.gate.on_stored(stream, sequence));
        flush(found->first, found->second, out);  // an end may have waited for it
        if (!found->second.ended) return wake(found->first, found->second);
        if (found->second.gate.outbox_empty()) threads_.erase(found);
      }
      return none;
    case ToWorker::kDeterminantsStable:
      if (const auto found = thread_of(frame.determinants_stable().thread()); found != threads_.end()) {
        GW_TRY_VOID(found->second.gate.on_determinants_stable(frame.determinants_stable().count()));
        flush(found->first, found->second, out);
        return wake(found->first, found->second);
      }
      return none;
    case ToWorker::kImageStable:
      if (const auto found = thread_of(frame.image_stable().thread()); found != threads_.end()) {
        GW_TRY_VOID(on_image_stable(found->second, wire::hash_of(frame.image_stable().image())));
        return wake(found->first, found->second);
      }
      return none;
    case ToWorker::kCheckpoint:
      if (const auto found = thread_of(frame.checkpoint().thread()); found != threads_.end() && !found->second.ended)
        found->second.state.rigid != 0 ? not_done(found->first, found->second, out)
                                       : send_image(found->first, found->second, FromWorker::Image::CHECKPOINT, out);
      return none;
    case ToWorker::kSuspend:
      suspend(ThreadId{frame.suspend().thread()}, out);
      return none;
    case ToWorker::kInput:
      if (const auto found = thread_of(frame.input().thread()); found != threads_.end()) {
        GW_TRY_VOID(found->second.input.on_piece(frame.input().piece(), frame.input().bytes(), frame.input().end()));
        return wake(found->first, found->second);
      }
      return none;
    case ToWorker::kMails:
      return on_mails(frame.mails());
    case ToWorker::kDrop:
      threads_.erase(ThreadId{frame.drop().thread()});
      return none;
    case ToWorker::kAdopt:
      return adopt(ThreadId{frame.adopt().thread()}, out);
    case ToWorker::kChunk:
      GW_TRY_VOID(on_chunk(frame.chunk(), out));
      return none;
    default:
      on_tasks(frame, config, out);
      return none;
  }
}

// --- input files

void FakeWorker::read_inputs(const wire::pb::ThreadConfig& config, std::vector<WorkerOutput>& out) {
  if (std::exchange(reads_inputs_, true)) return;
  for (const wire::pb::InputEntry& entry : config.inputs())
    for (const std::string& chunk : entry.chunks()) inputs_.push_back(chunk);
  want_next(out);
}

// Inputs of other tasks come behind all files that are not read yet.
void FakeWorker::read_files(const wire::pb::TaskRow& row, std::vector<WorkerOutput>& out) {
  const bool idle = inputs_.empty();
  for (const wire::pb::InputEntry& entry : row.inputs()) inputs_.insert(inputs_.begin(), entry.chunks().begin(), entry.chunks().end());
  if (idle) want_next(out);
}

void FakeWorker::want_next(std::vector<WorkerOutput>& out) const {
  if (!inputs_.empty()) out.emplace_back().frame.mutable_want_chunk()->set_hash(inputs_.back());
}

Status FakeWorker::on_chunk(const ToWorker::Chunk& chunk, std::vector<WorkerOutput>& out) {
  if (inputs_.empty() || chunk.hash() != inputs_.back() || wire::bytes_of(sha256(as_bytes(chunk.bytes()))) != chunk.hash())
    return fail(Kind::invalid, "a chunk of an input is not the one that was asked for");
  GW_REACHED("sim: a worker has read an input file");
  inputs_.pop_back();
  want_next(out);
  return ok();
}

Result<ThreadId> FakeWorker::start(const ToWorker::Start& frame, const std::string& bytes, std::vector<WorkerOutput>& out) {
  const ThreadId id{frame.thread()};
  wire::pb::ThreadConfig config;
  GW_ASSERT(config.ParseFromString(bytes));
  GW_TRY(auto gate, job::EffectGate::begin(id, frame.epoch(), {frame.determinants().begin(), frame.determinants().end()}, gate_));
  threads_.insert_or_assign(
      id, Thread{.state = decode_program(config), .gate = std::move(gate), .input = job::InputQueue(0), .spawns_before = spawns_in(frame)});
  started_.push_back({id, frame.epoch()});
  read_inputs(config, out);
  send_image(id, threads_.at(id), FromWorker::Image::CHECKPOINT, out);
  return id;
}

std::vector<ThreadId> FakeWorker::restore(const ToWorker::Restore& frame, Bytes bytes, std::vector<WorkerOutput>& out) {
  const ThreadId id{frame.thread()};
  auto image = wire::Image::decode(std::move(bytes));
  auto state = image ? state_in(*image) : Result<GuestState>(image.error());
  std::vector<job::Determinant> replay(frame.determinants().begin(), frame.determinants().end());
  auto gate = state ? job::EffectGate::restore(image->content().job_state, frame.epoch(), std::move(replay), gate_)
                    : Result<job::EffectGate>(state.error());
  if (gate && gate->thread() != id) gate = fail(Kind::invalid, "the image for thread {} is of another thread", frame.thread());
  if (!gate) {
    FromWorker::Failed& failed = *out.emplace_back().frame.mutable_failed();
    failed.set_thread(frame.thread());
    failed.set_epoch(frame.epoch());
    failed.set_error(gate.error().detail);
    failed.set_gone(true);
    return {};
  }
  job::InputQueue input(gate->input_pieces());
  job::MailQueue mail(gate->mail());
  Thread thread{.state = std::move(*state),
                .gate = std::move(*gate),
                .input = std::move(input),
                .spawns_before = spawns_in(frame),
                .imaged = true,
                .mail = std::move(mail)};
  Thread& placed = threads_.insert_or_assign(id, std::move(thread)).first->second;
  started_.push_back({id, frame.epoch()});
  flush(id, placed, out);
  return {id};
}

FromWorker::Image& FakeWorker::add_image(ThreadId id, Bytes image, FromWorker::Image::Why why, std::vector<WorkerOutput>& out) {
  WorkerOutput& output = out.emplace_back();
  output.image = std::move(image);
  FromWorker::Image& frame = *output.frame.mutable_image();
  frame.set_thread(id.value());
  frame.set_why(why);
  frame.set_id(wire::bytes_of(wire::Image::decode(output.image)->id()));
  return frame;
}

// The program has no point where it can be stopped.
void FakeWorker::not_done(ThreadId id, const Thread& thread, std::vector<WorkerOutput>& out) {
  FromWorker::Failed& failed = *out.emplace_back().frame.mutable_failed();
  failed.set_thread(id.value());
  failed.set_epoch(thread.gate.epoch());
  failed.set_error("the program cannot be suspended");
  failed.set_guest_fault(true);
}

void FakeWorker::send_image(ThreadId id, Thread& thread, FromWorker::Image::Why why, std::vector<WorkerOutput>& out) {
  const StaticPage page = std::exchange(thread.imaged, true) ? StaticPage::elsewhere : StaticPage::included;
  const FromWorker::Image& frame = add_image(id, make_image(thread.state, thread.gate, module_, page), why, out);
  thread.images[wire::hash_of(frame.id())] = thread.gate.next_determinant();
}

Status FakeWorker::on_image_stable(Thread& thread, const Hash256& image) {
  const auto found = thread.images.extract(image);
  return found.empty() ? ok() : thread.gate.on_image_stable(found.mapped());
}

void FakeWorker::suspend(ThreadId id, std::vector<WorkerOutput>& out) {
  const auto found = threads_.find(id);
  if (found == threads_.end() || found->second.ended) return;
  if (found->second.state.rigid != 0) return not_done(id, found->second, out);
  flush(id, found->second, out);
  send_image(id, found->second, FromWorker::Image::SUSPENDED, out);
  threads_.erase(found);
}

// --- tasks

void FakeWorker::on_tasks(const ToWorker& frame, const std::string& config, std::vector<WorkerOutput>& out) {
  if (frame.has_task_setup()) {
    wire::pb::ThreadConfig shared;
    GW_ASSERT(shared.ParseFromString(config));
    read_inputs(shared, out);
    tasks_.count = frame.task_setup().tasks();
    tasks_.configs = job::TaskConfigs::make(shared, tasks_.count, frame.task_setup().values()).value();
    tasks_.promote_after = frame.task_setup().promote_after_ns() / 1'000'000;
  } else if (frame.has_run_tasks()) {
    int row = 0;
    for (const wire::pb::TaskRange& range : frame.run_tasks().ranges()) {
      tasks_.queue.add({range.first(), range.count()});
      for (std::uint32_t i = 0; i < range.count() && row < frame.run_tasks().rows_size(); ++i, ++row) {
        tasks_.rows[range.first() + i] = frame.run_tasks().rows(row);
        read_files(frame.run_tasks().rows(row), out);
      }
    }
    tasks_.lanes = frame.run_tasks().lanes() + frame.run_tasks().promoted();
  } else if (frame.has_drop_tasks()) {
    drop_tasks(frame.drop_tasks());
  }
}

std::vector<ThreadId> FakeWorker::begin_tasks() {
  std::vector<ThreadId> begun;
  std::size_t busy = 0;
  for (const auto& [id, thread] : threads_) busy += thread.task && !thread.promoted ? 1 : 0;
  for (; busy + tasks_.promotions < tasks_.lanes; ++busy) {
    const auto next = tasks_.queue.take_first(1);
    if (!next) break;
    const ThreadId id = job::thread_of_task(next->first, tasks_.count);
    const auto row = tasks_.rows.find(next->first);
    const auto config = tasks_.configs->config_of(next->first, row == tasks_.rows.end() ? nullptr : &row->second);
    threads_.insert_or_assign(id, Thread{.state = decode_program(config.value()),
                                         .gate = job::EffectGate(id, 1, gate_),
                                         .input = job::InputQueue(0),
                                         .task = next->first});
    if (row != tasks_.rows.end()) tasks_.rows.erase(row);
    begun.push_back(id);
  }
  return begun;
}

std::vector<std::uint32_t> FakeWorker::running_tasks() const {
  std::vector<std::uint32_t> tasks;
  for (const auto& [id, thread] : threads_)
    if (thread.task && !thread.promoted) tasks.push_back(*thread.task);
  return tasks;
}

void FakeWorker::promote(Thread& thread, std::vector<WorkerOutput>& out) {
  if (std::exchange(thread.promoted, true)) return;
  GW_REACHED("sim: a task was promoted");
  ++tasks_.promotions;
  out.emplace_back().frame.mutable_promoted()->set_task(*thread.task);
}

// The result leaves as a whole, so nothing of it depends on determinants that are lost.
void FakeWorker::send_result(Thread& thread, std::vector<WorkerOutput>& out) {
  thread.gate.take_new_determinants();
  GW_ASSERT(thread.gate.on_determinants_stable(thread.gate.next_determinant()).has_value());
  wire::pb::TaskResult& result = *out.emplace_back().frame.mutable_task_results()->add_results();
  result.set_task(*thread.task);
  for (Effect& effect : thread.gate.take_sendable(~std::size_t{0})) *result.add_effects() = std::move(effect);
}

Result<std::vector<ThreadId>> FakeWorker::adopt(ThreadId id, std::vector<WorkerOutput>& out) {
  const auto found = threads_.find(id);
  if (found == threads_.end()) return std::vector<ThreadId>();
  Thread& thread = found->second;
  if (!thread.promoted) return fail(Kind::invalid, "thread {} was not promoted", id.value());
  thread.task.reset();
  started_.push_back({id, thread.gate.epoch()});
  flush(id, thread, out);
  return wake(id, thread);
}

void FakeWorker::drop_tasks(const ToWorker::Tasks& tasks) {
  for (const wire::pb::TaskRange& range : tasks.ranges()) {
    tasks_.queue.remove({range.first(), range.count()});
    std::erase_if(threads_, [&](const auto& entry) {
      const Thread& thread = entry.second;
      return thread.task && !thread.promoted && *thread.task >= range.first() && *thread.task - range.first() < range.count();
    });
  }
}

bool FakeWorker::step(ThreadId id, std::uint64_t clock, std::vector<WorkerOutput>& out) {
  const auto found = threads_.find(id);
  if (found == threads_.end() || found->second.ended) return false;
  Thread& thread = found->second;
  thread.wait = wait_before(thread);
  if (thread.task && !thread.promoted) {
    const bool forks = is_for_threads(kind_of(thread.state));
    if (++thread.task_steps > tasks_.promote_after || forks || thread.wait != Wait::nothing) promote(thread, out);
    if (forks) thread.wait = Wait::adoption;
  } else if (thread.task && is_for_threads(kind_of(thread.state))) {
    thread.wait = Wait::adoption;
  }
  if (thread.wait == Wait::input) ask_input(id, thread, out);
  if (thread.wait == Wait::mail) ask_mail(id, thread, out);
  if (thread.wait != Wait::nothing) {
    GW_REACHED("sim: a thread parked");
    return false;
  }
  if (kind_of(thread.state) != StepKind::end) ++steps_;
  switch (kind_of(thread.state)) {
    case StepKind::compute:
      break;
    case StepKind::checkpoint:
      advance(thread.state);
      send_image(id, thread, FromWorker::Image::CHECKPOINT, out);
      return true;
    case StepKind::read_clock:
      if (const Status read = read_clock(thread, clock); !read) {
        end(id, thread, Effect::End::DIVERGED, read.error().detail, out);
        return false;
      }
      break;
    case StepKind::read_input:
      thread.gate.on_input_taken(thread.input.front()->size());
      take_input(thread.state, thread.input.take());
      break;
    case StepKind::output: {
      Effect effect;
      effect.mutable_output()->set_descriptor(1);
      effect.mutable_output()->set_bytes(output_line(thread.state));
      thread.gate.emit(std::move(effect));
      thread.state.fresh.clear();
      break;
    }
    case StepKind::fork:
      fork(id, thread, out);
      return true;
    case StepKind::send:
      write_note(thread);
      break;
    case StepKind::receive:
      read_note(thread);
      break;
    case StepKind::end:
      end(id, thread, Effect::End::EXITED, "", out);
      return false;
  }
  advance(thread.state);
  flush(id, thread, out);
  return true;
}

void FakeWorker::end(ThreadId id, Thread& thread, Effect::End::Reason reason, const std::string& sentence, std::vector<WorkerOutput>& out) {
  if (thread.state.mates != 0 && reason == Effect::End::EXITED) {
    Effect line;
    line.mutable_output()->set_descriptor(1);
    line.mutable_output()->set_bytes(last_line(thread.state));
    thread.gate.emit(std::move(line));
  }
  if (thread.state.leaves != 0 && reason == Effect::End::EXITED) {
    Effect file;
    file.mutable_file()->set_path(std::string(kGuestOutput));
    file.mutable_file()->set_bytes(file_content(thread.state));
    file.mutable_file()->set_last(true);
    thread.gate.emit(std::move(file));
  }
  Effect effect;
  effect.mutable_end()->set_reason(reason);
  effect.mutable_end()->set_sentence(sentence);
  const std::optional<std::uint32_t> task = tasks_.count > 1 ? job::task_of_thread(id, tasks_.count) : std::nullopt;
  if (task && reason == Effect::End::EXITED && is_flaky_(*task)) effect.mutable_end()->set_exit_code(3);
  thread.gate.emit(std::move(effect));
  thread.ended = true;
  if (!thread.task || thread.promoted) return flush(id, thread, out);
  send_result(thread, out);
  threads_.erase(id);
}

// An error: the determinants are of another history.
Status FakeWorker::read_clock(Thread& thread, std::uint64_t clock) {
  GW_TRY(const std::optional<std::uint64_t> recorded, thread.gate.recorded(job::Determinant::CLOCK, 0));
  const std::uint64_t reading = recorded.value_or(clock);
  GW_TRY_VOID(thread.gate.given(job::Determinant::CLOCK, 0, reading));
  thread.state.chain = extend_chain(thread.state.chain, reading);
  thread.state.fresh.push_back(reading);
  return ok();
}

// Why the next step has to wait, as the calls of the real worker decide it.
FakeWorker::Wait FakeWorker::wait_before(const Thread& thread) {
  switch (kind_of(thread.state)) {
    case StepKind::output:
      return thread.gate.full(job::kHomeStream) ? Wait::room_for_output : Wait::nothing;
    case StepKind::fork:
      return thread.gate.full(job::kLogStream) ? Wait::room_for_spawns : Wait::nothing;
    case StepKind::read_clock:
      return thread.gate.determinants_full() ? Wait::room_for_determinants : Wait::nothing;
    case StepKind::read_input:
      return thread.input.front() == nullptr ? Wait::input : Wait::nothing;
    case StepKind::send:
      return thread.gate.full(job::kMailStream) ? Wait::room_for_mail : Wait::nothing;
    case StepKind::receive:
      return thread.mail.front() == nullptr ? Wait::mail : Wait::nothing;
    case StepKind::end:
      return (thread.state.leaves != 0 || thread.state.mates != 0) && thread.gate.full(job::kHomeStream) ? Wait::room_for_output
                                                                                                         : Wait::nothing;
    case StepKind::compute:
    case StepKind::checkpoint:
      return Wait::nothing;
  }
  return Wait::nothing;
}

std::vector<ThreadId> FakeWorker::wake(ThreadId id, Thread& thread) {
  const bool goes_on = (thread.wait == Wait::room_for_output && thread.gate.roomy(job::kHomeStream)) ||
                       (thread.wait == Wait::room_for_spawns && thread.gate.roomy(job::kLogStream)) ||
                       (thread.wait == Wait::room_for_determinants && thread.gate.determinants_roomy()) ||
                       (thread.wait == Wait::room_for_mail && thread.gate.roomy(job::kMailStream)) ||
                       (thread.wait == Wait::mail && thread.mail.front() != nullptr) ||
                       (thread.wait == Wait::input && thread.input.front() != nullptr) || thread.wait == Wait::adoption;
  if (!goes_on) return {};
  thread.wait = Wait::nothing;
  return {id};
}

void FakeWorker::ask_input(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  const auto question = thread.input.take_question();
  if (!question) return;
  FromWorker::WantInput& frame = *out.emplace_back().frame.mutable_want_input();
  frame.set_thread(id.value());
  frame.set_piece(*question);
}

// --- messages

void FakeWorker::ask_mail(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  using Guest = job::MailQueue::Guest;
  for (const Guest guest : {Guest::reads, Guest::waits}) {
    if (!thread.mail.tell(guest)) continue;
    FromWorker::WantMail& frame = *out.emplace_back().frame.mutable_want_mail();
    frame.set_thread(id.value());
    frame.set_next(thread.mail.next());
    frame.set_waits(guest == Guest::waits);
  }
}

Result<std::vector<ThreadId>> FakeWorker::on_mails(const ToWorker::Mails& frame) {
  const auto found = threads_.find(ThreadId{frame.thread()});
  if (found == threads_.end()) return std::vector<ThreadId>();
  Thread& thread = found->second;
  GW_REACHED("sim: a thread got messages");
  GW_TRY_VOID(thread.mail.on_mails(frame.first(), frame.mails()));
  return wake(found->first, thread);
}

// The number of the task; of other threads one that no task has.
std::uint64_t FakeWorker::mate_of(std::uint64_t thread) {
  return job::task_of_thread(ThreadId{thread}, wire::kMaxTasks).value_or(wire::kMaxTasks);
}

void FakeWorker::read_note(Thread& thread) {
  const wire::pb::Mail mail = thread.mail.take();
  thread.gate.on_mail_taken();
  take_note(thread.state, mate_of(mail.from()), mail.tag());
}

void FakeWorker::write_note(Thread& thread) {
  const Note note = note_of(thread.state);
  Effect effect;
  const auto mates = static_cast<std::uint32_t>(thread.state.mates);
  effect.mutable_message()->set_to(job::thread_of_task(static_cast<std::uint32_t>(note.to), mates).value());
  effect.mutable_message()->set_tag(note.tag);
  effect.mutable_message()->set_bytes("note");
  effect.mutable_message()->set_spawns(thread.gate.next_sequence(job::kLogStream) - 1);
  thread.gate.emit(std::move(effect));
  ++thread.state.sent;
}

// A spawn that home has stored in an earlier run brings no image: home has the child's image.
void FakeWorker::fork(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  const std::uint64_t spawn = thread.gate.next_sequence(job::kLogStream);
  const ThreadId child = job::child_of(id, spawn);
  --thread.state.forks_left;
  Effect effect;
  effect.mutable_spawn()->set_child(child.value());
  if (spawn > thread.spawns_before) {
    Bytes image = make_image(child_state(thread.state, child), thread.gate.fork(child), module_,
                             std::exchange(thread.imaged, true) ? StaticPage::elsewhere : StaticPage::included);
    FromWorker::Image& frame = add_image(id, std::move(image), FromWorker::Image::SPAWNED, out);
    frame.set_spawn(spawn);
    effect.mutable_spawn()->set_image(frame.id());
  }
  thread.gate.emit(std::move(effect));
  advance(thread.state);
  flush(id, thread, out);
}

void FakeWorker::flush(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  if (thread.task) return;  // its gate is closed
  if (auto determinants = thread.gate.take_new_determinants(); !determinants.empty()) {
    FromWorker::Determinants& frame = *out.emplace_back().frame.mutable_determinants();
    frame.set_thread(id.value());
    frame.set_epoch(thread.gate.epoch());
    for (job::Determinant& determinant : determinants) *frame.add_determinants() = std::move(determinant);
  }
  if (auto effects = thread.gate.take_sendable(1u << 20); !effects.empty()) {
    FromWorker::Effects& frame = *out.emplace_back().frame.mutable_effects();
    for (Effect& effect : effects) *frame.add_effects() = std::move(effect);
  }
}

}  // namespace gw::sim
