#pragma once
// A whole peer: grids, slots, homes of jobs, hosted jobs, and images kept for others, behind one interface.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/deadlines.h"
#include "job/home/home.h"
#include "job/host/hosted_job.h"
#include "job/host/slot_leases.h"
#include "job/images/blob_references.h"
#include "job/images/keeper.h"
#include "job/swarm/chunk_uploads.h"
#include "job/swarm/swarm.h"
#include "peer/boot_numbers.h"
#include "peer/disk_queue.h"
#include "peer/grid_administration.h"
#include "peer/grids.h"
#include "peer/held_blobs.h"
#include "peer/job_router.h"
#include "peer/lender.h"
#include "peer/new_job.h"
#include "peer/past_jobs.h"
#include "peer/peer_measures.h"
#include "peer/reachability.h"
#include "peer/search_relay.h"
#include "peer/uploads.h"
#include "peer/worker_jobs.h"

namespace gw::peer {

using job::Action;
using job::JobId;
using job::JobMessage;
using job::PeerMessage;
using job::ThreadId;
using job::WorkerId;

// --- inputs

struct Connected {
  std::string address;  // of Link::dialled, if it was dialled for this peer
  Link link = Link::dialled;
};
struct Closed {};  // an orderly close, or the end of the relay under it: not a sign that the peer is dead
struct Reset {};   // the connection broke without an orderly close
// The outcome of job::DialBack.
struct DialledBack {
  std::string address;  // that was dialled; empty: the connection shows none
  bool reached;
};
struct Unreachable {
  overlay::Failure failure;
};
using Connection = std::variant<Connected, Closed, Reset, Unreachable, DialledBack>;

struct WorkerFrame {
  wire::pb::FromWorker frame;                         // decoded, so well-formed
  std::optional<job::NewImage> image = std::nullopt;  // the image beside the frame, checked
};
// The restore of a thread failed before the worker got it.
struct RestoreFailed {
  job::ThreadId thread;
  std::uint64_t epoch;
  std::string why;
  bool no_image = false;  // the bytes are not an image, and no other peer can restore them; otherwise this disk could not read a blob
};
// A part of what the worker was to get beside a frame has been read from the disk: a large image takes long.
struct WorkerProgress {};
struct WorkerDied {
  std::string why;
  std::vector<std::uint32_t> tasks = {};  // that it ran at that moment
};
using FromWorker = std::variant<WorkerFrame, WorkerProgress, RestoreFailed, WorkerDied>;

struct Upload {
  job::Blob blob;  // its hash is that of its bytes
};
struct Submit {
  Bytes charter;          // signed
  Bytes manifest;         // named by the charter; every blob it names has been uploaded before
  Bytes row_inputs = {};  // as in pb::JobSubmission; these blobs too
};
struct Cancel {
  JobId job;
};
// Deletes a job that is over with its records and its output. No effect on a job that runs or is not known.
struct Forget {
  JobId job;
};
// Every thread saves its last image and leaves its host; the job stays suspended until it is resumed. Answered by JobSuspended when no
// thread runs any more, or by JobRequestRefused.
struct SuspendJob {
  JobId job;
};
// Places the threads of a suspended job again. Answered by JobResumed, or by JobRequestRefused.
struct ResumeJob {
  JobId job;
};
// The next piece of a job's standard input; an empty one is the end. Answered by InputStored or InputRefused.
struct SupplyInput {
  JobId job;
  std::uint64_t piece;
  std::string bytes;
};
// Sets the number of lent slots and their limits. Threads that do not fit, and those of the named jobs, save their last images and continue
// on other peers.
struct SetSlots {
  std::uint32_t slots;
  std::uint64_t memory_bytes = 0;  // for all of them together; 0: not limited
  std::vector<JobId> vacate;
  job::SlotLeases::Caps caps = {};
  std::optional<job::Budget::Limits> budget = {};  // for what is stored for other peers; none: as it was
  std::optional<job::LendingRules> rules = {};     // to whom and when; none: as they were
  Time idle_after = std::chrono::minutes(3);       // of the rules
  std::optional<std::uint64_t> cache_bytes = {};   // of code and inputs that no job needs any more; none: as it was
  Time drain_for = std::chrono::seconds(10);       // after that long, a thread that has not left continues from the image before
};
// The state of the machine and its owner has changed. Jobs that the owner's rules do not allow any more leave.
struct SetConditions {
  job::LendingConditions conditions;
};
// This machine was measured. `workers_fail`: why no worker can start, so that nothing is lent; empty: they can.
struct SetCapacity {
  job::Capacity capacity;
  std::string workers_fail;
};
// A tracker or a beacon in the local network says that a peer of the grid exists.
struct Rumoured {
  GridId grid;
  std::variant<wire::pb::Descriptor, std::string> who;  // a decoded descriptor, or an address
};
using Request = std::variant<Upload, Submit, Cancel, Forget, SuspendJob, ResumeJob, SupplyInput, SetSlots, SetConditions, SetCapacity,
                             GridRequest, Rumoured>;

struct Persisted {  // with all batches before it
  job::Ticket ticket;
};
struct BlobStored {
  Hash256 hash;
};
struct BlobLoaded {
  Hash256 hash;
  std::optional<std::string> bytes;  // none: missing or damaged
};
// A stored blob is damaged or gone. Found without a request of the peer: after a start, or when a worker was to get it.
struct BlobLost {
  Hash256 hash;
};
// Whether the disk is full from now on. Operations given to a full disk wait for room and are answered then. A peer whose disk is full
// accepts no job, upload, reservation, image, determinant or effect. At a start the disk counts as not full.
struct DiskRoom {
  bool full;
};
using DiskDone = std::variant<Persisted, BlobStored, BlobLoaded, BlobLost, DiskRoom>;

// The state that earlier boots have left on disk. Blobs are read here at recovery only: the parts of images.
struct Stored {
  std::map<std::string, std::string> records;
  std::vector<std::string> damaged;  // keys of records with a wrong checksum
  std::function<std::optional<std::string>(const Hash256&)> blob;
  std::function<Result<std::vector<job::StoredEffect>>(const JobId&)> effects;  // of a job that runs, in their order
};

// A whole peer without I/O: inputs go in one at a time, actions come out; docs/design/003-peers.md. Equal inputs give equal actions.
//
// A peer routes; the machines it owns decide. Every input and every record is checked before or when it enters. Thread: one, the owner's.
// Limits: those of its parts, Config::homes.
class Peer {
 public:
  struct Config {
    Grids::Config grids;  // its wall_offset is filled in here
    GridAdministration::Config grid_administration;
    BootNumbers::Config boot_numbers;
    JobRouter::Config router;
    job::Authorities::Config authorities;
    job::SlotLeases::Config slots;
    Lender::Config lender;
    job::BlobReferences::Config blobs;
    job::Swarm::Config swarm;
    job::ChunkUploads::Config chunk_uploads;
    job::Home::Config home;
    job::ImageTrees::Config images;
    job::HostedJob::Config hosted_job;
    job::Keeper::Config keeper;
    job::Budget::Limits budget;  // for what is stored for other peers
    PastJobs::Config past;
    Uploads::Config uploads;
    Reachability::Config reachability;
    PeerMeasures::Config measures;
    job::PeerHistory::Config history;
    SearchRelay::Config searches;
    overlay::PerPeerRateLimit::Config introductions{.period = std::chrono::seconds(1), .per_peer = 8, .peers = 1024};  // in offers
    Time drain_for = std::chrono::seconds(10);    // a job that has to leave by the owner's rules, or for another user
    Time unused_claim = std::chrono::minutes(1);  // a claim without a running thread ends after this
    std::uint64_t memory_bytes = 0;               // lent with all slots together; 0: not limited
    std::size_t homes = 1024;                     // jobs at once
    DiskQueue::Config disk_queue;                 // home takes no more effects while the disk is behind
  };
  struct Identity {
    PeerId self;
    PublicKey key;
    std::uint64_t boot;   // higher than all earlier ones, less than 2^31
    Time wall_offset{0};  // from Time to nanoseconds since 1970
  };

  // The signer signs for this peer, and outlives it.
  Peer(const Config& config, const Identity& identity, const overlay::Signer& signer, Rng rng);

  // Called once, before all other functions. Damaged records are notified (RecordsDamaged); the job or thread they belong to is lost, and
  // the start succeeds. Kind::not_found if this peer is not in the grid of one of its jobs any more, and no damaged record is the cause;
  // then it must not run.
  Status start(Time now, const Stored& stored, std::vector<Action>& out);

  void on_message(Time now, const PeerId& from, const PeerMessage& message, std::vector<Action>& out);
  void on_connection(Time now, const PeerId& peer, const Connection& event, std::vector<Action>& out);
  void on_worker(Time now, WorkerId worker, FromWorker event, std::vector<Action>& out);
  void on_local(Time now, Request request, std::vector<Action>& out);
  void on_disk(Time now, const DiskDone& done, std::vector<Action>& out);
  void on_tick(Time now, std::vector<Action>& out);
  Time next_deadline() const;
  // Called before an orderly stop: announces it, so that other peers need not detect a failure.
  void leave(Time now, std::vector<Action>& out);

  // The image of a suspended job of one thread, whose home and keeper this peer is. Kind::not_found, invalid, unsupported.
  struct SuspendedImage {
    Hash256 root;
    job::StreamMarks stored;       // effects of the thread
    std::uint64_t supplied_input;  // pieces of standard input that were supplied; the image may contain fewer
    Bytes manifest;
  };
  Result<SuspendedImage> suspended_image(const JobId& job) const;

  // For display and for checkers.
  const std::map<JobId, std::unique_ptr<job::Home>>& homes() const { return homes_; }
  const std::map<JobId, std::unique_ptr<job::HostedJob>>& hosted_jobs() const { return hosted_jobs_; }
  const JobRouter& router() const { return router_; }
  const job::SlotLeases& slots() const { return slots_; }
  const Lender& lender() const { return lender_; }
  const PeerMeasures& measures() const { return measures_; }
  const SearchRelay& searches() const { return searches_; }
  const job::Keeper& keeper() const { return keeper_; }
  const job::Budget& budget() const { return budget_; }
  const job::BlobReferences& blobs() const { return blobs_; }
  const job::Swarm& swarm() const { return swarm_; }
  const job::ChunkUploads& chunk_uploads() const { return chunk_uploads_; }
  const Grids& grids() const { return grids_; }
  const BootNumbers& boot_numbers() const { return boot_numbers_; }
  const PastJobs& past() const { return past_; }
  const Reachability& reachability() const { return reachability_; }
  bool disk_full() const { return blobs_.disk_full(); }
  std::size_t waiting_for_disk() const { return disk_queue_.waiting(); }

 private:
  // Inputs and requests.
  void deliver(Time now, const PeerId& from, const PeerMessage& message, Actions& out);
  void end_life(Time now, const PeerId& peer, Actions& out);
  void apply_peer_changes(Time now, Actions& out);
  // Starts the lookups of keys that homes want, and hands out the answers.
  void look_up_keys(Time now, Actions& out);
  std::vector<PeerId> holders_of(const JobId& job);
  void give_up_lost_blobs(Time now, Actions& out);
  void publish(Actions& out) {
    const std::optional<wire::Contact> contact = reachability_.take_change();
    if (!contact) return;
    grids_.set_contact(*contact);
    out.add(job::Publish{*contact});
  }
  void count_sent(Time now, const PeerId& to, const JobMessage& message) {
    lender_.on_message(now, to, message);
    measures_.on_sent(now, to, message);
  }
  void count_received(Time now, const PeerId& from, const JobMessage& message) {
    lender_.on_message(now, from, message);
    measures_.on_received(now, from, message);
  }
  void introduce_host(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  bool admits(Time now, const PeerId& from, const PeerMessage& message, Actions& out);
  std::set<GridId> grids_in_use() const {
    std::set<GridId> used;
    for (const auto& [job, home] : homes_)
      if (const Grid* grid = grid_of(home->charter())) used.insert(grid->credentials.id);
    return used;
  }
  // nullptr: this peer is not in the grid.
  const Grid* grid_of(const job::Charter& charter) const { return grids_.of(charter.grid()); }
  job::Home::Environment home_environment(const Grid& grid);
  job::Home& add_home(const Grid& grid, Submission submission, std::string manifest_bytes, Actions& out);
  JobRouter::Environment router_environment();
  void dispatch(Time now, job::Send send, Actions& turn, std::vector<Action>& out);
  void submit(Time now, const Submit& request, Actions& out);
  void supply_input(SupplyInput request, Actions& out);
  void set_slots(Time now, SetSlots request, Actions& out);
  void drain(Time now, const std::vector<job::SlotLeases::Grant>& leaving, Actions& out);
  template <class JobRequest>
  void change_job(const JobRequest& request, Status (job::Home::*change)(Time, Actions&), Time now, Actions& out);
  void end_claim(const job::SlotLeases::Grant& grant, Actions& out);
  void tell_wounded(Actions& out);
  void end_unused_claim(Time now, const JobId& job, Actions& out);
  void apply_job_changes(Time now, Actions& out);
  void end_home(const JobId& job, Actions& out);
  void release_home(const JobId& id, Actions& out);
  void finish_turn(Time now, Actions& turn, std::vector<Action>& out);
  void on_blob_damaged(Time now, const Hash256& hash);
  void apply_image_changes(Time now, Actions& out);

  // Recovery after a start.
  struct Found;
  Status recover_homes(Time now, Found& found, const Stored& stored, Actions& out);
  Status recover_home(Time now, const JobId& id, const job::HomeRecords& records, Actions& out);
  void give_up_home(Time now, const JobId& id, const job::HomeRecords& records, const std::string& why, Actions& out);

  const Config config_;
  const Identity identity_;
  const overlay::Signer& signer_;
  Rng rng_;
  Grids grids_;
  Reachability reachability_;
  GridAdministration grid_administration_;
  overlay::PerPeerRateLimit strangers_;  // limits how often each refused peer is reported
  BootNumbers boot_numbers_;
  job::Authorities authorities_;
  job::SlotLeases slots_;
  job::BlobReferences blobs_;
  job::Swarm swarm_;
  job::ChunkUploads chunk_uploads_;
  job::ImageTrees images_;
  job::Budget budget_;
  job::Keeper keeper_;
  std::map<JobId, std::unique_ptr<job::Home>> homes_;
  HeldBlobs home_blobs_{blobs_};
  PastJobs past_;
  Uploads uploads_;
  std::map<JobId, std::unique_ptr<job::HostedJob>> hosted_jobs_;
  WorkerJobs worker_jobs_;
  std::uint64_t next_worker_ = 0;
  std::uint64_t memory_bytes_;
  DiskQueue disk_queue_;
  Lender lender_;
  PeerMeasures measures_;
  job::PeerHistory history_;
  std::map<std::pair<GridId, std::uint64_t>, std::pair<JobId, std::uint32_t>> lookups_;  // by their numbers: job and slot
  SearchRelay searches_;
  overlay::PerPeerRateLimit introductions_;
  JobRouter router_;
  // Jobs for which something came in this turn: only of these can home or host have another deadline, or be done.
  std::set<JobId> touched_;
  job::Deadlines<JobId> home_deadlines_;
  job::Deadlines<JobId> hosted_deadlines_;
};

}  // namespace gw::peer
