#pragma once
// What the people of this machine may ask of a running peer, and what they are shown.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/reach.h"
#include "base/reason.h"
#include "job/job_snapshot.h"
#include "job/names.h"
#include "node/grid_control.h"
#include "node/share.h"
#include "transport/ways.h"

namespace gw::node {

using WallTime = std::chrono::system_clock::time_point;

// --- what is shown: plain values, taken at one moment

struct NodeView {
  job::PeerId id;
  std::uint64_t boot = 0;
  std::string version;
  std::vector<std::string> addresses;  // where other peers reach it
  std::uint32_t slots = 0;             // it lends
  std::uint32_t free_slots = 0;
  std::uint64_t relayed_for_others = 0;  // bytes
  WallTime started_at;
  std::string state;  // its folder
  Share share;        // what its owner lends
  Reach reach = Reach::unknown;
  std::uint32_t dialled_back = 0;      // of the peers asked last to dial this one, those that got through
  std::uint32_t not_dialled_back = 0;  // and those that did not
  std::vector<std::string> anchors;    // where others ask for it, if they cannot dial it
  double load = 0;                     // of this machine: how many threads want to run, over the last minute
  std::uint32_t cores = 0;             // of this machine
  std::uint32_t workers = 0;           // processes with a job
};

// One answer of another peer.
struct PingView {
  std::chrono::microseconds round_trip{0};
  std::string way;                           // how it was reached: "direct", "reverse", "relayed"; "self"
  std::string remote;                        // the address at the other end of the connection
  std::string version;                       // of its program
  std::chrono::milliseconds clock_ahead{0};  // its clock before ours, give or take half the round trip
};

// A peer of a grid, as this one knows it.
struct PeerView {
  job::PeerId id;
  std::string grid;     // its name
  std::string address;  // empty: it cannot be dialled
  enum class State : std::uint8_t { self, alive, suspected, silent };
  State state = State::silent;
  Reach reach = Reach::unknown;
  std::uint32_t slots = 0;                            // it lends
  std::uint32_t free_slots = 0;                       // as it said last
  std::optional<std::chrono::microseconds> distance;  // round trip, measured or estimated
  std::optional<std::chrono::milliseconds> heard;     // so long ago; none: only others have heard from it
  struct Link {
    transport::Way way = transport::Way::direct;
    std::uint64_t bytes_in = 0, bytes_out = 0;  // since it was made
  };
  std::optional<Link> link;  // the connection to it, if there is one now
};

enum class JobState : std::uint8_t { running, done, failed, cancelled };

// How often the plan did not hold. A thread is lost when its host is; it then goes on from an image, or starts from its beginning.
struct JobCounters {
  std::uint64_t lost = 0;
  std::uint64_t resumed = 0;
  std::uint64_t restarted = 0;
  std::uint64_t peers_lost = 0;
};

struct JobSummary {
  job::JobId id;
  std::string name;  // the program's, as its arguments say
  JobState state = JobState::running;
  std::optional<WallTime> submitted_at;  // none: not written down
  std::optional<WallTime> ended_at;
  std::uint32_t tasks = 0;
  std::uint32_t slots = 0;    // wanted
  std::uint64_t threads = 0;  // known so far: tasks and what they have forked
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::uint32_t exit_code = 0;  // of a job that is over: the main thread's, or the worst of an array
  JobCounters counters;
};

using job::ThreadView;

struct JobPeerView {
  job::PeerId id;
  PeerView::State state = PeerView::State::silent;
  std::uint32_t slots = 0;     // claimed now
  std::uint64_t running = 0;   // threads there now
  std::uint64_t finished = 0;  // threads that came to their end there
  std::uint64_t lost = 0;      // threads that had to leave because it went away
  std::uint64_t taken = 0;     // threads it took over from a lost one
};

// A job that holds slots of this machine; its home is this peer or another one.
struct HostedJobView {
  job::JobId id;
  job::PeerId home;
  enum class State : std::uint8_t { reserved, claimed };
  State state = State::reserved;
  std::uint32_t slots = 0;
  std::uint64_t memory_bytes = 0;  // in use by its worker
};

struct JobView {
  JobSummary summary;
  std::vector<ThreadView> threads;  // tasks in their order, then forked ones by id
  std::vector<JobPeerView> peers;   // by id
};

// What a job writes: output and errors are numbered as in pb::Effect::Output, files are those of wire/output_file_frames.h.
enum class Stream : std::uint8_t { output = 1, errors = 2, files = 3 };
inline constexpr std::size_t kStreams = 3;

// A part of what a job has written.
struct OutputPiece {
  std::string bytes;  // empty and not `end`: nothing more is final yet
  bool end = false;   // the job is over and nothing comes after these bytes
};

// --- what happened in a job

struct JobEvent {
  struct Accepted {};
  struct ThreadPlaced {  // for the first time
    job::ThreadId thread;
    job::PeerId host;
  };
  struct ThreadResumed {  // somewhere, from its last image
    job::ThreadId thread;
    std::uint64_t epoch;
    job::PeerId host;
  };
  struct ThreadRestarted {  // from its beginning, because there was no image of it
    job::ThreadId thread;
    std::uint64_t epoch;
    job::PeerId host;
  };
  struct PeerLost {  // one that had threads of this job
    job::PeerId peer;
    std::uint64_t threads;
  };
  struct OutputGrew {
    Stream stream;
    std::uint64_t size;  // so much of it is final
  };
  struct InputWanted {  // Control::supply_input() answers it
    std::uint64_t piece;
  };
  struct ThreadEnded {
    job::ThreadId thread;
    std::uint32_t exit_code;
  };
  struct ThreadFailed {
    job::ThreadId thread;
    std::string sentence;
  };
  struct Report {
    job::ThreadId thread;
    std::string bytes;
  };
  struct Over {
    JobState state;
    std::uint32_t exit_code;
  };

  std::uint64_t number = 0;  // ascending by one within a life of the daemon; higher in a later life
  WallTime at;
  std::variant<Accepted, ThreadPlaced, ThreadResumed, ThreadRestarted, PeerLost, OutputGrew, InputWanted, ThreadEnded, ThreadFailed, Report,
               Over>
      kind;
};

// Ends what it stands for when it goes.
class Subscription {
 public:
  Subscription() = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  virtual ~Subscription() = default;
};

// A running peer as its gateway sees it. Implemented by Driver; by a fake in the gateway's tests.
//
// Thread: the node thread only, and every callback comes on it, once, from a later turn of the loop, never from inside the call. A callback
// that is still open when the peer stops gets Kind::disconnected. The implementation bounds what is under way (Kind::overloaded).
class Control {
 public:
  virtual ~Control() = default;

  // A blob that a manifest will name. `done` when it is on disk; it is kept for a while (at least an hour) without a job. REQUIRES: the
  // hash is that of the bytes, of which there are at most 1 MiB.
  virtual void store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) = 0;
  // The bytes of a pb::SignedCharter and of a pb::Manifest. `done` when the job is durable; from then on it is this peer's. Kind::invalid:
  // what is wrong with them; Kind::not_found: which blob is missing. The same charter again gives the same job.
  virtual void submit(Bytes signed_charter, Bytes manifest, std::function<void(Result<job::JobId>)> done) = 0;
  // `done` when it will not run again whatever happens. A job that is over stays as it is. Kind::not_found.
  virtual void cancel(const job::JobId& id, std::function<void(Status)> done) = 0;

  // A piece of the standard input of a job whose manifest says that it has one; an empty piece is its end. `done` when it is on disk. A
  // piece that came before is taken as the same. Kind::invalid: it is not the next one, or too long; Kind::not_found.
  virtual void supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) = 0;

  virtual NodeView node() const = 0;
  virtual std::vector<PeerView> peers() const = 0;              // this one first, then by id
  virtual std::vector<JobSummary> jobs() const = 0;             // the latest first
  virtual Result<JobView> job(const job::JobId& id) const = 0;  // Kind::not_found
  virtual std::vector<HostedJobView> hosted() const = 0;        // by id

  virtual std::vector<GridView> grids() const = 0;  // jobs that name none run in the first
  // `done` with the invitation that was asked for, else with the id of the grid in hexadecimal, when that is on disk. A private grid is
  // joined when somebody who holds its key has let this peer in. Kind::invalid, not_found; Kind::timeout: nobody who could has answered.
  virtual void change_grids(GridOrder order, std::function<void(Result<std::string>)> done) = 0;

  // What the job wrote, from byte `offset` on, at most `limit` bytes: task 0 from beginning to end, then task 1, ..., then forked threads
  // by id. Only what will never change is given: after a thread that has not ended, nothing of the next one. Output files come when the
  // program has ended, as a sequence of wire/output_file_frames.h.
  virtual void read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                           std::function<void(Result<OutputPiece>)> done) = 0;

  // Events from number `from` on that are still remembered, at most `limit`. The last one of a job that is over is Over; a first one whose
  // number is higher than `from` shows that older ones are forgotten. What happened in an earlier life of the daemon is not told again,
  // except for Over.
  virtual Result<std::vector<JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit) const = 0;
  // Calls `changed` after events were added, not more than once for each turn, until the subscription goes: a slow reader costs nothing,
  // because it asks for events() and read_output() when it is ready for more. Kind::not_found, Kind::overloaded.
  virtual Result<std::unique_ptr<Subscription>> watch(const job::JobId& id, std::function<void()> changed) = 0;

  // Asks another peer, over whatever way there is or can be found. Kind::not_found: no grid of this peer knows it; Kind::timeout,
  // disconnected: it does not answer.
  virtual void ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) = 0;

  // What the owner lends from now on; `done` when it is stored, and then it holds. Threads that do not fit go on elsewhere from their last
  // images. Kind::invalid: what cannot be.
  virtual void share(const ShareChange& change, std::function<void(Result<Share>)> done) = 0;

  // Counters and gauges of this moment, as Prometheus reads them.
  virtual std::string metrics() = 0;

  // The daemon stops in good order, soon: jobs go on when it comes back, or on other peers.
  virtual void stop() = 0;
};

}  // namespace gw::node
