#include "worker_pool.h"

#include <list>

#include "job/images/new_image.h"

namespace gw::sim {

using std::chrono::microseconds;

void WorkerPool::start(job::WorkerId worker, const job::JobId& job) {
  workers_.emplace(worker, FakeWorker(job, node_.module, node_.gate, node_.is_flaky));
}

void WorkerPool::kill_all() {
  workers_.clear();
  paused_.clear();
  ++life_;
}

std::optional<job::WorkerId> WorkerPool::any() const { return workers_.empty() ? std::nullopt : std::optional(workers_.begin()->first); }

void WorkerPool::crash(job::WorkerId worker, const std::string& why) {
  const auto found = workers_.find(worker);
  const std::vector<std::uint32_t> tasks = found == workers_.end() ? std::vector<std::uint32_t>() : found->second.running_tasks();
  workers_.erase(worker);
  paused_.erase(worker);
  node_.died(worker, {why, tasks});
}

void WorkerPool::kill(job::WorkerId worker, const std::string& why) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  if (!why.empty()) node_.misled(found->second.job(), why);
  workers_.erase(found);
  paused_.erase(worker);
}

// Others run in this worker: only this thread is not restored.
void WorkerPool::fail_restore(job::WorkerId worker, const wire::pb::ToWorker::Restore& frame, const Error& error) {
  peer::RestoreFailed failed{ThreadId{frame.thread()}, frame.epoch(), error.detail, error.kind != Kind::not_found};
  timeline_.schedule_in(microseconds(100), [this, life = life_, worker, failed = std::move(failed)] {
    if (life == life_) node_.restore_failed(worker, failed);
  });
}

void WorkerPool::end_misled(job::WorkerId worker, const std::string& why) {
  node_.misled(workers_.at(worker).job(), why);
  workers_.erase(worker);
  paused_.erase(worker);
  timeline_.schedule_in(microseconds(100), [this, life = life_, worker, why] {
    if (life == life_) node_.died(worker, {why});
  });
}

void WorkerPool::pause(job::WorkerId worker, bool paused) {
  if (!workers_.contains(worker)) return;
  if (paused) return static_cast<void>(paused_[worker]);
  const auto found = paused_.extract(worker);
  if (found.empty()) return;
  for (const job::FrameToWorker& frame : found.mapped().frames) on_frame(frame);
  for (const ThreadId thread : found.mapped().steps) step_later(worker, thread);
}

void WorkerPool::on_frame(const job::FrameToWorker& action) {
  const auto found = workers_.find(action.worker);
  if (found == workers_.end()) return;
  if (const auto held = paused_.find(action.worker); held != paused_.end()) return held->second.frames.push_back(action);
  Bytes beside;
  for (const job::Attachment& attachment : action.beside) {
    auto bytes = assemble(attachment);
    if (!bytes && action.frame.has_restore()) return fail_restore(action.worker, action.frame.restore(), bytes.error());
    if (!bytes) return end_misled(action.worker, bytes.error().detail);
    beside = std::move(*bytes);
  }
  std::vector<WorkerOutput> outputs;
  const std::string config(beside.begin(), beside.end());
  const auto runnable = found->second.on_frame(action.frame, config, std::move(beside), outputs);
  if (!runnable) return end_misled(action.worker, runnable.error().detail);
  for (const ThreadId thread : *runnable) step_later(action.worker, thread);
  begin_tasks(action.worker, found->second);
  take(action.worker, std::move(outputs));
}

Result<Bytes> WorkerPool::assemble(const job::Attachment& attachment) const {
  if (attachment.form == job::Attachment::Form::given) return Bytes(attachment.bytes.begin(), attachment.bytes.end());
  const auto read_one = [&](const Hash256& hash) -> Result<std::string> {
    auto bytes = node_.blob(hash);
    if (!bytes) return fail(Kind::not_found, "blob {} is not there", hash.hex());
    return *std::move(bytes);
  };
  if (attachment.form == job::Attachment::Form::pieces) {
    std::string whole;
    for (const Hash256& hash : attachment.blobs) {
      GW_TRY(const std::string piece, read_one(hash));
      whole += piece;
    }
    if (sha256(as_bytes(whole)) != attachment.whole) return fail(Kind::corrupt, "the module is damaged");
    return Bytes(whole.begin(), whole.end());
  }
  GW_TRY(const wire::Image nodes, job::join_nodes(attachment.blobs.at(0), read_one));
  GW_TRY_VOID(job::check_gate(nodes, attachment.gate));
  wire::ImageContent content = nodes.content();
  std::list<std::string> pages;  // what the content points to
  for (wire::ImagePage& page : content.pages) {
    GW_TRY(std::string bytes, read_one(page.hash));
    page.storage = wire::Storage::raw;
    page.stored = as_bytes(pages.emplace_back(std::move(bytes)));
  }
  GW_TRY(const wire::Image image, wire::Image::encode(content));
  return Bytes(image.encoded().begin(), image.encoded().end());
}

void WorkerPool::step_later(job::WorkerId worker, ThreadId thread) {
  const Time wait = node_.step / 2 + Time(rng_.below(static_cast<std::uint64_t>(node_.step.count())));
  timeline_.schedule_in(wait, [this, life = life_, worker, thread] {
    if (life == life_) step(worker, thread);
  });
}

void WorkerPool::step(job::WorkerId worker, ThreadId thread) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  if (const auto held = paused_.find(worker); held != paused_.end()) return held->second.steps.push_back(thread);
  std::vector<WorkerOutput> outputs;
  const bool more = found->second.step(thread, static_cast<std::uint64_t>(node_.clock().count()), outputs);
  const std::uint64_t taken = found->second.take_steps();
  steps_ += taken;
  steps_of_[found->second.job()] += taken;
  begin_tasks(worker, found->second);
  take(worker, std::move(outputs));
  if (more) step_later(worker, thread);
}

void WorkerPool::begin_tasks(job::WorkerId worker, FakeWorker& process) {
  for (const ThreadId task : process.begin_tasks()) step_later(worker, task);
}

void WorkerPool::take(job::WorkerId worker, std::vector<WorkerOutput> outputs) {
  if (const auto found = workers_.find(worker); found != workers_.end())
    for (const FakeWorker::Life& life : found->second.take_started()) node_.started(found->second.job(), life.thread, life.epoch);
  if (outputs.empty()) return;
  timeline_.schedule_in(microseconds(100), [this, life = life_, worker, outputs = std::move(outputs)] {
    if (life != life_) return;
    for (const WorkerOutput& output : outputs) node_.deliver(worker, output);
  });
}

}  // namespace gw::sim
