#include "worker/frame_values.h"

#include <algorithm>

#include "wire/messages/limits.h"

namespace gw::worker {
namespace {

using wire::pb::Effect;

constexpr std::size_t kMaxSentence = 4096;
constexpr std::uint64_t kLongestNanoseconds = INT64_MAX / 2;
// The home of a job counts with the defaults of wire.
static_assert(isolate::Limits().memory_pages == wire::kDefaultMemoryPages && isolate::Limits().output_bytes == wire::kDefaultOutputBytes &&
              isolate::Limits().file_bytes == wire::kDefaultFileBytes);

std::chrono::nanoseconds duration(std::uint64_t nanoseconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(nanoseconds, kLongestNanoseconds)));
}

isolate::InputEntry input_of(const wire::pb::InputEntry& entry) {
  isolate::InputEntry result{.path = entry.path(),
                             .type = static_cast<isolate::NodeType>(entry.type()),
                             .size = entry.size(),
                             .mtime_ns = entry.mtime_ns(),
                             .chunks = {},
                             .target = entry.target()};
  for (const std::string& chunk : entry.chunks()) std::ranges::copy(chunk, result.chunks.emplace_back().bytes.begin());
  return result;
}

Effect::End::Reason reason_of(const isolate::Stop& stop) {
  if (std::holds_alternative<isolate::Exited>(stop)) return Effect::End::EXITED;
  if (std::holds_alternative<isolate::LimitReached>(stop)) return Effect::End::LIMIT;
  if (std::holds_alternative<isolate::Terminated>(stop)) return Effect::End::TERMINATED;
  return Effect::End::TRAPPED;
}

}  // namespace

Result<isolate::Limits> limits_of(const wire::pb::Limits& limits) {
  isolate::Limits result;
  if (limits.memory_pages() > wire::kMaxMemoryPages)
    return fail(Kind::invalid, "a memory limit of {} pages is more than a program can have: {}", limits.memory_pages(),
                wire::kMaxMemoryPages);
  result.memory_pages = static_cast<std::uint32_t>(wire::effective_memory_pages(limits));
  if (limits.cpu_time_ns() != 0) result.cpu_time = duration(limits.cpu_time_ns());
  if (limits.wall_time_ns() != 0) result.wall_time = duration(limits.wall_time_ns());
  result.file_bytes = wire::effective_file_bytes(limits);
  result.output_bytes = wire::effective_output_bytes(limits);
  return result;
}

isolate::IsolateConfig config_of(const wire::pb::ThreadConfig& config, const isolate::Limits& limits) {
  isolate::IsolateConfig result;
  result.args.assign(config.args().begin(), config.args().end());
  result.env.assign(config.env().begin(), config.env().end());
  std::ranges::copy(config.random_seed(), result.random_seed.begin());
  for (const wire::pb::InputEntry& entry : config.inputs()) result.inputs.push_back(input_of(entry));
  result.outputs.assign(config.outputs().begin(), config.outputs().end());
  if (config.has_standard_input()) result.standard_input = input_of(config.standard_input());
  result.limits = limits;
  return result;
}

isolate::GuestStart start_of(wire::pb::ThreadConfig config) {
  isolate::GuestStart start;
  start.args.assign(std::make_move_iterator(config.mutable_args()->begin()), std::make_move_iterator(config.mutable_args()->end()));
  start.env.assign(std::make_move_iterator(config.mutable_env()->begin()), std::make_move_iterator(config.mutable_env()->end()));
  std::ranges::copy(config.random_seed(), start.random_seed.begin());
  for (const wire::pb::InputEntry& entry : config.inputs()) start.inputs.push_back(input_of(entry));
  start.outputs.assign(config.outputs().begin(), config.outputs().end());
  if (config.has_standard_input()) start.standard_input = input_of(config.standard_input());
  return start;
}

wire::pb::FromWorker task_frame(std::uint64_t call, const Result<Bytes>& result, std::chrono::nanoseconds cpu_time) {
  wire::pb::FromWorker frame;
  auto& done = *frame.mutable_task_done();
  done.set_call(call);
  done.set_cpu_time_ns(static_cast<std::uint64_t>(cpu_time.count()));
  if (!result) {
    done.set_error(result.error().detail.substr(0, kMaxSentence));
  } else if (result->size() > wire::kMaxEffectBytes) {
    done.set_error(fmt::format("the result has {} bytes, at most {} are allowed", result->size(), wire::kMaxEffectBytes));
  } else {
    done.set_result(result->data(), result->size());
  }
  return frame;
}

wire::pb::FromWorker failed_frame(std::uint64_t thread, std::uint64_t epoch, ThreadFate fate, const Error& error) {
  wire::pb::FromWorker frame;
  frame.mutable_failed()->set_thread(thread);
  frame.mutable_failed()->set_epoch(epoch);
  frame.mutable_failed()->set_gone(fate == ThreadFate::gone);
  frame.mutable_failed()->set_error(error.detail.substr(0, kMaxSentence));
  const bool by_guest = error.kind == Kind::guest_fault || error.kind == Kind::invalid || error.kind == Kind::corrupt;
  frame.mutable_failed()->set_guest_fault(by_guest);
  return frame;
}

Effect::OutputFile wire_file(const isolate::OutputPiece& piece) {
  Effect::OutputFile file;
  file.set_path(std::string(piece.path));
  file.set_type(static_cast<Effect::OutputFile::Type>(piece.type));
  file.set_offset(piece.offset);
  file.set_bytes(piece.bytes.data(), piece.bytes.size());
  file.set_last(piece.last);
  return file;
}

Effect::End wire_end(const isolate::Stop& stop) {
  Effect::End end;
  end.set_reason(reason_of(stop));
  if (const auto* exited = std::get_if<isolate::Exited>(&stop)) end.set_exit_code(exited->code);
  end.set_sentence(isolate::explain(stop).substr(0, kMaxSentence));
  return end;
}

}  // namespace gw::worker
