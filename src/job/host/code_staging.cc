#include "job/host/code_staging.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr StoredForOthers kOneBlob{.blobs = 1, .bytes = wire::kMaxBlobBytes};

}  // namespace

void CodeStaging::begin(Time now, Actions& out) {
  if (!source_.local) swarm_.open(source_.job, source_.home);
  std::set<Hash256> missing;
  hold_code(now, source_.manifest, missing, out);
  if (blobs_.has(source_.manifest)) blobs_.load(source_.manifest, out);
}

void CodeStaging::close(Actions& out) {
  if (const auto id = worker()) out.add(KillWorker{*id});
  while (!held_.empty()) let_go(*held_.begin(), out);
  held_inputs_.clear();
  if (!source_.local) swarm_.close(source_.job);
}

// --- what is held

// Each blob is charged as the largest there may be: its size is known only when it has come.
Status CodeStaging::hold(Time now, const Chunk& chunk, Actions& out) {
  if (held_.contains(chunk.hash)) return ok();
  GW_TRY_VOID(storage_.add(kOneBlob));
  if (Status expected = blobs_.expect(chunk.hash, source_.job); !expected) {
    storage_.remove(kOneBlob);
    return expected;
  }
  held_.insert(chunk.hash);
  if (blobs_.has(chunk.hash)) swarm_.add_here(now, chunk.hash, source_.job);
  if (blobs_.is_asked(chunk.hash)) swarm_.want(now, chunk, source_.job, out);
  return ok();
}

void CodeStaging::let_go(const Hash256& hash, Actions& out) {
  swarm_.remove(hash, source_.job);
  blobs_.release(hash, source_.job, out);
  storage_.remove(kOneBlob);
  held_.erase(hash);
}

// A blob that has not come yet is added to `missing`. Without room for all of the code the claim does nothing, and home leaves it.
void CodeStaging::hold_code(Time now, const Hash256& hash, std::set<Hash256>& missing, Actions& out) {
  if (const Status held = hold(now, {.hash = hash}, out); !held) no_room_ = held.error().detail;
  if (!blobs_.has(hash)) missing.insert(hash);
}

Status CodeStaging::hold_input(Time now, const Chunk& chunk, Actions& out) {
  if (held_.contains(chunk.hash)) return ok();
  Status held = hold(now, chunk, out);
  for (std::size_t tries = held_inputs_.size(); !held && tries > 0; --tries) {
    const Hash256 oldest = held_inputs_.front();
    held_inputs_.pop_front();
    if (chunk_waits_.contains(oldest) || row_waits_.contains(oldest) || list_waits_.contains(oldest)) {
      held_inputs_.push_back(oldest);
      continue;
    }
    GW_REACHED("host: an input made room for another");
    let_go(oldest, out);
    held = hold(now, chunk, out);
  }
  if (held) held_inputs_.push_back(chunk.hash);
  return held;
}

std::optional<WorkerId> CodeStaging::worker() const {
  if (const auto* loading = std::get_if<Loading>(&stage_)) return loading->worker;
  if (const auto* ready = std::get_if<Ready>(&stage_)) return ready->worker;
  return std::nullopt;
}

// --- manifest and module

void CodeStaging::take_manifest(Time now, const std::string& bytes, Actions& out) {
  auto manifest = Manifest::check(as_bytes(bytes));
  if (!manifest) {
    // The manifest breaks a rule, so nothing is run for this home: the claim is left to expire.
    out.notify(PeerRefused{source_.home, manifest.error().detail});
    return;
  }
  manifest_.emplace(std::move(*manifest));
  if (std::optional<std::string> excess = source_.excess ? source_.excess(*manifest_) : std::nullopt) {
    GW_REACHED("host: a job asks for more than the owner allows");
    no_room_ = std::move(*excess);
    return;
  }
  inputs_ = manifest_->input_chunks();
  FetchingModule fetching;
  for (const Hash256& chunk : manifest_->module_chunks()) hold_code(now, chunk, fetching.missing, out);
  if (fetching.missing.empty()) {
    stage_ = Staged{};
  } else {
    stage_ = std::move(fetching);
  }
}

void CodeStaging::on_blob_stored(Time now, const Hash256& hash, Actions& out) {
  if (!blobs_.has(hash)) return;  // dropped meanwhile, and on its way again
  if (held_.contains(hash)) swarm_.add_here(now, hash, source_.job);
  if (std::holds_alternative<FetchingManifest>(stage_) && hash == source_.manifest) blobs_.load(hash, out);
  if (chunk_waits_.contains(hash) || row_waits_.contains(hash) || list_waits_.contains(hash)) blobs_.load(hash, out);
  if (image_missing_) image_missing_->erase(hash);
  auto* fetching = std::get_if<FetchingModule>(&stage_);
  if (fetching != nullptr && fetching->missing.erase(hash) > 0 && fetching->missing.empty()) stage_ = Staged{};
}

void CodeStaging::on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  if (!bytes) return;
  if (std::holds_alternative<FetchingManifest>(stage_) && hash == source_.manifest) take_manifest(now, *bytes, out);
  if (const auto wait = row_waits_.find(hash); wait != row_waits_.end()) {
    const wire::pb::Manifest::TaskArray& array = manifest_->content().array();
    rows_.add(wait->second, wire::decode_task_rows(as_bytes(*bytes), array.segments(static_cast<int>(wait->second)).rows()));
    row_waits_.erase(wait);
  }
  if (list_waits_.erase(hash) > 0) files_.on_list(hash, *bytes);
  if (chunk_waits_.erase(hash) == 0) return;
  wire::pb::ToWorker frame;
  frame.mutable_chunk()->set_hash(wire::bytes_of(hash));
  frame.mutable_chunk()->set_bytes(*bytes);
  tell(std::move(frame), {}, out);
}

void CodeStaging::on_blob_lost(const Hash256& hash) {
  chunk_waits_.erase(hash);
  row_waits_.erase(hash);
  list_waits_.erase(hash);
}

// --- rows

Result<const wire::pb::TaskRow*> CodeStaging::row_of(Time now, std::uint32_t task, Actions& out) {
  const Manifest::RowPosition position = manifest_->row_of(task);
  if (const RowSegments::Rows* rows = rows_.find(position.segment)) {
    if (!*rows) return rows->error();
    const int row = static_cast<int>(position.row);
    const wire::pb::TaskRow& found = (*rows)->rows(GW_BUG(71) ? (row + 1) % (*rows)->rows_size() : row);
    return PredecessorFiles::concerns(found) ? with_files(now, found, out) : &found;
  }
  const Hash256 hash = manifest_->segment(position.segment);
  if (row_waits_.contains(hash)) return nullptr;
  GW_TRY_VOID(hold_input(now, {.hash = hash, .bytes = wire::kMaxRowSegmentBytes, .priority = Swarm::Priority::code}, out));
  row_waits_.emplace(hash, position.segment);
  if (blobs_.has(hash)) blobs_.load(hash, out);
  return nullptr;
}

Result<const wire::pb::TaskRow*> CodeStaging::with_files(Time now, const wire::pb::TaskRow& row, Actions& out) {
  ask_files(files_.take_question(now, row), out);
  for (const Hash256& list : files_.missing(row)) {
    if (list_waits_.contains(list)) continue;
    GW_TRY_VOID(hold_input(now, {.hash = list, .bytes = wire::kMaxFileListBytes, .priority = Swarm::Priority::code}, out));
    list_waits_.insert(list);
    if (blobs_.has(list)) blobs_.load(list, out);
  }
  GW_TRY(std::optional<wire::pb::TaskRow> made, files_.make(row));
  if (!made) return nullptr;
  row_ = *std::move(made);
  return &row_;
}

void CodeStaging::ask_files(const std::vector<std::uint32_t>& tasks, Actions& out) const {
  if (tasks.empty()) return;
  JobMessage message;
  message.mutable_want_files()->mutable_tasks()->Assign(tasks.begin(), tasks.end());
  out.send(source_.home, source_.job, std::move(message));
}

Result<std::optional<wire::pb::ThreadConfig>> CodeStaging::stage_start(Time now, std::uint32_t task, Actions& out) {
  GW_ASSERT(task < manifest_->tasks());
  if (!stage_image(now, out)) return std::optional<wire::pb::ThreadConfig>();
  const wire::pb::TaskRow* row = nullptr;
  if (manifest_->has_rows()) {
    GW_TRY(row, row_of(now, task, out));
    if (row == nullptr) return std::optional<wire::pb::ThreadConfig>();
  }
  GW_TRY(wire::pb::ThreadConfig config, manifest_->config_of(task, row));
  return std::optional(std::move(config));
}

// Whether the image that the program begins with is here, or there is none; asks home for it.
bool CodeStaging::stage_image(Time now, Actions& out) {
  if (image_missing_) return image_missing_->empty();
  image_missing_.emplace();
  for (const Hash256& chunk : manifest_->image_chunks()) hold_code(now, chunk, *image_missing_, out);
  return image_missing_->empty();
}

CodeStaging::Need CodeStaging::need_of(const Hash256& hash) const {
  if (image_missing_ && image_missing_->contains(hash)) return Need::program;
  if (!held_.contains(hash)) return Need::none;
  if (row_waits_.contains(hash) || list_waits_.contains(hash)) return Need::tasks;
  if (!ready()) return Need::program;
  return chunk_waits_.contains(hash) ? Need::worker : Need::none;
}

bool CodeStaging::task_needs(std::uint32_t task, const Hash256& hash) {
  if (!manifest_->has_rows()) return false;
  const Manifest::RowPosition position = manifest_->row_of(task);
  if (manifest_->segment(position.segment) == hash) return true;
  const RowSegments::Rows* rows = rows_.find(position.segment);
  if (rows == nullptr || !*rows) return false;
  const std::vector<Hash256> lists = files_.missing((*rows)->rows(static_cast<int>(position.row)));
  return std::ranges::find(lists, hash) != lists.end();
}

// --- the worker

void CodeStaging::start_worker(WorkerId worker, std::uint32_t slots, std::size_t determinants_after_image, Actions& out) {
  GW_ASSERT(staged());
  stage_ = Loading{worker};
  out.add(StartWorker{worker, source_.job, slots});
  wire::pb::ToWorker frame;
  wire::pb::ToWorker::Load& load = *frame.mutable_load();
  load.set_pool_threads(slots);
  *load.mutable_limits() = manifest_->content().policy().limits();
  load.set_keep_images(true);  // later ones then have the changes only
  load.set_determinants_after_image(static_cast<std::uint32_t>(determinants_after_image));
  tell(std::move(frame), {{.blobs = manifest_->module_chunks(), .whole = wire::hash_of(manifest_->content().module().hash())}}, out);
}

void CodeStaging::on_worker_loaded() {
  if (const auto* loading = std::get_if<Loading>(&stage_)) stage_ = Ready{loading->worker};
  failed_loads_ = 0;
}

// The worker may have died of a module that is damaged on this disk: the next worker is started when the module is whole again.
void CodeStaging::on_worker_died(Time now) {
  chunk_waits_.clear();
  if (!worker()) return;
  FetchingModule fetching;
  for (const Hash256& chunk : manifest_->module_chunks())
    if (!blobs_.has(chunk)) fetching.missing.insert(chunk);
  if (std::holds_alternative<Loading>(stage_) && fetching.missing.empty()) {
    GW_REACHED("host: a worker did not load the module");
    restart_at_ = now + config_.restart * (1u << std::min(failed_loads_++, 16u));
  }
  if (fetching.missing.empty()) {
    stage_ = Staged{};
  } else {
    stage_ = std::move(fetching);
  }
}

void CodeStaging::tell(wire::pb::ToWorker frame, std::vector<Attachment> beside, Actions& out) const {
  if (const auto id = worker()) out.add(FrameToWorker{*id, std::move(frame), std::move(beside)});
}

Status CodeStaging::on_want_chunk(Time now, const Hash256& hash, Actions& out) {
  const auto input = inputs_.find(hash);
  // The inputs that rows name are in no list here: home gives out only what the job holds.
  if (!manifest_->has_rows() && input == inputs_.end()) return fail(Kind::invalid, "the worker wants bytes that are no input of the job");
  if (chunk_waits_.size() >= config_.chunk_waits) return fail(Kind::invalid, "the worker wants more chunks at once than is allowed");
  const auto bytes = input == inputs_.end() ? static_cast<std::uint32_t>(wire::kMaxBlobBytes) : input->second;
  GW_TRY_VOID(hold_input(now, {.hash = hash, .bytes = bytes, .priority = Swarm::Priority::input}, out));
  chunk_waits_.insert(hash);
  if (blobs_.has(hash)) blobs_.load(hash, out);
  return ok();
}

}  // namespace gw::job
