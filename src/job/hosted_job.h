#pragma once
// The part of a job that runs on this peer: one claim, one worker, the threads home has assigned.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/blob_references.h"
#include "job/effect_gate.h"
#include "job/live_peers.h"
#include "job/manifest.h"

namespace gw::job {

// Host of the threads of one job; docs/design/003-peers.md has the protocol. Fetches code and images, starts a worker, passes effects to
// home and determinants and images to each thread's keeper, and repeats all that until it is acknowledged.
//
// Invariants: a thread is told that something is stable only by its keeper on home's record; between telling home that another keeper is
// filled and home's word on it, nothing becomes stable. Limits: Config, the gates' (each bounds what it has not got acknowledged).
// A machine without I/O or threads: its peer owns and drives it.
class HostedJob {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time status_every = std::chrono::seconds(5);
    Time keeper_patience = std::chrono::seconds(15);  // before home hears that a keeper does not answer
    std::size_t threads = 4096;
    std::size_t begun = 1u << 20;    // threads one claim may ever have, 40 MiB
    std::size_t remembered = 65536;  // of those that left
    std::size_t chunk_waits = 1024;
    std::size_t checkpoint_determinants = 4096;  // a checkpoint before its time, so that a replay stays short
    std::size_t checkpoint_input = 16u << 20;    // likewise, after so many bytes of standard input, which home has to keep
  };
  struct Environment {  // outlives it
    PeerId self;
    BlobReferences& blobs;
    std::uint64_t& next_worker;
  };
  struct Claim {
    PeerId home;
    JobId job;
    std::uint64_t claim;
    std::uint32_t slots;
    Hash256 manifest;  // the blob of it
  };

  HostedJob(const Config& config, const Environment& environment, const Claim& claim)
      : config_(config), environment_(environment), claim_(claim) {}

  const Claim& claim() const { return claim_; }
  std::optional<WorkerId> worker() const { return worker_; }

  void begin(Time now, Actions& out);
  // Gives back everything. Nothing may be called afterwards.
  void close(Actions& out);

  // Home.
  // `gone`: an assignment that cannot be taken.
  void send_status(Time now, Actions& out, const JobMessage::Status::Held* gone = nullptr);
  void on_assign(Time now, const JobMessage::Assign& assign, Actions& out);
  void on_drop(Time now, const JobMessage::ThreadName& name, Actions& out);
  void on_stored(Time now, const JobMessage::Stored& stored, Actions& out);
  void on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out);
  void on_input(Time now, const JobMessage::Input& input, Actions& out);
  // Keepers.
  void on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out);
  void on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out);
  // The disk. A blob more is here; these bytes were asked for.
  void on_blob_here(Time now, Actions& out);
  void on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  // The worker. Kind::invalid if it broke a rule, or Kind::corrupt: it has to be killed.
  Status on_frame(Time now, const wire::pb::FromWorker& frame, Bytes image, Actions& out);
  void on_worker_died(Time now, std::string why, Actions& out);

  void on_tick(Time now, Actions& out);
  Time next_deadline() const { return tick_at_; }

  struct Running {
    ThreadId thread;
    std::uint64_t epoch;
  };
  std::vector<Running> running() const;  // in the worker, for checkers
  std::size_t roots_running() const;

 private:
  // How far a thread has come: asking its keeper, fetching its image's parts, then its pages, waiting for a slot, in the worker.
  enum class Stage : std::uint8_t { asking, parts, pages, queued, running };
  enum class CodeStage : std::uint8_t { manifest, chunks, loading, ready };

  struct ImageRef {
    Hash256 parts;
    std::string id;  // as the worker calls it
    std::uint64_t determinants = 0;
    std::uint64_t input_pieces = 0;
    // Only when home has stored the effects up to here may the image be kept: a fork in its outbox would otherwise be sent by a host that
    // has no child, and does not know who keeps it.
    std::uint64_t after_effect = 0;
    PageBlobs pages;
    std::vector<Hash256> held;  // blobs this refers to
  };
  // A keeper as this host sees it.
  struct Link {
    PeerId peer;
    std::uint64_t keeper_generation = 0;
    std::optional<Hash256> image;    // it has
    std::optional<Hash256> offered;  // the last one it was told of
    std::uint64_t determinants = 0;  // it has so many
    std::uint64_t sent = 0;          // determinants it was sent
    wire::pb::SignedGrant grant;     // to write there
    bool answered = false;           // so it has seen the grant
    Time waits_since = kNever;       // for an answer
    Time resend_at{0};
  };
  struct Thread {
    std::uint64_t epoch = 0;
    std::uint32_t task = 0;
    std::uint64_t stored_before = 0;
    bool child = false;     // born here
    bool forked = false;    // somewhere else
    bool restored = false;  // runs from an image
    Stage stage = Stage::asking;
    Link keeper;
    std::optional<Link> next;  // being filled
    bool said_filled = false;
    std::optional<ImageRef> initial;  // saved before the first instruction: nobody needs it, but its pages are those of later ones
    std::optional<ImageRef> stable;
    std::optional<ImageRef> replicating;  // on its way to the keeper
    std::optional<ImageRef> queued;       // came meanwhile
    std::deque<Determinant> log;          // since the stable image
    std::uint64_t stable_determinants = 0;
    std::deque<Effect> unstored;
    std::uint64_t sent = 0;    // last effect sent to home
    std::uint64_t stored = 0;  // last effect home has
    Time resend_at{0};
    Time checkpoint_at = kNever;
    bool checkpointing = false;
    std::optional<std::uint64_t> wanted_input;  // the piece home was asked for
    Time ask_input_at{0};
    std::size_t input_bytes = 0;  // read since the last checkpoint was asked for
    std::uint64_t recorded() const { return (stable ? stable->determinants : 0) + log.size(); }
  };

  // hosted_job.cc
  Thread* find(std::uint64_t thread, std::uint64_t epoch);
  Result<Thread*> speaker(std::uint64_t thread, std::uint64_t epoch);
  static JobMessage::StartState start_state_of(const Thread& thread);
  void drop_from_worker(ThreadId id, const Thread& thread, Actions& out);
  void remove(std::map<ThreadId, Thread>::iterator thread, Actions& out);
  void send_effects(Time now, ThreadId id, Thread& thread, Actions& out);
  void tell(wire::pb::ToWorker frame, std::vector<Attachment> beside, Actions& out);

  // hosted_job_worker.cc
  void advance_code(Time now, Actions& out);
  void take_manifest(Time now, const std::string& bytes, Actions& out);
  void start_queued(Time now, Actions& out);
  void drop_impossible(Actions& out);
  void start_thread(Time now, ThreadId id, Thread& thread, Actions& out);
  Status on_effects(Time now, const wire::pb::FromWorker::Effects& frame, Actions& out);
  Status on_determinants(Time now, const wire::pb::FromWorker::Determinants& frame, Actions& out);
  Status on_image(Time now, const wire::pb::FromWorker::Image& frame, Bytes image, Actions& out);
  Status add_child(Time now, ThreadId id, const SplitImage& image, Actions& out);
  ImageRef hold_saved(SplitImage split, std::string id, Actions& out);
  void report_failed(ThreadId id, std::uint64_t epoch, const std::string& sentence, Actions& out);
  Status on_want_chunk(Time now, const std::string& hash, Actions& out);
  void on_want_input(Time now, const wire::pb::FromWorker::WantInput& frame, Actions& out);
  void ask_input(Time now, ThreadId id, Thread& thread, Actions& out);
  void give_input(ThreadId id, std::uint64_t piece, const std::string& bytes, Actions& out);
  Status on_failed(Time now, const wire::pb::FromWorker::Failed& frame, Actions& out);
  void fail_all(const std::string& sentence, Actions& out);

  // hosted_job_images.cc
  std::optional<Hash256> find_page(ThreadId first, const Hash256& page) const;
  void follow_keeper(Time now, Thread& child);
  bool is_stalled(Time now, const Thread& thread) const;
  void refuse_assignment(Time now, const JobMessage::Assign& assign, Actions& out);
  void ask_image(Time now, ThreadId id, Thread& thread, Actions& out);
  void advance_image(Time now, ThreadId id, Thread& thread, Actions& out);
  void hold_image(Time now, Thread& thread, const std::string& parts, Actions& out);
  void sync(Time now, ThreadId id, Thread& thread, Actions& out);
  void sync_link(Time now, ThreadId id, const Thread& thread, Link& link, const ImageRef* image, Actions& out);
  void apply_keeper_progress(Time now, ThreadId id, Thread& thread, Actions& out);
  void promote(Time now, ThreadId id, Thread& thread, Actions& out);
  void replace(std::optional<ImageRef>& slot, ImageRef image, Actions& out);
  void send_filled(ThreadId id, const Thread& thread, Actions& out);
  void wake_by(Time at) { tick_at_ = std::min(tick_at_, at); }
  void plan_checkpoint(Time now, Thread& thread);
  void maybe_checkpoint(Time now, ThreadId id, Thread& thread, Actions& out);
  void release(std::optional<ImageRef>& image, Actions& out);

  const Config config_;
  const Environment environment_;
  const Claim claim_;
  std::optional<Manifest> manifest_;
  CodeStage code_ = CodeStage::manifest;
  std::vector<Hash256> staged_;  // manifest, module, inputs: held until the end
  std::optional<WorkerId> worker_;
  std::map<ThreadId, Thread> threads_;
  std::map<ThreadId, std::uint64_t> highest_epoch_;   // the last epoch of each thread that was assigned under this claim
  std::map<ThreadId, std::uint64_t> departed_epoch_;  // were in the worker, up to this epoch: frames of theirs may be on their way
  std::set<Hash256> chunk_waits_;                     // the worker wants these
  std::string failure_;                               // how the last worker died
  std::uint64_t status_ = 0;
  std::uint64_t progress_ = 0;
  Time status_at_{0};
  Time tick_at_{0};
};

}  // namespace gw::job
