#include "node/jobs/local_job.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "os/clock.h"
#include "os/io.h"
#include "os/sealed_memory.h"

namespace gw::node {
namespace {

using job::kMainThread;
using job::ThreadId;
using wire::pb::JobSpec;
using wire::pb::ToWorker;

constexpr int kDeterminantsPerFrame = 16384;

// What eventfd counts: suspensions in the lower half, stops in the upper.
constexpr std::uint64_t kSuspendRequest = 1;
constexpr std::uint64_t kStopRequest = 1ull << 32;

std::string digest_of(const std::vector<wire::pb::InputEntry>& entries) {
  Sha256 hash;
  for (const wire::pb::InputEntry& entry : entries) {
    // Touching a file does not change what the program reads.
    wire::pb::InputEntry content = entry;
    content.clear_mtime_ns();
    hash.update(as_bytes(content.SerializeAsString()));
  }
  return std::string(as_text(hash.finish().bytes));
}

template <class Mounts>
std::vector<Mount> to_mounts(const Mounts& mounts) {
  std::vector<Mount> out;
  for (const JobSpec::Mount& mount : mounts) out.push_back({mount.host(), mount.guest()});
  return out;
}

Result<os::UniqueFd> sealed(const char* name, ByteView bytes) {
  GW_TRY(const os::SealedMemory memory, os::SealedMemory::make(name, bytes));
  return memory.share();
}

}  // namespace

LocalJob::LocalJob(const Config& config, JobSpec spec, Bytes module)
    : config_(config),
      spec_(std::move(spec)),
      module_(std::move(module)),
      module_hash_(sha256(module_)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  delivery_.emplace(EffectDelivery::Descriptors{config.output, config.errors}, config.observer);
}

LocalJob::~LocalJob() = default;

Result<std::unique_ptr<LocalJob>> LocalJob::start(const Config& config, JobSpec spec, Bytes module,
                                                  const std::optional<std::filesystem::path>& journal) {
  std::unique_ptr<LocalJob> job(new LocalJob(config, std::move(spec), std::move(module)));
  // The worker starts while the inputs are looked at.
  GW_TRY_VOID(job->start_worker(isolate::CodeKind::start, journal ? Images::keep : Images::none));
  GW_TRY_VOID(job->open_files());
  GW_TRY_VOID(job->open_input(0));
  if (journal) {
    GW_TRY(job->journal_, Journal::create(*journal, job->spec_, job->module_));
  } else {
    GW_TRY_VOID(job->memory_.add(kMainThread));
  }
  GW_TRY_VOID(job->send_start());
  return job;
}

Result<std::unique_ptr<LocalJob>> LocalJob::resume(const Config& config, const wire::Image& image, const wire::pb::Limits& limits) {
  const wire::ImageContent& content = image.content();
  if (content.module_wasm.empty()) return fail(Kind::invalid, "the image does not contain its program: save it with the module");
  wire::pb::GateState gate;
  JobSpec spec;
  if (!gate.ParseFromArray(content.job_state.data(), static_cast<int>(content.job_state.size())) || !spec.ParseFromString(gate.job()))
    return fail(Kind::corrupt, "the image has no readable state of its effect gate");
  *spec.mutable_limits() = limits;
  std::unique_ptr<LocalJob> job(new LocalJob(config, std::move(spec), Bytes(content.module_wasm.begin(), content.module_wasm.end())));
  GW_TRY_VOID(job->start_worker(isolate::CodeKind::restore, Images::none));
  GW_TRY_VOID(job->open_files());
  GW_TRY_VOID(job->open_input(gate.input_bytes()));
  const std::uint64_t epoch = gate.epoch() + 1;
  const std::uint64_t emitted = gate.thread() == 0 ? 0 : gate.next_sequence() - 1;
  const auto unstored = static_cast<std::uint64_t>(gate.outbox_size());
  if (unstored > emitted) return fail(Kind::corrupt, "the state of the image's effect gate is damaged: counts");
  GW_TRY_VOID(job->memory_.adopt(kMainThread, epoch, emitted - unstored));
  GW_TRY_VOID(job->send_restore(kMainThread, epoch, image, {}));
  return job;
}

Result<std::unique_ptr<LocalJob>> LocalJob::recover(const Config& config, const std::filesystem::path& path) {
  GW_TRY(Journal journal, Journal::open(path));
  const ByteView module = journal.module();
  std::unique_ptr<LocalJob> job(new LocalJob(config, journal.spec(), Bytes(module.begin(), module.end())));
  job->journal_.emplace(std::move(journal));
  if (job->ledger().running() > 0) GW_TRY_VOID(job->start_worker(isolate::CodeKind::restore, Images::keep));
  GW_TRY_VOID(job->open_files());
  GW_TRY_VOID(job->open_input(job->journal_->input_offset()));
  GW_TRY_VOID(job->take_old_effects());
  std::vector<ThreadId> alive;
  for (const auto& [id, thread] : job->journal_->threads())
    if (job->ledger().knows(id) && !thread.ended) alive.push_back(id);
  for (const ThreadId id : alive) {
    const Journal::Thread& thread = job->journal_->threads().at(id);
    if (!thread.image && id == kMainThread) {
      // Killed before its first image, which comes before all effects.
      GW_TRY_VOID(job->send_start());
      continue;
    }
    GW_TRY(const wire::Image image, job->journal_->whole_image(id));
    GW_TRY(const std::uint64_t epoch, job->journal_->add_epoch(id));
    GW_TRY_VOID(job->send_restore(id, epoch, image, thread.determinants));
  }
  GW_TRY_VOID(job->journal_->commit());
  return job;
}

Status LocalJob::open_files() {
  GW_TRY(inputs_, InputFiles::look_at(to_mounts(spec_.inputs())));
  outputs_.emplace(to_mounts(spec_.outputs()));
  const std::string digest = digest_of(inputs_->entries());
  if (!spec_.inputs_digest().empty() && spec_.inputs_digest() != digest)
    return fail(Kind::invalid,
                "an input of the program has changed since it started: put the old content back, or run it from the beginning");
  spec_.set_inputs_digest(digest);
  spec_.mutable_config()->clear_inputs();
  for (const wire::pb::InputEntry& entry : inputs_->entries()) *spec_.mutable_config()->add_inputs() = entry;
  if (spec_.checkpoint_every_ns() > 0) checkpoint_at_ = os::monotonic_now() + std::chrono::nanoseconds(spec_.checkpoint_every_ns());
  if (config_.suspend_after) suspend_at_ = os::monotonic_now() + *config_.suspend_after;
  return ok();
}

// A file goes on where the program has got to: a process that was killed has left no position of its own.
Status LocalJob::open_input(std::uint64_t taken) {
  if (!config_.input_file.empty()) spec_.set_input_file(config_.input_file.string());
  if (spec_.input_file().empty()) return ok();
  input_file_ = os::UniqueFd(::open(spec_.input_file().c_str(), O_RDONLY | O_CLOEXEC));
  if (!input_file_)
    return fail(Kind::not_found, "the standard input {} cannot be read: {}: put it there, or name another file with --stdin",
                spec_.input_file(), os::reason(errno));
  (void)::lseek(input_file_.get(), static_cast<off_t>(taken), SEEK_SET);  // fails for a pipe, which goes on by itself
  return ok();
}

Status LocalJob::start_worker(isolate::CodeKind kind, Images images) {
  GW_TRY(worker_, WorkerProcess::start({.program = config_.worker}));
  ToWorker frame;
  ToWorker::Load& load = *frame.mutable_load();
  load.set_pool_threads(config_.pool_threads);
  *load.mutable_limits() = spec_.limits();
  load.set_keep_images(images == Images::keep);
  std::vector<os::UniqueFd> descriptors;
  GW_TRY(os::UniqueFd module, sealed("module", module_));
  descriptors.push_back(std::move(module));
  code_kind_ = kind;
  if (const auto code = config_.code.find(module_hash_, module_, kind)) {
    GW_TRY(os::UniqueFd native, code->share());
    descriptors.push_back(std::move(native));
    load.set_has_code(true);
  }
  return worker_->send(frame, std::move(descriptors));
}

Status LocalJob::send_start() {
  ToWorker frame;
  frame.mutable_start()->set_thread(kMainThread.value());
  if (config_.suspend_after_polls) frame.mutable_start()->set_stop_after_polls(*config_.suspend_after_polls);
  // The manifest is in the WASI state of every image already.
  JobSpec words = spec_;
  words.mutable_config()->Clear();
  frame.mutable_start()->set_job(words.SerializeAsString());
  GW_TRY(os::UniqueFd config, sealed("config", as_bytes(spec_.config().SerializeAsString())));
  std::vector<os::UniqueFd> descriptors;
  descriptors.push_back(std::move(config));
  threads_[kMainThread];
  return worker_->send(frame, std::move(descriptors));
}

Status LocalJob::send_restore(ThreadId thread, std::uint64_t epoch, const wire::Image& image,
                              const std::deque<job::Determinant>& determinants) {
  auto next = determinants.begin();
  bool first = true;
  do {
    ToWorker frame;
    ToWorker::Restore& restore = *frame.mutable_restore();
    restore.set_thread(thread.value());
    restore.set_epoch(epoch);
    if (config_.suspend_after_polls && thread == kMainThread) restore.set_stop_after_polls(*config_.suspend_after_polls);
    for (; next != determinants.end() && restore.determinants_size() < kDeterminantsPerFrame; ++next) *restore.add_determinants() = *next;
    restore.set_more(next != determinants.end());
    std::vector<os::UniqueFd> descriptors;
    if (std::exchange(first, false)) {
      GW_TRY(os::UniqueFd descriptor, sealed("image", image.encoded()));
      descriptors.push_back(std::move(descriptor));
    }
    GW_TRY_VOID(worker_->send(frame, std::move(descriptors)));
  } while (next != determinants.end());
  threads_[thread];
  return ok();
}

// What the lives before have left in the journal and nobody has seen: files that were not placed, the end.
Status LocalJob::take_old_effects() {
  if (!journal_->inputs().empty()) {
    next_piece_ = journal_->inputs().back().piece + 1;
    input_ended_ = journal_->inputs().back().end;
  } else {
    next_piece_ = journal_->threads().at(kMainThread).input_in_image;
  }
  return journal_->visit_effects([&](const job::Effect& effect) -> Status {
    if (effect.has_file()) return outputs_->take(effect.file());
    if (effect.has_fork()) ++result_.threads;
    if (effect.has_end()) note_end(effect);
    return ok();
  });
}

void LocalJob::note_end(const job::Effect& effect) {
  threads_.erase(ThreadId{effect.thread()});
  if (ThreadId{effect.thread()} == kMainThread) {
    main_end_ = effect;
  } else if (effect.end().reason() != job::Effect::End::EXITED || effect.end().exit_code() != 0) {
    ++failed_children_;
  }
}

void LocalJob::request_suspend() {
  const std::uint64_t request = kSuspendRequest;
  (void)!::write(wake_.get(), &request, sizeof request);
}

void LocalJob::request_stop() {
  const std::uint64_t request = kStopRequest;
  (void)!::write(wake_.get(), &request, sizeof request);
}

Status LocalJob::handle_requests() {
  std::uint64_t requests = 0;
  if (::read(wake_.get(), &requests, sizeof requests) != sizeof requests) return ok();
  if (requests >= kStopRequest) {
    stage_ = Stage::stopping;
    return ok();
  }
  return begin_suspend();
}

}  // namespace gw::node
