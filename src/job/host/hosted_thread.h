#pragma once
// A thread at its host, from the assignment to its end.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job/actions.h"
#include "job/host/code_staging.h"
#include "job/host/effect_forwarder.h"
#include "job/host/image_replicator.h"
#include "job/images/image_fetches.h"
#include "job/images/saved_image.h"

namespace gw::job {

// A thread that home has assigned here. Asks its keepers for image and determinants, fetches the image, waits for a
// slot, and runs in the worker, whose frames it turns into messages to home and keepers.
//
// Invariants: each stage has only what means something in it; effects and images exist only while it runs. Limits: those of its parts. A
// machine without I/O or threads: its HostedJob owns and drives it, and calls on_due() when due() has come.
class HostedThread {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time keeper_patience = std::chrono::seconds(15);  // before home hears that a keeper does not answer
    std::size_t checkpoint_determinants = 4096;       // a checkpoint before its time, so that a replay stays short
    // Since its last image: the gate of the thread waits for the next image, because no keeper takes many more.
    std::size_t determinants = kMaxDeterminantsAfterImage;
    std::size_t checkpoint_input = 16u << 20;  // likewise, after so many bytes of standard input, which home has to keep
  };
  struct Environment {  // outlives it
    const Config& config;
    JobId job;
    PeerId home;
    CodeStaging& code;
    ImageTrees& images;
    ImageFetches& fetches;
    const std::uint64_t& status;  // number of the last one sent to home
  };
  using Keeper = ImageReplicator::Keeper;

  // The host asks the keepers of the thread for its state, and goes on from the first answer. One that has nothing, or nothing that fits,
  // counts only if no other one has more.
  struct Asking {
    Time resend_at{0};
    Time since{0};
    std::map<PeerId, Status> useless = {};  // keepers that have nothing (ok), or something that does not fit
  };
  // The image of the thread is being fetched.
  struct Fetching {
    std::deque<Determinant> determinants;
    std::uint64_t in_image;
    ImageTrees::Size size = {};  // of the image, as far as it is known
    Time since{0};               // the last progress
    std::uint64_t progress = 0;  // of all images that come
  };
  // The thread has all that it needs but a slot.
  struct Queued {
    ImageReplicator::Restored from;
  };
  // How far the thread is on its way out of the worker: not at all; the worker was asked for its last image; the worker has sent it, and
  // runs the thread no more.
  enum class Suspension : std::uint8_t { none, asked, saved };
  // The spawns that were still in the outbox of the last image.
  struct LastSpawns {
    std::uint64_t first;
    std::uint64_t determinants;  // before them, at most
  };
  struct Running {
    bool restored;  // from an image
    EffectForwarder effects;
    ImageReplicator images;
    std::optional<std::uint64_t> held_spawn = std::nullopt;  // the first effect that may not leave yet
    Time checkpoint_at = kNever;
    bool checkpointing = false;
    bool cannot_checkpoint = false;                            // the program has no points where it can be stopped
    std::optional<std::uint64_t> wanted_input = std::nullopt;  // the piece home was asked for
    Time ask_input_at{0};
    std::size_t input_bytes = 0;                              // read since the last checkpoint was asked for, also as messages
    std::optional<std::uint64_t> wanted_mail = std::nullopt;  // the message home was asked for
    bool waits_for_mail = false;
    Time ask_mail_at{0};
    Suspension suspension = Suspension::none;
    std::optional<LastSpawns> last_spawns = std::nullopt;
    Time suspended_at{0};    // when home is told again
    Time leave_by = kNever;  // its last image has to be stable by then
  };

  HostedThread(const Environment& environment, const JobMessage::Assign& assign, Time now);
  // Gives back everything. Nothing may be called afterwards.
  void close(Actions& out);

  ThreadId id() const { return id_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint32_t task() const { return task_; }
  bool queued() const { return std::holds_alternative<Queued>(stage_); }
  bool begins() const;  // queued, and from its beginning
  const Running* running() const { return std::get_if<Running>(&stage_); }
  Running* running() { return std::get_if<Running>(&stage_); }
  JobMessage::StartState start_state() const;
  // The room that the thread's images take on this disk.
  StoredForOthers stored() const;
  // Whether the thread cannot go on here without this blob.
  bool needs(const Hash256& root) const;
  bool in_worker() const { return running() != nullptr && running()->suspension != Suspension::saved; }
  // The worker runs the thread no more, and the last image does not become stable, because the keeper is gone: the thread goes on from the
  // image before.
  bool stranded(Time now) const { return running() != nullptr && !is_suspended() && now >= running()->leave_by; }
  // It waits for a message, and needs no slot meanwhile.
  bool parked() const { return running() != nullptr && running()->waits_for_mail; }
  // A keeper that has not said for long that it has more, or refuses to keep more.
  std::optional<PeerId> stalled(Time now) const { return running() != nullptr ? running()->images.stalled(now) : std::nullopt; }
  // Of several keepers that do not have the same, the one that gave the state of the thread, until home has said who keeps it now.
  const std::optional<PeerId>& source() const { return source_; }

  // When on_due() has something to do.
  Time due() const;
  void on_due(Time now, Actions& out);

  // --- before it runs

  void ask_image(Time now, Actions& out);
  // Kind::guest_fault: it has no beginning of its own and no image, or what its keeper has does not fit together. Kind::overloaded: there
  // is no room for its image.
  Status on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out);
  // REQUIRES: it is being fetched.
  void on_fetched(const Hash256& root);
  // The size of the image that is here or on its way. REQUIRES: the image is being fetched.
  void set_fetched(const ImageTrees::Size& size) { std::get<Fetching>(stage_).size = size; }
  // REQUIRES: queued(), and the code is ready.
  // `config`: what the thread begins with, if it begins().
  void start(Time now, const std::optional<wire::pb::ThreadConfig>& config, Actions& out);
  // The worker runs it already, as a task: its effects may leave from now on. REQUIRES: queued(), from its beginning.
  void adopt(Time now, Actions& out);

  // --- while it runs

  // Kind::invalid: it does not follow the one before. Kind::guest_fault: it is a spawn whose child has no image, as the outbox of a wrong
  // image may have one.
  Status add_effect(const Effect& effect);
  // Sends the effects that were not sent yet and may leave.
  void send_effects(Time now, Actions& out);
  // Kind::corrupt: it leaves something to images that are not here. Kind::guest_fault: as add_effect() has it.
  Status on_image(Time now, const NewImage& image, wire::pb::FromWorker::Image::Why why, Actions& out);
  // The first image of the child of this spawn. Kind::invalid: it is of another thread, or one too many; Kind::corrupt as above.
  Status on_spawned(Time now, const NewImage& image, std::uint64_t spawn, Actions& out);
  // An image of it, or of a child, is on this disk now.
  void on_image_stored(Time now, Actions& out);
  Status on_determinants(Time now, const wire::pb::FromWorker::Determinants& frame, Actions& out);
  void on_want_input(Time now, std::uint64_t piece, Actions& out);
  void on_input(Time now, const JobMessage::Input& input, Actions& out);
  void on_want_mail(Time now, const wire::pb::FromWorker::WantMail& want, Actions& out);
  void on_mails(Time now, const JobMessage::Mails& mails, Actions& out);
  // Home has room for effects that it could not take.
  void hurry(Time now) {
    if (running() != nullptr) running()->effects.hurry(now);
  }
  // The thread has recorded as many determinants since its last image as a keeper takes, and no image will come.
  bool exhausted() const;
  // An image could not be saved; `never`: each one would fail.
  void on_save_failed(Time now, bool never);
  // Asks the worker for its last image; home is told when that is stable and all effects before it are stored. REQUIRES: it runs.
  void suspend(Actions& out);
  // True: it has ended.
  bool on_stored(Time now, const StreamMarks& marks, Actions& out);
  void on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out);
  void on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out);

 private:
  Status take(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out);
  Status check_kept(const JobMessage::ImageIs& image) const;
  void look_at_fetch(Time now, Fetching& fetching, Actions& out);
  void compare(const PeerId& from, const JobMessage::ImageIs& image);
  ImageReplicator replicator(ImageReplicator::Restored from) const;
  void run(Time now, ImageReplicator::Restored from, Actions& out);
  // REQUIRES: it runs.
  bool waits_for_image() const;
  void plan_checkpoint(Time now);
  void maybe_checkpoint(Time now, Actions& out);
  void ask_input(Time now, Actions& out);
  void ask_mail(Time now, Actions& out);
  void give_input(std::uint64_t piece, const std::string& bytes, Actions& out) const;
  void send(JobMessage::Effects effects, Actions& out) const;
  bool may_leave(const Effect& effect);
  bool may_spawn(std::uint64_t spawn) const;
  Status add_last_spawns(const NewImage& last);
  void send_held_spawn(Time now, Actions& out);
  bool is_suspended() const;
  void maybe_suspended(Time now, Actions& out);
  void tell_progress(const ImageReplicator::Progress& progress, Actions& out) const;

  const Environment environment_;
  const ThreadId id_;
  const std::uint64_t epoch_;
  const std::uint32_t task_ = 0;
  const StreamMarks stored_before_;
  const std::uint64_t determinants_before_ = 0;  // that each keeper has at least
  const bool forked_ = false;                    // the thread has no beginning of its own
  const std::vector<Keeper> assigned_keepers_;
  std::optional<PeerId> source_;
  JobMessage::ImageIs taken_;  // the state that it gave, until the thread runs; without its names
  std::variant<Asking, Fetching, Queued, Running> stage_;
};

}  // namespace gw::job
