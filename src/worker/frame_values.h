#pragma once
// Converts between the messages of worker.proto and the types of the isolate.

#include "isolate/isolate.h"
#include "isolate/limits.h"
#include "wire/messages/worker_frames.h"

namespace gw::worker {

// Kind::invalid for limits that no isolate can have.
Result<isolate::Limits> limits_of(const wire::pb::Limits& limits);

// REQUIRES: `config` comes from wire::decode_thread_config.
isolate::IsolateConfig config_of(const wire::pb::ThreadConfig& config, const isolate::Limits& limits);
// The part of it that a task has to itself. REQUIRES: as above.
isolate::GuestStart start_of(wire::pb::ThreadConfig config);

// A result longer than a frame is an error of the task.
wire::pb::FromWorker task_frame(std::uint64_t call, const Result<Bytes>& result, std::chrono::nanoseconds cpu_time);

// Whether the thread that a failed request was about is there.
enum class ThreadFate : std::uint8_t { alive, gone };
wire::pb::FromWorker failed_frame(std::uint64_t thread, std::uint64_t epoch, ThreadFate fate, const Error& error);

wire::pb::Effect::End wire_end(const isolate::Stop& stop);

wire::pb::Effect::OutputFile wire_file(const isolate::OutputPiece& piece);

}  // namespace gw::worker
