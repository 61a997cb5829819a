#pragma once
// One peer: grids, slots, homes of jobs, parts of other homes' jobs, and what it keeps for others, behind one door.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/blob_references.h"
#include "job/home.h"
#include "job/hosted_job.h"
#include "job/keeper.h"
#include "job/slot_leases.h"
#include "peer/boot_numbers.h"
#include "peer/grid_administration.h"
#include "peer/grids.h"
#include "peer/job_router.h"
#include "peer/past_jobs.h"
#include "peer/reachability.h"
#include "peer/uploads.h"

namespace gw::peer {

using job::Action;
using job::JobId;
using job::JobMessage;
using job::PeerMessage;
using job::ThreadId;
using job::WorkerId;

// --- what a peer is told

struct Connected {
  std::string address;  // of Link::dialled, if it was dialled for this peer
  Link link = Link::dialled;
};
struct Closed {};  // in order, or with what it ran over: not a word about who is there
struct Reset {};   // it broke without a goodbye
// What has come of job::DialBack.
struct DialledBack {
  std::string address;  // that was dialled; empty: the connection shows none
  bool reached;
};
struct Unreachable {
  overlay::Failure failure;
};
using Connection = std::variant<Connected, Closed, Reset, Unreachable, DialledBack>;

struct WorkerFrame {
  wire::pb::FromWorker frame;  // decoded, so well-formed
  Bytes image;                 // what came beside it
};
struct WorkerDied {
  std::string why;
};
using FromWorker = std::variant<WorkerFrame, WorkerDied>;

struct Upload {
  job::Blob blob;  // its hash is that of its bytes
};
struct Submit {
  Bytes charter;   // signed
  Bytes manifest;  // named by the charter; every blob it names has been uploaded before
};
struct Cancel {
  JobId job;
};
// The next piece of its standard input; an empty one is the end. Answered by InputStored or InputRefused.
struct SupplyInput {
  JobId job;
  std::uint64_t piece;
  std::string bytes;
};
// From now on so many slots are lent under these caps. Threads that do not fit, and those of the named jobs, continue on other peers from
// their last images.
struct SetSlots {
  std::uint32_t slots;
  std::uint64_t memory_bytes = 0;  // for all of them together; 0: not limited
  std::vector<JobId> vacate;
  job::SlotLeases::Caps caps = {};
};
// Somebody outside a grid, a tracker or a voice in the local network, says that a peer of it is there.
struct Rumoured {
  GridId grid;
  std::variant<wire::pb::Descriptor, std::string> who;  // decoded; or where it is
};
using Request = std::variant<Upload, Submit, Cancel, SupplyInput, SetSlots, GridRequest, Rumoured>;

struct Persisted {
  job::Ticket ticket;
};
struct BlobStored {
  Hash256 hash;
};
struct BlobLoaded {
  Hash256 hash;
  std::optional<std::string> bytes;  // none: not there, or damaged
};
using DiskDone = std::variant<Persisted, BlobStored, BlobLoaded>;

// What lives before have left on disk. Blobs are read here at recovery only: the parts of images.
struct Stored {
  std::map<std::string, std::string> records;
  std::vector<std::string> damaged;  // keys of records whose values are not what was written
  std::function<std::optional<std::string>(const Hash256&)> blob;
  std::function<Result<std::vector<job::StoredEffect>>(const JobId&)> effects;  // of a job that runs, in their order
};

// A whole peer without I/O: inputs go in one at a time, actions come out; docs/design/003-peers.md. Equal inputs give equal actions.
//
// It routes; the machines it owns decide. Every input and every record is checked before it gets here or when it does. Thread: one, the
// owner's. Limits: those of its parts, Config::homes, Config::batches.
class Peer {
 public:
  struct Config {
    Grids::Config grids;  // its wall_offset is filled in here
    GridAdministration::Config grid_administration;
    BootNumbers::Config boot_numbers;
    JobRouter::Config router;
    job::Authorities::Config authorities;
    job::SlotLeases::Config slots;
    job::BlobReferences::Config blobs;
    job::Home::Config home;
    job::HostedJob::Config hosted_job;
    job::Keeper::Config keeper;
    PastJobs::Config past;
    Uploads::Config uploads;
    Reachability::Config reachability;
    std::uint64_t memory_bytes = 0;  // lent with all slots together; 0: not limited
    std::size_t homes = 1024;        // jobs at once
    std::size_t batches = 1024;      // on their way to the disk; home takes no more effects then
  };
  struct Identity {
    PeerId self;
    PublicKey key;
    std::uint64_t boot;   // higher than in all lives before, less than 2^31
    Time wall_offset{0};  // from Time to nanoseconds since 1970
  };

  // The signer signs for this peer, and outlives it.
  Peer(const Config& config, const Identity& identity, const overlay::Signer& signer, Rng rng);

  // First of all, once. What is damaged is told (RecordsDamaged) and costs the job or thread it belongs to, not the start. Kind::not_found
  // if this peer is not in the grid of one of its jobs any more; then it must not run.
  Status start(Time now, const Stored& stored, std::vector<Action>& out);

  void on_message(Time now, const PeerId& from, const PeerMessage& message, std::vector<Action>& out);
  void on_connection(Time now, const PeerId& peer, const Connection& event, std::vector<Action>& out);
  void on_worker(Time now, WorkerId worker, FromWorker event, std::vector<Action>& out);
  void on_local(Time now, Request request, std::vector<Action>& out);
  void on_disk(Time now, const DiskDone& done, std::vector<Action>& out);
  void on_tick(Time now, std::vector<Action>& out);
  Time next_deadline() const;
  // Before it stops on purpose: the others need not wait for it.
  void leave(Time now, std::vector<Action>& out);

  // For people and checkers.
  const std::map<JobId, std::unique_ptr<job::Home>>& homes() const { return homes_; }
  const std::map<JobId, std::unique_ptr<job::HostedJob>>& hosted_jobs() const { return hosted_jobs_; }
  const JobRouter& router() const { return router_; }
  const job::SlotLeases& slots() const { return slots_; }
  const job::Keeper& keeper() const { return keeper_; }
  const job::BlobReferences& blobs() const { return blobs_; }
  const Grids& grids() const { return grids_; }
  const BootNumbers& boot_numbers() const { return boot_numbers_; }
  const PastJobs& past() const { return past_; }
  const Reachability& reachability() const { return reachability_; }

 private:
  struct Batch {
    job::Ticket ticket;
    std::vector<Action> then;
  };

  // peer.cc
  void deliver(Time now, const PeerId& from, const PeerMessage& message, Actions& out);
  void end_life(Time now, const PeerId& peer, Actions& out);
  void apply_peer_changes(Time now, Actions& out);
  void publish(Actions& out);
  bool admits(Time now, const PeerId& from, const PeerMessage& message, Actions& out);
  std::set<GridId> grids_in_use() const;
  const Grid* grid_of(const job::Charter& charter) const;
  job::Home::Environment home_environment(const Grid& grid);
  struct Submission {
    job::Charter charter;
    job::Manifest manifest;
  };
  Result<Submission> check(const Submit& request) const;
  job::Home& add_home(const Grid& grid, job::Charter charter, job::Manifest manifest, std::string manifest_bytes, Actions& out);
  JobRouter::Environment router_environment();
  void dispatch(Time now, job::Send send, Actions& turn, std::vector<Action>& out);
  void submit(Time now, const Submit& request, Actions& out);
  void supply_input(Time now, SupplyInput request, Actions& out);
  void set_slots(const SetSlots& request, Actions& out);
  void end_homes(Actions& out);
  void release_home(const JobId& id, Actions& out);
  void finish_turn(Time now, Actions& turn, std::vector<Action>& out);
  void schedule_disk_writes(Actions& turn, std::deque<Action>& ready);

  // peer_recovery.cc
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
  overlay::PerPeerRateLimit strangers_;  // each is reported once in a while
  BootNumbers boot_numbers_;
  job::Authorities authorities_;
  job::SlotLeases slots_;
  job::BlobReferences blobs_;
  job::Keeper keeper_;
  std::map<JobId, std::unique_ptr<job::Home>> homes_;
  std::map<JobId, std::vector<Hash256>> home_blobs_;  // manifest and inputs
  PastJobs past_;
  Uploads uploads_;
  std::map<JobId, std::unique_ptr<job::HostedJob>> hosted_jobs_;
  std::uint64_t next_worker_ = 0;
  std::uint64_t memory_bytes_;
  JobRouter router_;
  job::Ticket next_ticket_ = 0;
  std::deque<Batch> batches_;
};

}  // namespace gw::peer
