#include "fake_worker.h"

#include <fmt/format.h>

#include <cstdlib>

namespace gw::sim {
namespace {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

}  // namespace

std::string encode_program(const GuestState& beginning) {
  return fmt::format("{} {} {} {} {}", beginning.program, beginning.steps, beginning.forks_left, beginning.pure, beginning.reads);
}

GuestState decode_program(const wire::pb::ThreadConfig& config) {
  GuestState state;
  char* next = const_cast<char*>(config.args(config.args_size() - 1).c_str());
  for (std::uint64_t* word : {&state.program, &state.steps, &state.forks_left, &state.pure, &state.reads})
    *word = std::strtoull(next, &next, 10);
  return state;
}

std::vector<ThreadId> FakeWorker::on_frame(const ToWorker& frame, const std::string& config, Bytes image, std::vector<WorkerOutput>& out) {
  const auto thread_of = [&](std::uint64_t id) { return threads_.find(ThreadId{id}); };
  switch (frame.kind_case()) {
    case ToWorker::kLoad:
      out.emplace_back().frame.mutable_loaded();
      return {};
    case ToWorker::kStart:
      return {start(frame.start(), config, out)};
    case ToWorker::kRestore:
      return restore(frame.restore(), std::move(image), out);
    case ToWorker::kStored:
      if (const auto found = thread_of(frame.stored().thread()); found != threads_.end()) {
        GW_ASSERT(found->second.gate.on_stored(frame.stored().sequence()).has_value());
        if (found->second.ended && found->second.gate.outbox_empty()) threads_.erase(found);
      }
      return {};
    case ToWorker::kDeterminantsStable:
      if (const auto found = thread_of(frame.determinants_stable().thread()); found != threads_.end()) {
        GW_ASSERT(found->second.gate.on_determinants_stable(frame.determinants_stable().count()).has_value());
        flush(found->first, found->second, out);
      }
      return {};
    case ToWorker::kCheckpoint:
      if (const auto found = thread_of(frame.checkpoint().thread()); found != threads_.end() && !found->second.ended)
        send_image(found->first, found->second, FromWorker::Image::CHECKPOINT, out);
      return {};
    case ToWorker::kInput:
      if (const auto found = thread_of(frame.input().thread()); found != threads_.end()) {
        GW_ASSERT(found->second.asked && frame.input().piece() == found->second.gate.input_pieces());
        found->second.piece = frame.input().bytes();
      }
      return {};
    case ToWorker::kDrop:
      threads_.erase(ThreadId{frame.drop().thread()});
      return {};
    default:
      return {};
  }
}

ThreadId FakeWorker::start(const ToWorker::Start& frame, const std::string& bytes, std::vector<WorkerOutput>& out) {
  const ThreadId id{frame.thread()};
  wire::pb::ThreadConfig config;
  GW_ASSERT(config.ParseFromString(bytes));
  auto gate = job::EffectGate::begin(id, frame.epoch(), {frame.determinants().begin(), frame.determinants().end()});
  GW_ASSERT(gate.has_value());
  threads_.insert_or_assign(id, Thread{.state = decode_program(config), .gate = std::move(*gate), .stored_before = frame.stored()});
  started_.push_back({id, frame.epoch()});
  send_image(id, threads_.at(id), FromWorker::Image::CHECKPOINT, out);
  return id;
}

std::vector<ThreadId> FakeWorker::restore(const ToWorker::Restore& frame, Bytes bytes, std::vector<WorkerOutput>& out) {
  const ThreadId id{frame.thread()};
  auto image = wire::Image::decode(std::move(bytes));
  auto state = image ? state_in(*image) : Result<GuestState>(image.error());
  std::vector<job::Determinant> replay(frame.determinants().begin(), frame.determinants().end());
  auto gate = state ? job::EffectGate::restore(image->content().job_state, frame.epoch(), std::move(replay))
                    : Result<job::EffectGate>(state.error());
  if (!gate) {
    FromWorker::Failed& failed = *out.emplace_back().frame.mutable_failed();
    failed.set_thread(frame.thread());
    failed.set_epoch(frame.epoch());
    failed.set_error(gate.error().detail);
    failed.set_gone(true);
    return {};
  }
  Thread thread{.state = std::move(*state), .gate = std::move(*gate), .stored_before = frame.stored(), .imaged = true};
  Thread& placed = threads_.insert_or_assign(id, std::move(thread)).first->second;
  started_.push_back({id, frame.epoch()});
  flush(id, placed, out);
  return {id};
}

void FakeWorker::send_image(ThreadId id, Thread& thread, FromWorker::Image::Why why, std::vector<WorkerOutput>& out) {
  WorkerOutput& output = out.emplace_back();
  output.image = make_image(thread.state, thread.gate, module_, thread.imaged ? StaticPage::elsewhere : StaticPage::included);
  thread.imaged = true;
  FromWorker::Image& frame = *output.frame.mutable_image();
  frame.set_thread(id.value());
  frame.set_why(why);
  frame.set_id(wire::bytes_of(sha256(output.image)));
}

bool FakeWorker::step(ThreadId id, std::uint64_t clock, std::vector<WorkerOutput>& out) {
  const auto found = threads_.find(id);
  if (found == threads_.end() || found->second.ended) return false;
  Thread& thread = found->second;
  switch (kind_of(thread.state)) {
    case StepKind::compute:
      break;
    case StepKind::checkpoint:
      advance(thread.state);
      send_image(id, thread, FromWorker::Image::CHECKPOINT, out);
      return true;
    case StepKind::read_clock:
      if (!read_clock(thread, clock)) return true;
      break;
    case StepKind::read_input:
      if (!read_input(id, thread, out)) return true;
      break;
    case StepKind::output: {
      Effect effect;
      effect.mutable_output()->set_stream(1);
      effect.mutable_output()->set_bytes(output_line(thread.state));
      thread.gate.emit(std::move(effect));
      thread.state.fresh.clear();
      break;
    }
    case StepKind::fork:
      fork(id, thread, out);
      return true;
    case StepKind::end: {
      Effect effect;
      effect.mutable_end()->set_exit_code(0);
      thread.gate.emit(std::move(effect));
      thread.ended = true;
      flush(id, thread, out);
      return false;
    }
  }
  advance(thread.state);
  flush(id, thread, out);
  return true;
}

bool FakeWorker::read_clock(Thread& thread, std::uint64_t clock) {
  const auto recorded = thread.gate.recorded(job::Determinant::CLOCK, 0);
  GW_ASSERT(recorded.has_value());
  const std::uint64_t reading = recorded->value_or(clock);
  if (!thread.gate.given(job::Determinant::CLOCK, 0, reading)) return false;  // too many are not stable: later
  thread.state.chain = extend_chain(thread.state.chain, reading);
  thread.state.fresh.push_back(reading);
  return true;
}

// False: it is not there yet.
bool FakeWorker::read_input(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  if (!thread.piece) {
    if (std::exchange(thread.asked, true)) return false;
    FromWorker::WantInput& frame = *out.emplace_back().frame.mutable_want_input();
    frame.set_thread(id.value());
    frame.set_piece(thread.gate.input_pieces());
    return false;
  }
  take_input(thread.state, *thread.piece);
  thread.gate.on_input_taken(thread.piece->size());
  thread.piece.reset();
  thread.asked = false;
  return true;
}

// A fork that home has stored in a life before has its child elsewhere.
void FakeWorker::fork(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
  const ThreadId child = job::child_of(id, thread.gate.next_sequence());
  if (thread.gate.next_sequence() > thread.stored_before) bear(thread, child, out);
  Effect effect;
  effect.mutable_fork()->set_child(child.value());
  thread.gate.emit(std::move(effect));
  --thread.state.forks_left;
  advance(thread.state);
  flush(id, thread, out);
}

void FakeWorker::bear(const Thread& thread, ThreadId child, std::vector<WorkerOutput>& out) {
  GuestState born = thread.state;
  --born.forks_left;
  Thread& placed =
      threads_.insert_or_assign(child, Thread{.state = child_state(born, child), .gate = thread.gate.fork(child)}).first->second;
  started_.push_back({child, placed.gate.epoch()});
  children_.push_back(child);
  send_image(child, placed, FromWorker::Image::FORKED, out);
}

void FakeWorker::flush(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out) {
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
