#include "job/host/hosted_thread.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

namespace {

std::vector<ImageReplicator::Keeper> keepers_of(const JobMessage::Assign& assign) {
  std::vector<ImageReplicator::Keeper> keepers;
  for (const std::string& keeper : assign.keepers()) keepers.push_back({PeerId::from(keeper), assign.keeper_generation(), assign.grant()});
  return keepers;
}

}  // namespace

HostedThread::HostedThread(const Environment& environment, const JobMessage::Assign& assign, Time now)
    : environment_(environment),
      id_(assign.thread()),
      epoch_(assign.epoch()),
      task_(assign.task()),
      stored_before_(wire::marks_of(assign.stored())),
      determinants_before_(assign.determinants()),
      forked_(assign.forked()),
      assigned_keepers_(keepers_of(assign)),
      stage_(Asking{.resend_at = now, .since = now}) {
  if (!assign.restore()) stage_ = Queued{};
}

// The keeper that gave the state has all of it; others would have to be filled first.
ImageReplicator HostedThread::replicator(ImageReplicator::Restored from) const {
  std::vector<Keeper> keepers = assigned_keepers_;
  if (source_) std::erase_if(keepers, [&](const Keeper& keeper) { return keeper.peer != *source_; });
  return {{.retry = environment_.config.retry, .patience = environment_.config.keeper_patience},
          {environment_.job, environment_.home, environment_.images},
          {id_, epoch_},
          keepers,
          std::move(from)};
}

void HostedThread::close(Actions& out) {
  environment_.fetches.cancel({environment_.job, id_}, out);
  if (auto* queued = std::get_if<Queued>(&stage_)) release(environment_.images, environment_.job, queued->from.image, out);
  if (Running* run = running()) run->images.close(out);
}

JobMessage::StartState HostedThread::start_state() const {
  if (queued()) return JobMessage::QUEUED;
  if (running() == nullptr) return JobMessage::NOT_YET;
  return running()->restored ? JobMessage::IMAGE : JobMessage::BEGINNING;
}

bool HostedThread::needs(const Hash256& root) const {
  if (running() != nullptr) return running()->images.is_sending(root);
  const auto* queued = std::get_if<Queued>(&stage_);
  return queued != nullptr && queued->from.image && queued->from.image->root == root;
}

StoredForOthers HostedThread::stored() const {
  ImageTrees::Size size;
  if (running() != nullptr) size = running()->images.held();
  if (const auto* fetching = std::get_if<Fetching>(&stage_)) size = fetching->size;
  if (const auto* queued = std::get_if<Queued>(&stage_); queued != nullptr && queued->from.image) size = queued->from.image->size;
  return stored_for(size);
}

bool HostedThread::begins() const {
  const auto* queued = std::get_if<Queued>(&stage_);
  return queued != nullptr && !queued->from.image;
}

// --- time

Time HostedThread::due() const {
  if (const auto* asking = std::get_if<Asking>(&stage_)) return asking->resend_at;
  if (const auto* fetching = std::get_if<Fetching>(&stage_))
    return assigned_keepers_.size() > 1 ? fetching->since + environment_.config.keeper_patience : kNever;
  const Running* run = running();
  if (run == nullptr) return kNever;
  Time due = std::min(run->effects.due(), run->images.due());
  if (run->wanted_input) due = std::min(due, run->ask_input_at);
  if (run->wanted_mail) due = std::min(due, run->ask_mail_at);
  due = std::min(due, is_suspended() ? run->suspended_at : run->leave_by);
  const bool may_checkpoint = !run->checkpointing && !run->images.busy() && run->suspension == Suspension::none;
  return may_checkpoint ? std::min(due, run->checkpoint_at) : due;
}

void HostedThread::on_due(Time now, Actions& out) {
  if (const auto* asking = std::get_if<Asking>(&stage_); asking != nullptr && now >= asking->resend_at) ask_image(now, out);
  if (auto* fetching = std::get_if<Fetching>(&stage_); fetching != nullptr && now >= due()) look_at_fetch(now, *fetching, out);
  Running* run = running();
  if (run == nullptr) return;
  if (now >= run->effects.due()) {
    GW_REACHED("host: effects were repeated");
    JobMessage::Effects effects = run->effects.take_again(now, [&](const Effect& effect) { return may_leave(effect); });
    if (!GW_BUG(6)) send(std::move(effects), out);
  }
  if (run->wanted_input && now >= run->ask_input_at) ask_input(now, out);
  if (run->wanted_mail && now >= run->ask_mail_at) ask_mail(now, out);
  run->images.sync(now, out);
  maybe_checkpoint(now, out);
  maybe_suspended(now, out);
}

// --- restoring

void HostedThread::ask_image(Time now, Actions& out) {
  std::get<Asking>(stage_).resend_at = now + environment_.config.retry;
  for (const Keeper& keeper : assigned_keepers_) {
    JobMessage message;
    JobMessage::WantImage& want = *message.mutable_want_image();
    want.set_thread(id_.value());
    want.set_epoch(epoch_);
    want.set_keeper_generation(keeper.generation);
    *want.mutable_grant() = keeper.grant;
    out.send(keeper.peer, environment_.job, std::move(message));
  }
}

// A thread that started from its beginning, or from less than was known, would behave differently from its earlier run.
Status HostedThread::check_kept(const JobMessage::ImageIs& image) const {
  if (const std::uint64_t kept = image.in_image() + static_cast<std::uint64_t>(image.determinants_size()); kept < determinants_before_)
    return fail(Kind::guest_fault, "what was kept of it is lost: it needs {} determinants to go on, and the peer that kept them has {}",
                determinants_before_, kept);
  const std::uint64_t first = image.image_root().empty() ? 0 : image.in_image();
  if (image.determinants_size() > 0 && image.determinants(0).index() != first && !GW_BUG(7) && !GW_BUG(54))
    return fail(Kind::guest_fault, "its keeper has determinants from {} on, and its image ends before {}", image.determinants(0).index(),
                first);
  if (image.image_root().empty() && forked_) return fail(Kind::guest_fault, "its image is lost: the peer that kept it has none");
  return ok();
}

Status HostedThread::on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out) {
  const auto keeper = std::ranges::find(assigned_keepers_, from, &Keeper::peer);
  if (keeper == assigned_keepers_.end() || keeper->generation != image.keeper_generation()) return ok();
  auto* asking = std::get_if<Asking>(&stage_);
  if (asking == nullptr) {
    compare(from, image);
    return ok();
  }
  const Status fits = check_kept(image);
  const bool empty = image.image_root().empty() && image.determinants().empty();
  bool all_empty = false;
  if (!fits || empty) {
    asking->useless.insert_or_assign(from, fits);
    all_empty = asking->useless.size() == assigned_keepers_.size();
    if (!all_empty && now - asking->since < environment_.config.keeper_patience) return ok();
    for (const auto& [peer, why] : asking->useless)
      if (!why) return why;  // it has something, so the thread has run
  }
  if (assigned_keepers_.size() > 1 && !all_empty) source_ = from;
  return take(now, from, image, out);
}

// The keeper from which the image comes may be gone, and the other one has an image too.
void HostedThread::look_at_fetch(Time now, Fetching& fetching, Actions& out) {
  fetching.since = now;
  if (std::exchange(fetching.progress, environment_.images.progress()) < environment_.images.progress()) return;
  GW_REACHED("host: an image does not come, and both keepers are asked again");
  environment_.fetches.cancel({environment_.job, id_}, out);
  source_.reset();
  stage_ = Asking{.resend_at = now, .since = now};
  ask_image(now, out);
}

// Another keeper has answered too. If it has the same it stays on record, and need not be filled.
void HostedThread::compare(const PeerId& from, const JobMessage::ImageIs& image) {
  if (!source_ || *source_ == from || running() != nullptr || assigned_keepers_.size() > 2) return;
  JobMessage::ImageIs other = image;
  other.set_keeper_generation(0);
  if (other.SerializeAsString() != taken_.SerializeAsString()) return;
  GW_REACHED("host: both keepers of a thread have the same");
  source_.reset();
}

Status HostedThread::take(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out) {
  taken_ = image;
  taken_.set_keeper_generation(0);
  std::deque<Determinant> determinants(image.determinants().begin(), image.determinants().end());
  if (GW_BUG(7)) determinants.clear();
  if (image.image_root().empty()) {
    stage_ = Queued{.from = {.image = std::nullopt, .determinants = std::move(determinants)}};
    return ok();
  }
  GW_TRY_VOID(environment_.fetches.begin(now, {environment_.job, id_}, wire::hash_of(image.image_root()), from, out));
  stage_ = Fetching{
      .determinants = std::move(determinants), .in_image = image.in_image(), .since = now, .progress = environment_.images.progress()};
  return ok();
}

void HostedThread::on_fetched(const Hash256& root) {
  auto& fetching = std::get<Fetching>(stage_);
  Queued queued{.from = {.image = SavedImage{.root = root, .determinants = fetching.in_image, .size = fetching.size},
                         .determinants = std::move(fetching.determinants)}};
  stage_ = std::move(queued);
}

void HostedThread::start(Time now, const std::optional<wire::pb::ThreadConfig>& config, Actions& out) {
  ImageReplicator::Restored from = std::move(std::get<Queued>(stage_).from);
  ToWorker frame;
  std::vector<Attachment> beside;
  const wire::pb::Manifest::Module* const first_image = from.image ? nullptr : environment_.code.manifest()->image();
  if (from.image || first_image != nullptr) {
    GW_REACHED("host: a thread goes on from an image");
    ToWorker::Restore& restore = *frame.mutable_restore();
    restore.set_thread(id_.value());
    restore.set_epoch(epoch_);
    wire::write(stored_before_, *restore.mutable_stored());
    for (const Determinant& determinant : from.determinants) *restore.add_determinants() = determinant;
    restore.set_begins(first_image != nullptr);
    if (first_image != nullptr) {
      beside.push_back({.blobs = environment_.code.manifest()->image_chunks(), .whole = wire::hash_of(first_image->hash())});
    } else {
      beside.push_back({.form = Attachment::Form::image,
                        .blobs = {from.image->root},
                        .gate = {id_.value(), epoch_, from.image->determinants, stored_before_}});
    }
  } else {
    GW_REACHED("host: a thread starts from the beginning");
    ToWorker::Start& start = *frame.mutable_start();
    start.set_thread(id_.value());
    start.set_epoch(epoch_);
    wire::write(stored_before_, *start.mutable_stored());
    for (const Determinant& determinant : from.determinants) *start.add_determinants() = determinant;
    beside.push_back({.form = Attachment::Form::given, .bytes = config->SerializeAsString()});
  }
  run(now, std::move(from), out);
  environment_.code.tell(std::move(frame), std::move(beside), out);
  if (waits_for_image()) maybe_checkpoint(now, out);
}

void HostedThread::adopt(Time now, Actions& out) {
  run(now, {}, out);
  ToWorker frame;
  frame.mutable_adopt()->set_thread(id_.value());
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedThread::run(Time now, ImageReplicator::Restored from, Actions& out) {
  taken_.Clear();
  const bool restored = from.image.has_value();
  stage_.emplace<Running>(Running{.restored = restored,
                                  .effects = EffectForwarder({.retry = environment_.config.retry}, stored_before_),
                                  .images = replicator(std::move(from))});
  running()->images.set_stored(now, wire::mark_of(stored_before_, kLogStream), out);
  plan_checkpoint(now);
}

// --- effects

Status HostedThread::add_effect(const Effect& effect) {
  const Running& run = *running();
  // The worker may send a spawn after the last image if it has not forgotten the thread yet.
  if (effect.has_spawn() && run.last_spawns && effect.sequence() >= run.last_spawns->first &&
      effect.sequence() <= run.effects.last(kLogStream))
    return ok();
  if (effect.has_spawn() && effect.sequence() > run.effects.stored(kLogStream) && !run.images.spawned(effect.sequence()))
    return fail(Kind::guest_fault, "there is no image of the child that it spawned by effect {}", effect.sequence());
  return running()->effects.add(effect);
}

// The worker forgets the thread with its last image, and with it the spawns that wait in its gate for determinants to become stable. That
// image may be kept only after them, so the host, which knows all that they consist of, sends them in place of the worker.
Status HostedThread::add_last_spawns(const NewImage& last) {
  Running& run = *running();
  const std::uint64_t first = run.effects.last(kLogStream) + 1;
  if (last.last_spawn < first) return ok();
  GW_REACHED("host: a thread was suspended before its spawns could leave");
  run.last_spawns = {.first = first, .determinants = last.determinants};
  for (std::uint64_t spawn = first; spawn <= last.last_spawn; ++spawn) {
    Effect effect;
    effect.set_thread(id_.value());
    effect.set_epoch(epoch_);
    effect.set_sequence(spawn);
    effect.mutable_spawn()->set_child(child_of(id_, spawn).value());
    if (const auto image = run.images.spawned(spawn)) effect.mutable_spawn()->set_image(wire::bytes_of(*image));
    wire::set_stream(effect);
    GW_TRY_VOID(add_effect(effect));
  }
  return ok();
}

// Home may hear of a child only when its keeper has it, and when a replay of the parent would spawn it again.
bool HostedThread::may_spawn(std::uint64_t spawn) const {
  const Running& run = *running();
  const bool repeated =
      !run.last_spawns || spawn < run.last_spawns->first || run.images.stable_determinants() >= run.last_spawns->determinants;
  return repeated && run.images.may_spawn(spawn);
}

// A message leaves after the spawns before it: its receiver may be one of the children.
bool HostedThread::may_leave(const Effect& effect) {
  if (effect.has_message()) return effect.message().spawns() <= running()->effects.stored(kLogStream);
  if (effect.has_watch()) return effect.watch().spawns() <= running()->effects.stored(kLogStream);
  if (!effect.has_spawn() || may_spawn(effect.sequence())) return true;
  running()->held_spawn = effect.sequence();
  return false;
}

// Called after every message of keepers or home about keepers. Effects that were sent before are not sent again: they have their own resend
// time.
void HostedThread::send_held_spawn(Time now, Actions& out) {
  if (running()->held_spawn && may_spawn(*running()->held_spawn)) send_effects(now, out);
}

void HostedThread::send_effects(Time now, Actions& out) {
  running()->held_spawn.reset();
  send(running()->effects.take(now, [&](const Effect& effect) { return may_leave(effect); }), out);
}

void HostedThread::send(JobMessage::Effects effects, Actions& out) const {
  if (effects.effects().empty()) return;
  effects.set_thread(id_.value());
  effects.set_epoch(epoch_);
  effects.set_status(environment_.status);
  effects.set_start_state(start_state());
  effects.set_determinants(running()->images.stable_determinants());
  if (source_) effects.set_restored_from(source_->bytes());
  JobMessage message;
  *message.mutable_effects() = std::move(effects);
  out.send(environment_.home, environment_.job, std::move(message));
}

bool HostedThread::on_stored(Time now, const StreamMarks& marks, Actions& out) {
  if (running() == nullptr) return false;
  Running& run = *running();
  const std::optional<EffectForwarder::Stored> stored = run.effects.on_stored(now, marks);
  if (!stored) return false;
  run.images.set_stored(now, run.effects.stored(kLogStream), out);
  ToWorker frame;
  frame.mutable_stored()->set_thread(id_.value());
  wire::write(stored->streams, *frame.mutable_stored()->mutable_streams());
  environment_.code.tell(std::move(frame), {}, out);
  if (stored->ended) return true;
  send_effects(now, out);
  run.images.sync(now, out);
  maybe_suspended(now, out);
  return false;
}

// --- images and determinants

Status HostedThread::on_image(Time now, const NewImage& image, FromWorker::Image::Why why, Actions& out) {
  Running& run = *running();
  run.checkpointing = false;
  if (why == FromWorker::Image::SUSPENDED) GW_TRY_VOID(add_last_spawns(image));
  GW_TRY(const SavedImage saved, hold(environment_.images, environment_.job, image, out));
  if (why == FromWorker::Image::SUSPENDED) {
    GW_REACHED("host: a thread was suspended");
    run.suspension = Suspension::saved;
    run.leave_by = now + environment_.config.keeper_patience;
    run.wanted_input.reset();
    run.wanted_mail.reset();
    run.waits_for_mail = false;
  }
  const bool beginning = !run.restored && !run.images.has_stable() && !run.images.has_initial() && run.suspension != Suspension::saved;
  if (beginning) {
    run.images.set_initial(saved, out);
    run.images.sync(now, out);
  } else {
    tell_progress(run.images.add_image(now, saved, out), out);
    if (run.last_spawns) send_effects(now, out);
    maybe_suspended(now, out);
  }
  return ok();
}

Status HostedThread::on_spawned(Time now, const NewImage& image, std::uint64_t spawn, Actions& out) {
  if (image.thread != child_of(id_, spawn))
    return fail(Kind::invalid, "the worker sent an image of thread {} as the child of spawn {} of {}", image.thread.value(), spawn,
                id_.value());
  GW_REACHED("host: a thread was spawned");
  GW_TRY(const SavedImage next_leaves_pages_to_it, hold(environment_.images, environment_.job, image, out));
  Result<SavedImage> saved = hold(environment_.images, environment_.job, image, out);
  if (!saved) {
    environment_.images.release({environment_.job, image.root}, out);
    return saved.error();
  }
  return running()->images.add_spawned(now, spawn, {next_leaves_pages_to_it, *saved}, out);
}

void HostedThread::on_image_stored(Time now, Actions& out) {
  if (running() != nullptr) running()->images.sync(now, out);
}

Status HostedThread::on_determinants(Time now, const FromWorker::Determinants& frame, Actions& out) {
  Running& run = *running();
  for (const Determinant& determinant : frame.determinants()) GW_TRY_VOID(run.images.add_determinant(determinant));
  run.images.sync(now, out);
  maybe_checkpoint(now, out);
  return ok();
}

// The gate of the thread records nothing more before an image is stable.
bool HostedThread::waits_for_image() const { return running()->images.log().size() >= environment_.config.determinants; }

bool HostedThread::exhausted() const { return running() != nullptr && running()->cannot_checkpoint && waits_for_image() && !GW_BUG(55); }

void HostedThread::tell_progress(const ImageReplicator::Progress& progress, Actions& out) const {
  if (progress.image) {
    ToWorker frame;
    frame.mutable_image_stable()->set_thread(id_.value());
    frame.mutable_image_stable()->set_image(wire::bytes_of(*progress.image));
    environment_.code.tell(std::move(frame), {}, out);
  }
  if (!progress.determinants) return;
  ToWorker frame;
  frame.mutable_determinants_stable()->set_thread(id_.value());
  frame.mutable_determinants_stable()->set_count(*progress.determinants);
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedThread::on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out) {
  if (running() == nullptr) return;
  tell_progress(running()->images.on_kept(now, from, kept, out), out);
  send_held_spawn(now, out);
  maybe_checkpoint(now, out);
  maybe_suspended(now, out);
}

void HostedThread::on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out) {
  if (running() == nullptr) return;
  source_.reset();
  tell_progress(running()->images.on_keeper_change(now, change, out), out);
  send_held_spawn(now, out);
  maybe_checkpoint(now, out);
  maybe_suspended(now, out);
}

void HostedThread::plan_checkpoint(Time now) {
  const Time every(static_cast<std::int64_t>(environment_.code.manifest()->content().policy().checkpoint_every_ns()));
  running()->checkpoint_at = every > Time(0) ? now + every : kNever;
}

void HostedThread::maybe_checkpoint(Time now, Actions& out) {
  Running& run = *running();
  const Config& config = environment_.config;
  const bool due = now >= run.checkpoint_at || run.images.log().size() > config.checkpoint_determinants || waits_for_image() ||
                   run.input_bytes > config.checkpoint_input;
  if (!due || run.checkpointing || run.images.busy() || run.cannot_checkpoint || run.suspension != Suspension::none) return;
  if (environment_.images.disk_full()) {
    run.checkpoint_at = now + config.retry;  // the thread may wait for this image, and then nothing else causes a checkpoint
    return;
  }
  run.checkpointing = true;
  run.input_bytes = 0;
  plan_checkpoint(now);
  ToWorker frame;
  frame.mutable_checkpoint()->set_thread(id_.value());
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedThread::on_save_failed(Time now, bool never) {
  if (running() == nullptr) return;
  running()->checkpointing = false;
  if (running()->suspension == Suspension::asked) running()->suspension = Suspension::none;  // until the next request
  if (waits_for_image()) running()->checkpoint_at = now + environment_.config.retry;
  if (!never) return;
  running()->cannot_checkpoint = true;
  running()->checkpoint_at = kNever;
}

// --- suspension

void HostedThread::suspend(Actions& out) {
  Running& run = *running();
  if (run.suspension != Suspension::none) return;
  run.suspension = Suspension::asked;
  ToWorker frame;
  frame.mutable_suspend()->set_thread(id_.value());
  environment_.code.tell(std::move(frame), {}, out);
}

bool HostedThread::is_suspended() const {
  const Running* run = running();
  return run != nullptr && run->suspension == Suspension::saved && run->images.settled() && run->effects.empty();
}

// Repeats the report until home drops the thread, which goes on from that image, somewhere else or later.
void HostedThread::maybe_suspended(Time now, Actions& out) {
  if (!is_suspended() || now < running()->suspended_at) return;
  running()->suspended_at = now + environment_.config.retry;
  JobMessage message;
  message.mutable_suspended()->set_thread(id_.value());
  message.mutable_suspended()->set_epoch(epoch_);
  if (source_) message.mutable_suspended()->set_restored_from(source_->bytes());
  out.send(environment_.home, environment_.job, std::move(message));
}

// --- standard input: home has it

void HostedThread::on_want_input(Time now, std::uint64_t piece, Actions& out) {
  const Manifest& manifest = *environment_.code.manifest();
  const bool reads = manifest.content().standard_input() && id_ == manifest.thread_of(0);
  if (!reads) return give_input(piece, "", out);
  running()->wanted_input = piece;
  ask_input(now, out);
}

void HostedThread::ask_input(Time now, Actions& out) {
  Running& run = *running();
  run.ask_input_at = now + environment_.config.retry;
  JobMessage message;
  JobMessage::WantInput& want = *message.mutable_want_input();
  want.set_thread(id_.value());
  want.set_epoch(epoch_);
  want.set_piece(*run.wanted_input);
  want.set_in_image(run.images.has_stable() ? run.images.stable()->input_pieces : 0);
  out.send(environment_.home, environment_.job, std::move(message));
}

void HostedThread::on_input(Time now, const JobMessage::Input& input, Actions& out) {
  if (running() == nullptr || running()->wanted_input != input.piece()) return;
  running()->wanted_input.reset();
  running()->input_bytes += input.bytes().size();
  give_input(input.piece(), input.bytes(), out);
  maybe_checkpoint(now, out);
}

void HostedThread::give_input(std::uint64_t piece, const std::string& bytes, Actions& out) const {
  ToWorker frame;
  frame.mutable_input()->set_thread(id_.value());
  frame.mutable_input()->set_piece(piece);
  frame.mutable_input()->set_bytes(bytes);
  frame.mutable_input()->set_end(bytes.empty());
  environment_.code.tell(std::move(frame), {}, out);
}

// --- messages: home has the mailbox

void HostedThread::on_want_mail(Time now, const FromWorker::WantMail& want, Actions& out) {
  Running& run = *running();
  run.wanted_mail = want.next();
  run.waits_for_mail = want.waits();
  ask_mail(now, out);
}

void HostedThread::ask_mail(Time now, Actions& out) {
  Running& run = *running();
  run.ask_mail_at = now + environment_.config.retry;
  JobMessage message;
  JobMessage::WantMail& want = *message.mutable_want_mail();
  want.set_thread(id_.value());
  want.set_epoch(epoch_);
  want.set_next(*run.wanted_mail);
  want.set_in_image(run.images.has_stable() ? run.images.stable()->mail : 0);
  want.set_waits(run.waits_for_mail);
  out.send(environment_.home, environment_.job, std::move(message));
}

void HostedThread::on_mails(Time now, const JobMessage::Mails& mails, Actions& out) {
  constexpr std::size_t kBytesBeside = 256;  // a message without bytes counts too: a checkpoint after 65,536 of them
  if (running() == nullptr || running()->wanted_mail != mails.first()) return;
  Running& run = *running();
  run.wanted_mail.reset();
  run.waits_for_mail = false;
  ToWorker frame;
  frame.mutable_mails()->set_thread(id_.value());
  frame.mutable_mails()->set_first(mails.first());
  *frame.mutable_mails()->mutable_mails() = mails.mails();
  for (const wire::pb::Mail& mail : mails.mails()) run.input_bytes += mail.bytes().size() + kBytesBeside;
  environment_.code.tell(std::move(frame), {}, out);
  maybe_checkpoint(now, out);
}

}  // namespace gw::job
