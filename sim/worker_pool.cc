#include "worker_pool.h"

#include "job/image_manifest.h"

namespace gw::sim {

using std::chrono::microseconds;

void WorkerPool::start(job::WorkerId worker, const job::JobId& job) { workers_.emplace(worker, FakeWorker(job, node_.module)); }

void WorkerPool::kill_all() {
  workers_.clear();
  ++life_;
}

std::optional<job::WorkerId> WorkerPool::any() const { return workers_.empty() ? std::nullopt : std::optional(workers_.begin()->first); }

void WorkerPool::crash(job::WorkerId worker) {
  workers_.erase(worker);
  node_.died(worker, "the simulation killed it");
}

void WorkerPool::on_frame(const job::FrameToWorker& action) {
  const auto found = workers_.find(action.worker);
  if (found == workers_.end()) return;
  Bytes beside;
  for (const job::Attachment& attachment : action.beside) {
    auto bytes = assemble(attachment);
    if (!bytes) return log_.complain(Verdict::safety, bytes.error().detail);
    beside = std::move(*bytes);
  }
  std::vector<WorkerOutput> outputs;
  const std::string config(beside.begin(), beside.end());
  const std::vector<ThreadId> runnable = found->second.on_frame(action.frame, config, std::move(beside), outputs);
  for (const ThreadId thread : runnable) step_later(action.worker, thread);
  take(action.worker, std::move(outputs));
}

Result<Bytes> WorkerPool::assemble(const job::Attachment& attachment) const {
  if (attachment.form == job::Attachment::Form::given) return Bytes(attachment.bytes.begin(), attachment.bytes.end());
  const auto read = [&](const std::vector<Hash256>& hashes) -> Result<std::vector<std::string>> {
    std::vector<std::string> blobs;
    for (const Hash256& hash : hashes) {
      auto bytes = node_.blob(hash);
      if (!bytes) return fail(Kind::corrupt, "blob {} is not there", hash.hex());
      blobs.push_back(std::move(*bytes));
    }
    return blobs;
  };
  GW_TRY(const std::vector<std::string> pieces, read(attachment.blobs));
  if (attachment.form == job::Attachment::Form::pieces) {
    std::string whole;
    for (const std::string& piece : pieces) whole += piece;
    if (sha256(as_bytes(whole)) != attachment.whole) return fail(Kind::corrupt, "the module is damaged");
    return Bytes(whole.begin(), whole.end());
  }
  GW_TRY(const std::vector<Hash256> pages, job::page_blobs(pieces.at(0)));
  GW_TRY(const std::vector<std::string> blobs, read(pages));
  return job::join_image(pieces.at(0), blobs);
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
  std::vector<WorkerOutput> outputs;
  const bool more = found->second.step(thread, static_cast<std::uint64_t>(node_.clock().count()), outputs);
  for (const ThreadId child : found->second.take_children()) step_later(worker, child);
  take(worker, std::move(outputs));
  if (more) step_later(worker, thread);
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
