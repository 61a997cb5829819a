#include "node/embedded/embedded_peer.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "job/authority/manifest.h"
#include "node/embedded/gate_state.h"
#include "node/worker/attachment.h"
#include "os/clock.h"
#include "os/files/file.h"
#include "wire/messages/worker_frames.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::node {
namespace {

using job::kMainThread;
using job::ThreadId;
using wire::pb::FromWorker;
using wire::pb::ToWorker;

// The eventfd counts requests: suspensions in the lower half, stops in the upper.
constexpr std::uint64_t kSuspendRequest = 1;
constexpr std::uint64_t kStopRequest = 1ull << 32;
// A deadline that has passed comes soon, not at once: nothing here may keep the loop busy by itself.
constexpr job::Time kSoonestDeadline = std::chrono::milliseconds(1);
// How long a suspended program waits for a terminal or pipe that takes no more output.
constexpr std::chrono::seconds kDrainPatience{2};

template <class Mounts>
std::vector<Mount> mounts_of(const Mounts& mounts) {
  std::vector<Mount> out;
  for (const wire::pb::JobSpec::Mount& mount : mounts) out.push_back({mount.host(), mount.guest()});
  return out;
}

// Output files that a killed command has left half written are written again by the one that continues.
std::string tag_of(const std::filesystem::path& file) {
  return sha256(as_bytes(std::filesystem::absolute(file).lexically_normal().string())).hex().substr(0, 16);
}

Result<bool> can_fork(ByteView module) {
  GW_TRY(const std::vector<wire::Import> imports, wire::read_imports(module));
  return std::ranges::any_of(imports, [](const wire::Import& import) { return import.module == "godwit" && import.name == "fork"; });
}

}  // namespace

EmbeddedPeer::EmbeddedPeer(const Config& config, wire::pb::JobSpec spec, Bytes module, std::optional<wire::Image> image,
                           isolate::CodeKind code)
    : config_(config),
      spec_(std::move(spec)),
      module_(std::move(module)),
      image_(std::move(image)),
      loop_(*this),
      workers_({loop_, config.code, *this}, {.process = {.program = config.worker, .limits = {}}, .spares = 1, .code_kind = code}),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      input_(config.input),
      writer_({config.output, config.errors}, config.observer) {
  (void)workers_.refill();  // starts while the inputs are hashed; a failure is reported when the worker is needed
  for (const ByteView file : {ByteView(module_), image_ ? image_->encoded() : ByteView()})
    for (const ByteView piece : job::Manifest::pieces_of(file)) pieces_[sha256(piece)] = piece;
}

void EmbeddedPeer::use(std::unique_ptr<JobFile> file) {
  file_ = file.get();
  store_ = std::move(file);
}

MemoryStore& EmbeddedPeer::use_memory() {
  auto memory = std::make_unique<MemoryStore>();
  memory_ = memory.get();
  store_ = std::move(memory);
  return *memory_;
}

Result<std::string> EmbeddedPeer::load(const Hash256& hash) {
  const auto piece = pieces_.find(hash);
  return piece == pieces_.end() ? store_->load(hash) : std::string(as_text(piece->second));
}

Result<SharedBytes> EmbeddedPeer::view(const Hash256& hash) {
  const auto piece = pieces_.find(hash);
  return piece == pieces_.end() ? store_->view(hash) : SharedBytes(piece->second, nullptr);  // of a file that this object has
}

EmbeddedPeer::~EmbeddedPeer() = default;

// --- beginnings

Result<std::unique_ptr<EmbeddedPeer>> EmbeddedPeer::start(const Config& config, wire::pb::JobSpec spec, Bytes module,
                                                          const std::optional<std::filesystem::path>& file) {
  std::unique_ptr<EmbeddedPeer> peer(new EmbeddedPeer(config, std::move(spec), std::move(module), std::nullopt, isolate::CodeKind::start));
  GW_TRY_VOID(peer->open_files(Program::starts, file ? tag_of(*file) : ""));
  GW_TRY_VOID(peer->open_input(0));
  std::uint64_t boot = 1;
  if (file) {
    GW_TRY(auto made, JobFile::create(*file, peer->spec_, peer->module_));
    GW_TRY(boot, made->raise_boot());
    peer->use(std::move(made));
  } else {
    peer->use_memory();
  }
  GW_TRY_VOID(peer->start_peer(boot));
  GW_TRY_VOID(peer->submit());
  return peer;
}

Result<std::unique_ptr<EmbeddedPeer>> EmbeddedPeer::resume(const Config& config, wire::Image image, wire::pb::JobSpec spec) {
  Bytes module(image.content().module_wasm.begin(), image.content().module_wasm.end());
  if (module.empty()) return fail(Kind::invalid, "the image does not contain its program: save it with the module");
  GW_TRY(const wire::pb::GateState gate, gate_of(image));
  GW_TRY(image, image_for_new_job(image, spec));
  std::unique_ptr<EmbeddedPeer> peer(
      new EmbeddedPeer(config, std::move(spec), std::move(module), std::move(image), isolate::CodeKind::restore));
  GW_TRY_VOID(peer->open_files(Program::continues, ""));
  GW_TRY_VOID(peer->open_input(gate.input_bytes()));
  peer->use_memory();
  GW_TRY_VOID(peer->start_peer(1));
  GW_TRY_VOID(peer->submit());
  return peer;
}

Result<std::unique_ptr<EmbeddedPeer>> EmbeddedPeer::recover(const Config& config, std::unique_ptr<JobFile> file, wire::pb::JobSpec spec) {
  std::unique_ptr<EmbeddedPeer> peer(new EmbeddedPeer(config, std::move(spec), file->module(), std::nullopt, isolate::CodeKind::restore));
  peer->use(std::move(file));
  GW_TRY_VOID(peer->open_files(Program::continues, tag_of(peer->file_->path())));
  GW_TRY(const std::uint64_t taken, peer->file_->input_taken());
  GW_TRY_VOID(peer->open_input(taken));
  GW_TRY_VOID(peer->take_old_effects());
  GW_TRY(const std::uint64_t boot, peer->file_->raise_boot());
  GW_TRY_VOID(peer->start_peer(boot));
  // The earlier process was killed before it had recorded the job: submit it again.
  if (peer->peer_->homes().empty() && !peer->over_) GW_TRY_VOID(peer->submit());
  GW_TRY_VOID(peer->continue_suspended());
  return peer;
}

Status EmbeddedPeer::open_files(Program program, const std::string& output_tag) {
  if (!config_.input_file.empty()) spec_.set_input_file(config_.input_file.string());
  GW_TRY(inputs_, InputFiles::scan(mounts_of(spec_.inputs())));
  outputs_.emplace(mounts_of(spec_.outputs()), output_tag);
  const std::string digest = digest_of_inputs(inputs_->entries());
  // An image of a program that never had inputs may come without a digest.
  const bool same = spec_.inputs_digest() == digest || (spec_.inputs_digest().empty() && inputs_->entries().empty());
  if (program == Program::continues && !same) return inputs_changed();
  spec_.set_inputs_digest(digest);
  spec_.mutable_config()->clear_inputs();
  for (const wire::pb::InputEntry& entry : inputs_->entries()) *spec_.mutable_config()->add_inputs() = entry;
  if (config_.suspend_after) suspend_at_ = os::monotonic_now() + *config_.suspend_after;
  return ok();
}

// Reads on behind the bytes that were taken: the read position of a killed process is lost.
Status EmbeddedPeer::open_input(std::uint64_t taken) {
  input_taken_ = taken;
  return spec_.input_file().empty() ? ok() : input_.open(spec_.input_file(), taken);
}

Status EmbeddedPeer::start_peer(std::uint64_t boot) {
  GW_TRY(const bool forks, can_fork(module_));
  keeps_images_ = file_ != nullptr || forks;
  const peer::Peer::Identity identity{
      .self = signer_.self(), .key = signer_.key().public_key(), .boot = boot, .wall_offset = os::wall_now() - os::monotonic_now()};
  peer_ = std::make_unique<peer::Peer>(embedded_config(file_ != nullptr ? Survival::file : Survival::none), identity, signer_,
                                       Rng(random_number()));
  GW_TRY(const peer::Stored stored, store_->stored());
  Status started = ok();
  turn([&](job::Time now, Actions& out) { started = peer_->start(now, stored, out); });
  GW_TRY_VOID(started);
  // A peer repairs damaged records by dropping them. The job file may be the only copy, so nothing is written: it stays as it was found.
  if (failure_) return *failure_;
  if (!peer_->homes().empty()) job_ = peer_->homes().begin()->first;
  over_ = peer_->homes().empty() && main_end_.has_value();
  return store_and_answer();
}

Status EmbeddedPeer::submit() {
  for (const auto& [hash, piece] : pieces_)
    turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Upload{{hash, ""}}, out); });  // the piece is here already
  GW_TRY_VOID(store_and_answer());
  const EmbeddedJob made = make_embedded_job(spec_, {module_, image_ ? image_->encoded() : ByteView()}, signer_);
  job_ = made.id;
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::Submit{made.signed_charter, made.manifest}, out); });
  return store_and_answer();
}

// Takes the effects in the file that earlier runs have stored and not shown: output files that were not placed, unread output, the end.
Status EmbeddedPeer::take_old_effects() {
  GW_TRY(const auto unshown, file_->take_unshown());
  return file_->visit_effects([&](const job::Effect& effect) -> Status {
    if (effect.has_file()) return outputs_->take(effect.file());
    if (effect.has_spawn()) ++result_.threads;
    if (effect.has_end()) note_end(effect);
    if (auto rest = rest_to_show(effect, unshown)) writer_.add(*std::move(rest));
    return ok();
  });
}

// A job file that was closed in order has a suspended job, which is resumed here. After a kill the job is not suspended, and the peer
// refuses the request without effect.
Status EmbeddedPeer::continue_suspended() {
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::ResumeJob{job_}, out); });
  return store_and_answer();
}

// --- turns

template <class Input>
void EmbeddedPeer::turn(const Input& input) {
  Actions actions;
  input(os::monotonic_now(), actions);
  for (job::Action& action : actions) act(action);
}

void EmbeddedPeer::act(job::Action& action) {
  if (auto* notify = std::get_if<job::Notify>(&action)) return on_event(std::move(notify->event));
  if (auto* frame = std::get_if<job::FrameToWorker>(&action)) return pass_on(std::move(*frame));
  if (const auto* start = std::get_if<job::StartWorker>(&action)) {
    worker_ = start->worker;
    return workers_.start(*start, {});
  }
  if (const auto* kill = std::get_if<job::KillWorker>(&action)) {
    if (!kill->broken_rule.empty()) fail_with(fail(Kind::internal, "{}", kill->broken_rule));
    return workers_.kill(kill->worker);
  }
  if (const auto* load = std::get_if<job::LoadBlob>(&action)) return loads_.push_back(load->hash);
  if (auto* persist = std::get_if<job::Persist>(&action)) disk_.emplace_back(std::move(*persist));
  if (auto* drop = std::get_if<job::DropRecords>(&action)) disk_.emplace_back(std::move(*drop));
  if (auto* store = std::get_if<job::StoreBlob>(&action)) {
    if (pieces_.contains(store->hash)) return pieces_here_.push_back(store->hash);
    disk_.emplace_back(std::move(*store));
  }
  if (auto* drop = std::get_if<job::DropBlob>(&action)) disk_.emplace_back(*drop);
  if (auto* retain = std::get_if<job::RetainBlobs>(&action)) disk_.emplace_back(std::move(*retain));
  // All other actions concern other peers, of which there are none.
}

// Makes one commit for all turns since the last one and tells the peer, whose answer may need another commit.
Status EmbeddedPeer::store_and_answer() {
  while (!(disk_.empty() && loads_.empty() && pieces_here_.empty()) && !held_up()) {
    const std::vector<DiskAction> actions = std::exchange(disk_, {});
    GW_TRY_VOID(store_->commit(actions));
    for (const Hash256& hash : std::exchange(pieces_here_, {}))
      turn([&](job::Time now, Actions& out) { peer_->on_disk(now, peer::BlobStored{hash}, out); });
    std::optional<job::Ticket> persisted;
    for (const DiskAction& action : actions) {
      if (const auto* persist = std::get_if<job::Persist>(&action)) persisted = persist->ticket;
      if (const auto* blob = std::get_if<job::StoreBlob>(&action))
        turn([&](job::Time now, Actions& out) { peer_->on_disk(now, peer::BlobStored{blob->hash}, out); });
    }
    if (persisted) turn([&](job::Time now, Actions& out) { peer_->on_disk(now, peer::Persisted{*persisted}, out); });
    for (const Hash256& hash : std::exchange(loads_, {})) {
      auto bytes = load(hash);
      if (!bytes) fail_with(bytes.error());
      turn([&](job::Time now, Actions& out) {
        peer_->on_disk(now, peer::BlobLoaded{hash, bytes ? std::optional(*bytes) : std::nullopt}, out);
      });
    }
  }
  return ok();
}

// While a terminal takes no more output, effects are not acknowledged, so that the gate of the program fills up and the program waits.
bool EmbeddedPeer::held_up() const { return writer_.waiting_bytes() > kMaxUnshown && suspend_ == Suspend::no; }

void EmbeddedPeer::fail_with(Error error) {
  if (!failure_) failure_ = std::move(error);
}

void EmbeddedPeer::on_event(job::Event event) {
  if (auto* stored = std::get_if<job::EffectStored>(&event)) return on_effect(std::move(stored->effect));
  if (const auto* wanted = std::get_if<job::InputWanted>(&event)) wanted_piece_ = wanted->piece;
  if (std::holds_alternative<job::JobOver>(event)) over_ = true;
  if (std::holds_alternative<job::JobSuspended>(event)) suspend_ = Suspend::reached;
  if (const auto* failed = std::get_if<job::ThreadFailed>(&event)) fail_with(fail(Kind::guest_fault, "{}", failed->sentence));
  if (const auto* refused = std::get_if<job::BlobRefused>(&event)) fail_with(refused->error);
  if (const auto* refused = std::get_if<job::JobRefused>(&event)) fail_with(refused->error);
  if (const auto* refused = std::get_if<job::InputRefused>(&event)) fail_with(refused->error);
  if (const auto* damaged = std::get_if<job::RecordsDamaged>(&event)) fail_with(fail(Kind::corrupt, "{}", damaged->sentence));
}

void EmbeddedPeer::on_effect(job::Effect effect) {
  if (effect.has_file())
    if (Status taken = outputs_->take(effect.file()); !taken) fail_with(taken.error());
  if (effect.has_spawn()) {
    ++result_.threads;
    config_.observer.on_forked(ThreadId{effect.thread()}, ThreadId{effect.spawn().child()});
  }
  if (effect.has_end()) note_end(effect);
  writer_.add(std::move(effect));
}

void EmbeddedPeer::note_end(const job::Effect& effect) {
  if (ThreadId{effect.thread()} == kMainThread) {
    main_end_ = effect;
  } else if (effect.end().reason() != job::Effect::End::EXITED || effect.end().exit_code() != 0) {
    ++failed_children_;
  }
}

// --- between the peer and the worker

void EmbeddedPeer::pass_on(job::FrameToWorker frame) {
  ToWorker& to = frame.frame;
  if (to.has_load()) {
    to.mutable_load()->set_pool_threads(1);
    to.mutable_load()->set_keep_images(keeps_images_);
    to.mutable_load()->set_never_replayed(file_ == nullptr);
  }
  if (to.has_start()) {
    to.mutable_start()->set_job(job_spec_for_image(spec_));
    frame.beside.front().bytes = spec_.config().SerializeAsString();
    if (config_.suspend_after_polls) to.mutable_start()->set_stop_after_polls(*config_.suspend_after_polls);
  }
  const bool restores_main = to.has_restore() && ThreadId{to.restore().thread()} == kMainThread;
  if (restores_main && config_.suspend_after_polls) to.mutable_restore()->set_stop_after_polls(*config_.suspend_after_polls);
  if (to.has_image_stable() && ThreadId{to.image_stable().thread()} == kMainThread && file_ != nullptr)
    config_.observer.on_checkpoint({++result_.checkpoints, store_->file_bytes()});
  begun_ = begun_ || to.has_start() || to.has_restore();
  workers_.send(std::move(frame));
}

void EmbeddedPeer::on_worker(job::WorkerId worker, peer::WorkerFrame frame) {
  if (!intercept_frame(worker, frame)) return;
  // The program has stopped by itself, at a poll. Home must know of the suspension before it gets the image: otherwise it would place the
  // thread again.
  if (frame.frame.has_image() && frame.frame.image().why() == FromWorker::Image::SUSPENDED) begin_suspend();
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, worker, std::move(frame), out); });
}

bool EmbeddedPeer::intercept_frame(job::WorkerId worker, const peer::WorkerFrame& received) {
  const FromWorker& frame = received.frame;
  switch (frame.kind_case()) {
    case FromWorker::kLoaded:
      config_.observer.on_started();
      return true;
    case FromWorker::kStopped:
      result_.cpu_time += std::chrono::nanoseconds(frame.stopped().cpu_time_ns());
      return true;
    case FromWorker::kWantChunk:
      give_chunk(worker, frame.want_chunk().hash());
      return false;
    case FromWorker::kFailed:
      // A failed checkpoint does no harm: the image before it counts. A failed suspension is an error for the user.
      if (frame.failed().thread() != 0 && !frame.failed().gone() && suspend_ == Suspend::no) return true;
      fail_with(fail(frame.failed().guest_fault() ? Kind::guest_fault : Kind::internal, "{}", frame.failed().error()));
      return false;
    default:
      return true;
  }
}

void EmbeddedPeer::give_chunk(job::WorkerId worker, const std::string& hash) {
  job::FrameToWorker answer{worker, {}, {}};
  ToWorker::Chunk& chunk = *answer.frame.mutable_chunk();
  chunk.set_hash(hash);
  if (auto bytes = inputs_->read_chunk(wire::hash_of(hash))) {
    chunk.set_bytes(std::string(as_text(*bytes)));
  } else {
    chunk.set_error(bytes.error().detail);
  }
  workers_.send(std::move(answer));
}

void EmbeddedPeer::on_restore_failed(job::WorkerId, const peer::RestoreFailed& failed) { fail_with(fail(Kind::corrupt, "{}", failed.why)); }

void EmbeddedPeer::on_worker_lost(job::WorkerId, const Death& death) {
  const bool guest = death.cause == DeathCause::guest_fault || death.cause == DeathCause::limit || death.cause == DeathCause::broke_rules;
  worker_lost_ = fail(guest ? Kind::guest_fault : Kind::internal, "{}", death.sentence);
}

// --- the loop

Result<JobOutcome> EmbeddedPeer::run() {
  GW_TRY_VOID(finish_turns());
  while (!finished()) GW_TRY_VOID(wait_and_handle());
  workers_.end_all();
  return outcome();
}

bool EmbeddedPeer::finished() const {
  if (stopped_) return true;
  if (over_) return writer_.empty();
  return suspend_ == Suspend::reached && (writer_.empty() || (drain_by_ && os::monotonic_now() >= *drain_by_));
}

job::Time EmbeddedPeer::next_deadline() const {
  job::Time next = std::min(peer_->next_deadline(), workers_.next_deadline());
  for (const auto& deadline : {suspend_at_, drain_by_})
    if (deadline) next = std::min(next, *deadline);
  return std::max(next, os::monotonic_now() + kSoonestDeadline);
}

Status EmbeddedPeer::wait_and_handle() {
  // A program that is to be suspended gets no more input: pieces read from now on would come too late for the image, and be lost.
  const bool wants_input = wanted_piece_ && suspend_ == Suspend::no;
  std::vector<pollfd> others{
      {wake_.get(), POLLIN, 0}, {wants_input ? input_.descriptor() : -1, POLLIN, 0}, {writer_.blocked_on(), POLLOUT, 0}};
  GW_TRY_VOID(loop_.wait(others, next_deadline()));
  if (others[0].revents != 0) handle_requests();
  if (others[1].revents != 0) read_input();
  const job::Time now = os::monotonic_now();
  if ((suspend_at_ && now >= *suspend_at_) || (suspend_ == Suspend::wanted && begun_)) begin_suspend();
  workers_.on_deadline(now);
  if (now >= peer_->next_deadline()) turn([&](job::Time at, Actions& out) { peer_->on_tick(at, out); });
  return finish_turns();
}

// Output is shown only after everything that came in is durable.
Status EmbeddedPeer::finish_turns() {
  GW_TRY_VOID(store_and_answer());
  if (main_end_ && !std::exchange(outputs_placed_, true)) GW_TRY_VOID(outputs_->place());
  GW_TRY_VOID(writer_.advance());
  if (writer_.broken()) result_.output_lost = true;
  if (suspend_ == Suspend::reached && !drain_by_) drain_by_ = os::monotonic_now() + kDrainPatience;
  if (failure_) return *failure_;
  if (worker_lost_ && !finished()) return *worker_lost_;  // frames that the worker sent before it died count
  return ok();
}

void EmbeddedPeer::handle_requests() {
  std::uint64_t requests = 0;
  if (::read(wake_.get(), &requests, sizeof requests) != sizeof requests) return;
  if (requests >= kStopRequest) {
    stopped_ = true;
  } else {
    begin_suspend();
  }
}

void EmbeddedPeer::read_input() {
  auto bytes = input_.read(wire::kMaxInputPiece);
  if (!bytes) return;
  const std::uint64_t piece = *std::exchange(wanted_piece_, std::nullopt);
  input_taken_ += bytes->size();
  last_input_ = {piece, *bytes};
  disk_.emplace_back(InputTaken{input_taken_});
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::SupplyInput{job_, piece, *std::move(bytes)}, out); });
}

void EmbeddedPeer::request_suspend() {
  const std::uint64_t request = kSuspendRequest;
  (void)!::write(wake_.get(), &request, sizeof request);
}

void EmbeddedPeer::request_stop() {
  const std::uint64_t request = kStopRequest;
  (void)!::write(wake_.get(), &request, sizeof request);
}

// --- suspension

// The suspension begins only after a thread has begun: a thread that never ran has no image.
void EmbeddedPeer::begin_suspend() {
  suspend_at_.reset();
  if (suspend_ == Suspend::no) suspend_ = Suspend::wanted;
  if (suspend_ != Suspend::wanted || !begun_) return;
  suspend_ = Suspend::asked;
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::SuspendJob{job_}, out); });
}

// Whether the program has got less input than was read for it. Input of a file is put back there, for the command that goes on.
bool EmbeddedPeer::is_input_unread(const wire::pb::GateState& gate) {
  if (last_input_.bytes.empty() || gate.input_pieces() > last_input_.piece) return false;
  return !input_.put_back(last_input_.bytes.size());
}

// A single thread is saved as an image. Several threads, or input of a pipe that has not been taken, need a job file with the peer's state.
Result<JobSuspended> EmbeddedPeer::write_suspended() {
  if (file_ != nullptr) {
    GW_TRY_VOID(file_->leave_unshown(unshown()));
    GW_TRY_VOID(file_->compact());
    return JobSuspended{file_->path(), store_->file_bytes()};
  }
  const auto kept = peer_->suspended_image(job_);
  if (!kept) return write_file();
  return write_image(*kept);
}

Result<JobSuspended> EmbeddedPeer::write_image(const peer::Peer::SuspendedImage& kept) {
  GW_TRY(const wire::Image image, image_without_pages(kept.root, *this));
  GW_TRY(const wire::pb::GateState gate, gate_of(image));
  if (is_input_unread(gate)) return write_file();
  const wire::pb::GateState portable_gate = gate_for_another_home(gate, kept.stored, writer_.waiting());
  GW_TRY(const wire::Image portable, with_gate(image, portable_gate, module_, config_.image_pages, this));
  GW_TRY_VOID(os::write_file_atomic(config_.suspend_to, portable.encoded()));
  return JobSuspended{config_.suspend_to, portable.encoded().size()};
}

Result<JobSuspended> EmbeddedPeer::write_file() {
  const std::deque<job::Effect> waiting = writer_.waiting();
  const auto fill = [&](JobFile& file) -> Status {
    std::vector<DiskAction> beginning;
    if (image_)
      for (const ByteView piece : job::Manifest::pieces_of(image_->encoded()))
        beginning.emplace_back(job::StoreBlob{sha256(piece), std::string(as_text(piece))});
    GW_TRY_VOID(file.commit(beginning));
    GW_TRY_VOID(memory_->copy_to(file, waiting));
    auto left = unshown();
    for (auto& [thread, from] : left) from.shown_bytes = 0;  // the bytes that were shown are not in the file
    return file.leave_unshown(left);
  };
  GW_TRY_VOID(JobFile::replace(config_.suspend_to, spec_, module_, fill));
  std::error_code ignored;
  return JobSuspended{config_.suspend_to, std::filesystem::file_size(config_.suspend_to, ignored)};
}

// The first effect of each thread that has not been shown to its end.
std::map<ThreadId, Unshown> EmbeddedPeer::unshown() const {
  std::map<ThreadId, Unshown> first;
  std::size_t shown = writer_.shown_of_first();
  for (const job::Effect& effect : writer_.waiting())
    first.try_emplace(ThreadId{effect.thread()}, Unshown{effect.sequence(), std::exchange(shown, 0)});
  return first;
}

Result<JobOutcome> EmbeddedPeer::outcome() {
  if (stopped_) {
    if (file_ != nullptr) GW_TRY_VOID(file_->leave_unshown(unshown()));
    result_.how = JobStopped{};
  } else if (over_) {
    if (!main_end_) return fail(Kind::internal, "internal error: the job ended and its main thread reported no end");
    result_.how = JobEnded{main_end_->end(), failed_children_};
  } else {
    GW_TRY(result_.how, write_suspended());
  }
  return result_;
}

}  // namespace gw::node
