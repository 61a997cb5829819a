// A hosted job and its worker.

#include <algorithm>

#include "base/reached.h"
#include "job/hosted_job.h"

namespace gw::job {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

// --- code

void HostedJob::advance_code(Time now, Actions& out) {
  if (code_ == CodeStage::chunks && !threads_.empty()) {
    const std::vector<Hash256> chunks = manifest_->module_chunks();
    if (!std::ranges::all_of(chunks, [&](const Hash256& chunk) { return environment_.blobs.has(chunk); })) return;
    worker_ = WorkerId{++environment_.next_worker};
    out.add(StartWorker{*worker_, claim_.job, claim_.slots});
    ToWorker frame;
    ToWorker::Load& load = *frame.mutable_load();
    load.set_pool_threads(claim_.slots);
    *load.mutable_limits() = manifest_->content().policy().limits();
    load.set_keep_images(true);  // children of forks begin with one
    tell(std::move(frame), {{.blobs = chunks, .whole = wire::hash_of(manifest_->content().module().hash())}}, out);
    code_ = CodeStage::loading;
  }
  start_queued(now, out);
}

void HostedJob::take_manifest(Time now, const std::string& bytes, Actions& out) {
  auto manifest = Manifest::check(as_bytes(bytes));
  if (!manifest) {
    // Home is not to be trusted with this job: let the claim run out.
    out.notify(PeerRefused{claim_.home, manifest.error().detail});
    return;
  }
  manifest_.emplace(std::move(*manifest));
  code_ = CodeStage::chunks;
  for (const Hash256& chunk : manifest_->module_chunks())
    if (environment_.blobs.want(now, chunk, claim_.job, claim_.home, out)) staged_.push_back(chunk);
}

void HostedJob::on_blob_here(Time now, Actions& out) {
  if (code_ != CodeStage::ready) ++progress_;
  if (code_ == CodeStage::manifest && environment_.blobs.has(claim_.manifest)) environment_.blobs.load(claim_.manifest, out);
  for (const Hash256& hash : chunk_waits_)
    if (environment_.blobs.has(hash)) environment_.blobs.load(hash, out);
  for (auto& [id, thread] : threads_) advance_image(now, id, thread, out);
  advance_code(now, out);
}

void HostedJob::on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  if (!bytes) return;
  if (hash == claim_.manifest && code_ == CodeStage::manifest) take_manifest(now, *bytes, out);
  if (chunk_waits_.erase(hash) > 0) {
    ToWorker frame;
    frame.mutable_chunk()->set_hash(wire::bytes_of(hash));
    frame.mutable_chunk()->set_bytes(*bytes);
    tell(std::move(frame), {}, out);
  }
  for (auto& [id, thread] : threads_)
    if (thread.stage == Stage::parts && thread.stable->parts == hash) hold_image(now, thread, *bytes, out);
  on_blob_here(now, out);
}

// --- threads

void HostedJob::start_queued(Time now, Actions& out) {
  if (code_ != CodeStage::ready) return;
  drop_impossible(out);
  std::size_t running = roots_running();
  for (auto& [id, thread] : threads_) {
    if (running >= claim_.slots) return;
    if (thread.stage != Stage::queued) continue;
    start_thread(now, id, thread, out);
    ++running;
  }
}

// Home has assigned a task that the manifest does not have.
void HostedJob::drop_impossible(Actions& out) {
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto next = std::next(thread);
    const bool impossible = thread->second.stage == Stage::queued && !thread->second.stable && thread->second.task >= manifest_->tasks();
    if (impossible) {
      out.notify(
          PeerRefused{claim_.home, fmt::format("it assigned task {} of a job of {} tasks", thread->second.task, manifest_->tasks())});
      remove(thread, out);
    }
    thread = next;
  }
}

void HostedJob::start_thread(Time now, ThreadId id, Thread& thread, Actions& out) {
  thread.stage = Stage::running;
  plan_checkpoint(now, thread);
  thread.stable_determinants = thread.recorded();
  thread.restored = thread.stable.has_value();
  ToWorker frame;
  if (!thread.restored) {
    GW_REACHED("host: a thread starts from the beginning");
    ToWorker::Start& start = *frame.mutable_start();
    start.set_thread(id.value());
    start.set_epoch(thread.epoch);
    start.set_stored(thread.stored_before);
    for (const Determinant& determinant : thread.log) *start.add_determinants() = determinant;
    return tell(std::move(frame), {{.form = Attachment::Form::given, .bytes = manifest_->config_of(thread.task).SerializeAsString()}}, out);
  }
  GW_REACHED("host: a thread goes on from its image");
  ToWorker::Restore& restore = *frame.mutable_restore();
  restore.set_thread(id.value());
  restore.set_epoch(thread.epoch);
  restore.set_stored(thread.stored_before);
  for (const Determinant& determinant : thread.log) *restore.add_determinants() = determinant;
  tell(std::move(frame), {{.form = Attachment::Form::image, .blobs = {thread.stable->parts}}}, out);
}

// --- frames

Status HostedJob::on_frame(Time now, const FromWorker& frame, Bytes image, Actions& out) {
  ++progress_;
  switch (frame.kind_case()) {
    case FromWorker::kHello:
      return ok();
    case FromWorker::kLoaded:
      if (code_ == CodeStage::loading) code_ = CodeStage::ready;
      start_queued(now, out);
      return ok();
    case FromWorker::kEffects:
      return on_effects(now, frame.effects(), out);
    case FromWorker::kDeterminants:
      return on_determinants(now, frame.determinants(), out);
    case FromWorker::kWantChunk:
      return on_want_chunk(now, frame.want_chunk().hash(), out);
    case FromWorker::kWantInput:
      on_want_input(now, frame.want_input(), out);
      return ok();
    case FromWorker::kImage:
      return on_image(now, frame.image(), std::move(image), out);
    case FromWorker::kStopped:
      return ok();  // its end is an effect
    case FromWorker::kFailed:
      return on_failed(now, frame.failed(), out);
    case FromWorker::kTaskDone:
    case FromWorker::KIND_NOT_SET:
      break;
  }
  return fail(Kind::invalid, "the worker sent a frame that nobody asked for");
}

Status HostedJob::on_effects(Time now, const FromWorker::Effects& frame, Actions& out) {
  std::set<ThreadId> touched;
  for (const Effect& effect : frame.effects()) {
    GW_TRY(Thread * thread, speaker(effect.thread(), effect.epoch()));
    if (thread == nullptr) continue;  // the worker has been told
    if (!thread->unstored.empty() && effect.sequence() != thread->unstored.back().sequence() + 1)
      return fail(Kind::invalid, "the worker sent effect {} of thread {} after {}", effect.sequence(), effect.thread(),
                  thread->unstored.back().sequence());
    // In a replay the first ones are known at home, which says so.
    if (thread->unstored.empty()) thread->sent = std::min(thread->sent, effect.sequence() - 1);
    thread->unstored.push_back(effect);
    touched.insert(ThreadId{effect.thread()});
  }
  for (const ThreadId id : touched) send_effects(now, id, threads_.at(id), out);
  return ok();
}

Status HostedJob::on_determinants(Time now, const FromWorker::Determinants& frame, Actions& out) {
  const ThreadId id{frame.thread()};
  GW_TRY(Thread * thread, speaker(frame.thread(), frame.epoch()));
  if (thread == nullptr) return ok();
  for (const Determinant& determinant : frame.determinants()) {
    if (determinant.index() != thread->recorded())
      return fail(Kind::invalid, "the worker sent determinant {} of thread {} where {} is next", determinant.index(), frame.thread(),
                  thread->recorded());
    thread->log.push_back(determinant);
  }
  sync(now, id, *thread, out);
  maybe_checkpoint(now, id, *thread, out);
  return ok();
}

Status HostedJob::on_image(Time now, const FromWorker::Image& frame, Bytes image, Actions& out) {
  const ThreadId id{frame.thread()};
  GW_TRY(SplitImage split, split_image(std::move(image), [&](const Hash256& page) { return find_page(id, page); }));
  if (split.thread != id)
    return fail(Kind::invalid, "the worker sent an image of thread {} as one of {}", split.thread.value(), id.value());
  if (frame.why() == FromWorker::Image::FORKED) GW_TRY_VOID(add_child(now, id, split, out));
  GW_TRY(Thread * thread, speaker(frame.thread(), split.epoch));
  if (thread == nullptr) return ok();
  thread->checkpointing = false;
  ImageRef saved = hold_saved(std::move(split), frame.id(), out);
  const bool beginning = !thread->child && !thread->restored && !thread->stable && !thread->initial;
  if (beginning) {
    thread->initial = std::move(saved);
  } else if (thread->replicating) {
    GW_REACHED("host: an image came while another was on its way");
    replace(thread->queued, std::move(saved), out);
  } else {
    thread->replicating = std::move(saved);
  }
  sync(now, id, *thread, out);
  return ok();
}

HostedJob::ImageRef HostedJob::hold_saved(SplitImage split, std::string id, Actions& out) {
  ImageRef saved{.parts = split.parts.hash,
                 .id = std::move(id),
                 .determinants = split.determinants,
                 .input_pieces = split.input_pieces,
                 .after_effect = split.last_fork,
                 .pages = std::move(split.pages)};
  std::set<Hash256> held;
  for (Blob& blob : split.fresh) {
    if (!held.insert(blob.hash).second) continue;
    saved.held.push_back(blob.hash);
    environment_.blobs.put(std::move(blob), out);
  }
  for (const auto& [page, blob] : saved.pages) {
    if (!held.insert(blob).second) continue;
    saved.held.push_back(blob);
    environment_.blobs.adopt(blob);  // an image before has it
  }
  saved.held.push_back(split.parts.hash);
  environment_.blobs.put(std::move(split.parts), out);
  return saved;
}

// A child: it lives from the moment its first image exists, and home hears of it with the fork.
Status HostedJob::add_child(Time now, ThreadId id, const SplitImage& image, Actions& out) {
  if (const auto known = threads_.find(id); known != threads_.end()) {
    if (known->second.epoch >= image.epoch) return ok();
    remove(known, out);  // the child of a life before, which home has never heard of
  }
  if (threads_.size() >= config_.threads) return fail(Kind::overloaded, "the worker has {} threads, which is the limit", threads_.size());
  GW_REACHED("host: a thread was born");
  Thread& child = threads_[id];
  child.child = true;
  child.stage = Stage::running;
  child.epoch = image.epoch;
  child.resend_at = now;
  follow_keeper(now, child);
  plan_checkpoint(now, child);
  return ok();
}

Status HostedJob::on_want_chunk(Time now, const std::string& bytes, Actions& out) {
  const Hash256 hash = wire::hash_of(bytes);
  const std::vector<Hash256> chunks = manifest_->all_chunks();
  if (!std::ranges::binary_search(chunks, hash)) return fail(Kind::invalid, "the worker wants bytes that are no input of the job");
  if (chunk_waits_.size() >= config_.chunk_waits) return fail(Kind::overloaded, "the worker wants more chunks at once than is allowed");
  if (std::ranges::find(staged_, hash) == staged_.end()) {
    GW_TRY_VOID(environment_.blobs.want(now, hash, claim_.job, claim_.home, out));
    staged_.push_back(hash);
  }
  chunk_waits_.insert(hash);
  if (environment_.blobs.has(hash)) environment_.blobs.load(hash, out);
  return ok();
}

// --- standard input: home has it

void HostedJob::on_want_input(Time now, const FromWorker::WantInput& frame, Actions& out) {
  const auto found = threads_.find(ThreadId{frame.thread()});
  if (found == threads_.end() || found->second.stage != Stage::running) return;  // it has left meanwhile
  const bool reads = manifest_->content().standard_input() && found->first == manifest_->thread_of(0);
  if (!reads) return give_input(found->first, frame.piece(), "", out);
  found->second.wanted_input = frame.piece();
  ask_input(now, found->first, found->second, out);
}

void HostedJob::ask_input(Time now, ThreadId id, Thread& thread, Actions& out) {
  thread.ask_input_at = now + config_.retry;
  JobMessage message;
  JobMessage::WantInput& want = *message.mutable_want_input();
  want.set_thread(id.value());
  want.set_epoch(thread.epoch);
  want.set_piece(*thread.wanted_input);
  want.set_in_image(thread.stable ? thread.stable->input_pieces : 0);
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostedJob::on_input(Time now, const JobMessage::Input& input, Actions& out) {
  Thread* thread = find(input.thread(), input.epoch());
  if (thread == nullptr || thread->stage != Stage::running || thread->wanted_input != input.piece()) return;
  thread->wanted_input.reset();
  thread->input_bytes += input.bytes().size();
  const ThreadId id{input.thread()};
  give_input(id, input.piece(), input.bytes(), out);
  maybe_checkpoint(now, id, *thread, out);
}

void HostedJob::give_input(ThreadId id, std::uint64_t piece, const std::string& bytes, Actions& out) {
  ToWorker frame;
  frame.mutable_input()->set_thread(id.value());
  frame.mutable_input()->set_piece(piece);
  frame.mutable_input()->set_bytes(bytes);
  frame.mutable_input()->set_end(bytes.empty());
  tell(std::move(frame), {}, out);
}

Status HostedJob::on_failed(Time now, const FromWorker::Failed& frame, Actions& out) {
  if (frame.thread() == 0) {
    if (!frame.guest_fault()) return fail(Kind::internal, "the worker could not load the module: {}", frame.error());
    fail_all(frame.error(), out);
    return ok();
  }
  Thread* thread = find(frame.thread(), frame.epoch());
  if (thread == nullptr) return ok();
  if (!frame.gone()) {  // a checkpoint
    thread->checkpointing = false;
    if (frame.guest_fault()) thread->checkpoint_at = kNever;
    return ok();
  }
  if (frame.guest_fault()) report_failed(ThreadId{frame.thread()}, thread->epoch, frame.error(), out);
  failure_ = frame.error();
  remove(threads_.find(ThreadId{frame.thread()}), out);
  send_status(now, out);
  start_queued(now, out);
  return ok();
}

// The program itself cannot run.
void HostedJob::fail_all(const std::string& sentence, Actions& out) {
  while (!threads_.empty()) {
    report_failed(threads_.begin()->first, threads_.begin()->second.epoch, sentence, out);
    remove(threads_.begin(), out);
  }
}

// If this is lost, home sees that the thread is not here, places it again and is told again.
void HostedJob::report_failed(ThreadId id, std::uint64_t epoch, const std::string& sentence, Actions& out) {
  JobMessage message;
  JobMessage::ThreadName& name = *message.mutable_thread_failed();
  name.set_thread(id.value());
  name.set_epoch(epoch);
  name.set_failure(sentence.substr(0, 4096));
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostedJob::on_worker_died(Time now, std::string why, Actions& out) {
  GW_REACHED("host: a worker died");
  worker_.reset();
  if (code_ > CodeStage::chunks) code_ = CodeStage::chunks;
  // Those that were not in it yet are none the worse.
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto next = std::next(thread);
    if (thread->second.stage == Stage::running) remove(thread, out);
    thread = next;
  }
  chunk_waits_.clear();
  departed_epoch_.clear();
  failure_ = std::move(why);
  send_status(now, out);
  advance_code(now, out);
}

}  // namespace gw::job
