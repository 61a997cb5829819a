#include "node/worker/worker_table.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "node/worker/attachment.h"

namespace gw::node {
namespace {

using metrics::Metric;

std::vector<os::UniqueFd> shared(const std::vector<os::SealedMemory>& memories) {
  std::vector<os::UniqueFd> descriptors;
  for (const os::SealedMemory& memory : memories)
    if (auto descriptor = memory.share()) descriptors.push_back(*std::move(descriptor));
  return descriptors;
}

Result<std::vector<os::SealedMemory>> assemble_all(const std::vector<job::Attachment>& beside, std::uint64_t max_bytes, BlobReader& blobs,
                                                   const GoOn& go_on) {
  std::vector<os::SealedMemory> memories;
  for (const job::Attachment& what : beside) {
    GW_TRY(std::vector<os::SealedMemory> more, assemble(what, max_bytes, blobs, go_on));
    std::ranges::move(more, std::back_inserter(memories));
  }
  return memories;
}

}  // namespace

WorkerTable::WorkerTable(Parts parts, const Config& config)
    : loop_(parts.loop), code_(parts.code), owner_(parts.owner), code_kind_(config.code_kind), pool_(config.process, config.spares) {}

WorkerTable::~WorkerTable() { *alive_ = false; }

void WorkerTable::post(std::function<void()> callback) {
  loop_.post([alive = alive_, callback = std::move(callback)] {
    if (*alive) callback();
  });
}

// --- what the peer wants

void WorkerTable::start(const job::StartWorker& start, const WorkerShare& share) {
  const job::WorkerId id = start.worker;
  auto process = pool_.take();
  auto hosted = process ? HostedWorker::make(loop_, *std::move(process), [this, id] { on_ready(id); })
                        : Result<std::unique_ptr<HostedWorker>>(process.error());
  if (!hosted) return post([this, id, why = hosted.error().detail] { on_lost(id, {DeathCause::engine_fault, why}); });
  log::info("node", "worker started", kv("job", start.job.brief()), kv("worker", id.value()), kv("pid", (*hosted)->pid()));
  metrics::count(Metric::workers_started);
  (*hosted)->hold(share);
  workers_.try_emplace(id, *std::move(hosted), start.job, share.resident_bytes);
}

void WorkerTable::pause(const job::PauseWorker& pause) {
  if (const auto found = workers_.find(pause.worker); found != workers_.end()) found->second.process->set_paused(pause.paused);
}

void WorkerTable::send(job::FrameToWorker frame) {
  const auto found = workers_.find(frame.worker);
  if (found == workers_.end()) return;
  HostedWorker& worker = *found->second.process;
  if (frame.beside.empty()) return worker.send(std::move(frame.frame), {});
  const bool load = frame.frame.has_load();
  const HostedWorker::Position position = worker.reserve(std::move(frame.frame));
  const auto memories = std::make_shared<Result<std::vector<os::SealedMemory>>>(std::vector<os::SealedMemory>());
  // Reading a large image takes longer than the peers of the job wait for a sign of life.
  const GoOn go_on = [this, alive = alive_, id = frame.worker, needed = found->second.needed] {
    loop_.post([this, alive, id] {
      if (*alive && workers_.contains(id)) owner_.on_worker_progress(id);
    });
    return needed->load();
  };
  const auto put_together = [this, memories, load, go_on, beside = std::move(frame.beside),
                             max_bytes = found->second.memory_share](BlobReader& blobs) {
    *memories = assemble_all(beside, max_bytes, blobs, go_on);
    if (!load || !*memories) return;
    GW_ASSERT(beside.front().form == job::Attachment::Form::pieces);  // so assemble() has checked the whole
    auto native = code_.find(beside.front().whole, (*memories)->front().bytes(), code_kind_);
    if (native) (*memories)->push_back(*std::move(native));
  };
  loop_.with_blobs(put_together, [this, alive = alive_, id = frame.worker, position, memories] {
    if (*alive) on_attachments(id, position, std::move(*memories));
  });
}

void WorkerTable::on_attachments(job::WorkerId id, HostedWorker::Position position, Result<std::vector<os::SealedMemory>> memories) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  wire::pb::ToWorker& frame = worker.process->reserved(position);
  if (frame.has_restore()) {
    const Status restored = memories ? restore(*worker.process, position, *memories) : Status(memories.error());
    if (!restored) {  // others run in this worker: only this thread is not restored
      const Error& error = restored.error();
      const peer::RestoreFailed failed{job::ThreadId{frame.restore().thread()}, frame.restore().epoch(), error.detail,
                                       error.kind == Kind::corrupt || error.kind == Kind::unsupported};
      worker.process->withdraw(position);
      owner_.on_restore_failed(id, failed);
    }
    return owner_.on_worker_wakeup();
  }
  if (!memories) return on_lost(id, {DeathCause::killed, memories.error().detail});
  if (frame.has_load()) frame.mutable_load()->set_has_code(memories->size() > 1);
  const bool load = frame.has_load();
  worker.has_code = worker.has_code || (load && memories->size() > 1);
  worker.process->complete(position, shared(*memories));
  if (load) worker.module = std::make_shared<const os::SealedMemory>(std::move(memories->front()));
  owner_.on_worker_wakeup();
}

// The image goes with the determinants, each pack of pages with a frame of its own.
Status WorkerTable::restore(HostedWorker& worker, HostedWorker::Position position, const std::vector<os::SealedMemory>& memories) {
  const wire::pb::ToWorker& whole = worker.reserved(position);
  std::vector<HostedWorker::Outgoing> frames;
  for (const os::SealedMemory& memory : memories) {
    HostedWorker::Outgoing& one = frames.emplace_back();
    if (frames.size() == 1) {
      one.frame = whole;
    } else {
      one.frame.mutable_restore()->set_thread(whole.restore().thread());
      one.frame.mutable_restore()->set_epoch(whole.restore().epoch());
    }
    one.frame.mutable_restore()->set_more(frames.size() < memories.size());
    GW_TRY(os::UniqueFd descriptor, memory.share());
    one.beside.push_back(std::move(descriptor));
  }
  worker.complete(position, std::move(frames));
  return ok();
}

// --- what comes from them

void WorkerTable::on_ready(job::WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  for (WorkerProcess::Received& received : found->second.process->take()) {
    found->second.received_bytes += received.frame.ByteSizeLong();
    found->second.received.push_back(std::move(received));
  }
  bound_received(found->second);
  drain(id);
}

// Stops reading from a worker whose frames arrive faster than they are handled.
void WorkerTable::bound_received(Worker& worker) {
  worker.process->set_reading(worker.received.size() < kMaxReceived && worker.received_bytes < kMaxReceivedBytes);
}

// Delivers all frames up to the next image that has to be checked.
void WorkerTable::drain(job::WorkerId id) {
  for (auto found = workers_.find(id); found != workers_.end(); found = workers_.find(id)) {
    Worker& worker = found->second;
    if (worker.checking) return owner_.on_worker_wakeup();
    if (worker.received.empty()) {
      if (const auto& death = worker.process->death()) return on_lost(id, Death(*death));
      return owner_.on_worker_wakeup();
    }
    WorkerProcess::Received received = std::move(worker.received.front());
    worker.received.pop_front();
    worker.received_bytes -= received.frame.ByteSizeLong();
    if (worker.received.empty()) bound_received(worker);
    if (received.memory) {
      check(id, std::move(received));
    } else {
      if (received.frame.has_loaded()) after_loaded(worker, received.frame.loaded());
      if (received.frame.has_failed() && received.frame.failed().thread() == 0) drop_code(worker);
      owner_.on_worker(id, peer::WorkerFrame{.frame = std::move(received.frame)});
    }
  }
  owner_.on_worker_wakeup();  // the worker broke a rule and is gone
}

void WorkerTable::check(job::WorkerId id, WorkerProcess::Received received) {
  workers_.at(id).checking = true;
  const auto memory = std::make_shared<const os::SealedMemory>(*std::move(received.memory));
  const auto image = std::make_shared<Result<job::NewImage>>(fail(Kind::internal, "internal error: the image was not checked"));
  loop_.with_images([memory, image] { *image = job::check_new_image(memory->bytes(), memory); },
                    [this, alive = alive_, id, frame = std::move(received.frame), image] {
                      if (*alive) on_checked(id, frame, std::move(*image));
                    });
}

void WorkerTable::on_checked(job::WorkerId id, wire::pb::FromWorker frame, Result<job::NewImage> image) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  found->second.checking = false;
  if (!image) {
    found->second.process->kill(DeathCause::broke_rules, "the worker sent an image that cannot be used: " + image.error().detail);
    return on_ready(id);
  }
  owner_.on_worker(id, peer::WorkerFrame{.frame = std::move(frame), .image = *std::move(image)});
  drain(id);
}

void WorkerTable::on_lost(job::WorkerId id, const Death& death) {
  metrics::count(Metric::workers_lost);
  if (const auto found = workers_.find(id); found != workers_.end()) drop_code(found->second);
  workers_.erase(id);
  owner_.on_worker_lost(id, death);
  owner_.on_worker_wakeup();
}

// The engine has refused the cached code: have it compiled again for the next worker.
void WorkerTable::after_loaded(Worker& worker, const wire::pb::FromWorker::Loaded& loaded) {
  const auto module = std::exchange(worker.module, nullptr);
  if (!loaded.code_refused() || module == nullptr) return;
  loop_.with_blobs([this, module](BlobReader&) { code_.replace(module->bytes(), code_kind_); }, [] {});
}

// The worker failed with this cached code: drop the code, or every later worker would fail too.
void WorkerTable::drop_code(Worker& worker) {
  const auto module = std::exchange(worker.module, nullptr);
  if (module == nullptr || !worker.has_code) return;
  loop_.with_blobs([this, module](BlobReader&) { code_.drop(sha256(module->bytes()), code_kind_); }, [] {});
}

// --- limits

std::vector<job::JobId> WorkerTable::hold(const std::function<WorkerShare(const job::JobId&)>& share_of) {
  std::vector<job::JobId> too_large;
  for (auto& [id, worker] : workers_) {
    const WorkerShare share = share_of(worker.job);
    if (worker.process->resident_bytes() > share.resident_bytes) {
      too_large.push_back(worker.job);
    } else {
      worker.process->hold(share);
      worker.memory_share = share.resident_bytes;
    }
  }
  return too_large;
}

job::Time WorkerTable::next_deadline() const {
  job::Time next = job::kNever;
  for (const auto& [id, worker] : workers_) next = std::min(next, worker.process->next_deadline());
  return next;
}

void WorkerTable::on_deadline(job::Time now) {
  std::vector<job::WorkerId> due;
  for (const auto& [id, worker] : workers_)
    if (worker.process->next_deadline() <= now) due.push_back(id);
  for (const job::WorkerId id : due) on_ready(id);
}

std::chrono::nanoseconds WorkerTable::cpu_time() const {
  std::chrono::nanoseconds time{0};
  for (const auto& [id, worker] : workers_) time += worker.process->cpu_time();
  return time;
}

WorkerTable::Use WorkerTable::use_of(const job::JobId& job) const {
  Use use;
  for (const auto& [id, worker] : workers_)
    if (worker.job == job) {
      use.resident_bytes += worker.process->resident_bytes();
      use.cpu_time += worker.process->cpu_time();
    }
  return use;
}

}  // namespace gw::node
