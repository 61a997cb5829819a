#pragma once
// The requests that users of this machine may make of its daemon, and the views they get.

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
#include "job/home/job_snapshot.h"
#include "job/home/task_list.h"
#include "job/names.h"
#include "job/placing/capacity.h"
#include "node/grid_control.h"
#include "node/share.h"
#include "transport/ways.h"
#include "wire/job_spec.pb.h"

namespace gw::node {

using WallTime = std::chrono::system_clock::time_point;

// --- views: plain values, taken at one moment

// The contents of the state folder, and how long finished jobs stay there.
struct StorageView {
  std::uint64_t finished_jobs = 0;
  std::uint64_t finished_bytes = 0;  // of their output
  std::chrono::seconds keep_for{0};  // a job that ended longer ago is forgotten
  std::uint64_t keep_bytes = 0;      // limit on the output of ended jobs; beyond it, those that ended first are forgotten
  std::uint64_t free_bytes = 0;      // of its disk
  bool full = false;                 // the disk is full: the daemon accepts nothing new
  std::uint64_t lent_threads = 0;    // of other peers' jobs, that run here or whose images are kept here
  std::uint64_t lent_bytes = 0;      // of code, inputs and images stored for them
  std::uint64_t lent_limit = 0;      // of lent_bytes
  std::uint64_t cache_bytes = 0;     // of code and inputs of jobs that are over
  std::uint64_t cache_limit = 0;     // of cache_bytes
  std::uint64_t cache_hits = 0;      // pieces that a job found there since the daemon started
  std::uint64_t cache_hit_bytes = 0;
};

struct NodeView {
  job::PeerId id;
  std::string name;  // of this machine
  std::uint64_t boot = 0;
  std::string version;
  std::vector<std::string> addresses;  // where other peers reach it
  std::uint32_t slots = 0;             // lent by this peer
  std::uint32_t free_slots = 0;
  std::uint64_t relayed_for_others = 0;  // bytes
  WallTime started_at;
  std::string state;              // its folder
  Share share;                    // as its owner has set it
  std::string not_lending = {};   // why jobs of other peers get nothing now, whoever asks; empty: some may
  std::string workers_fail = {};  // why no worker can start on this machine; empty: they can
  job::Capacity capacity;         // as measured last
  Reach reach = Reach::unknown;
  std::uint32_t dialled_back = 0;      // peers that could dial this one, of those asked last
  std::uint32_t not_dialled_back = 0;  // peers that could not
  std::vector<std::string> anchors;    // addresses of its anchors, for peers that cannot dial it
  double load = 0;                     // load average of this machine over the last minute
  std::uint32_t cores = 0;             // of this machine
  std::uint32_t workers = 0;           // processes with a job
  StorageView storage;
};

// The answer of another peer to a ping.
struct PingView {
  std::chrono::microseconds round_trip{0};
  std::string way;                           // of the connection: "direct", "reverse", "relayed"; "self"
  std::string remote;                        // the address at the other end of the connection
  std::string version;                       // of its program
  std::chrono::milliseconds clock_ahead{0};  // its clock minus ours, with an error of half the round trip
};

// A part of a file that is to be fetched.
struct UrlRequest {
  std::string url;
  std::uint64_t offset = 0;  // a multiple of a MiB
  std::string version;       // as in the answer to the first request for the file; empty in that one
};
// The pieces of it that are stored now, one MiB each, but for the last of the file.
struct UrlPieces {
  std::uint64_t total = 0;  // bytes of the whole file
  std::string version;
  std::vector<Hash256> pieces;
};

// A peer of a grid, as this one knows it.
struct PeerView {
  job::PeerId id;
  std::string name;     // of its machine, as it says itself; empty: none
  std::string grid;     // its name
  std::string address;  // empty: it cannot be dialled
  enum class State : std::uint8_t { self, alive, suspected, silent };
  State state = State::silent;
  Reach reach = Reach::unknown;
  std::uint32_t slots = 0;                            // lent by the peer
  std::uint32_t free_slots = 0;                       // as the peer announced last
  std::optional<job::Capacity> capacity;              // as it offered last; none: it has offered nothing to jobs of this peer
  std::optional<double> network_speed;                // bytes per second, measured in use; none: too few bytes came from it
  std::optional<std::chrono::microseconds> distance;  // round trip, measured or estimated
  std::optional<std::chrono::milliseconds> heard;     // time since its last message; none: this peer has got none
  struct Link {
    transport::Way way = transport::Way::direct;
    std::uint64_t bytes_in = 0, bytes_out = 0;  // since it was made
  };
  std::optional<Link> link;  // the connection to it, if there is one now
};

enum class JobState : std::uint8_t { running, done, failed, cancelled, suspended };
inline bool is_over(JobState state) { return state != JobState::running && state != JobState::suspended; }

// Counts of losses and recoveries. A thread is lost with its host; it then resumes from an image, or restarts from its beginning.
struct JobCounters {
  std::uint64_t lost = 0;
  std::uint64_t resumed = 0;
  std::uint64_t restarted = 0;
  std::uint64_t peers_lost = 0;
};

// Where a job runs, and how long: its policy, in the words of users.
struct PlacingView {
  std::string needs;  // as `run --need` has it; empty: nothing
  std::string place = "near";
  std::uint32_t min_slots = 0;            // the job begins with so many; 0: with the first
  std::string on_failure = "replace";     // of a host
  std::chrono::milliseconds job_time{0};  // from its acceptance to its end; 0: no limit
};

struct JobSummary {
  job::JobId id;
  std::string name;     // that its submitter gave it, else that of the program
  std::string program;  // its first argument
  JobState state = JobState::running;
  std::optional<WallTime> submitted_at;  // none: not recorded
  std::optional<WallTime> ended_at;
  std::uint32_t tasks = 0;  // that the job has
  std::uint32_t array = 0;  // numbers of its tasks are below this; it may have only some of the array
  std::uint32_t slots = 0;  // wanted
  PlacingView placing;
  std::uint64_t threads = 0;  // known so far: tasks and forked threads
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;    // tasks of a graph that do not run, because one before them failed
  std::uint32_t exit_code = 0;  // of a job that is over: that of the main thread, or the highest of an array
  JobCounters counters;
  std::uint64_t retried = 0;       // runs of tasks that failed and were repeated
  std::string sentence;            // why the job could not continue, or what of it is lost; empty: neither
  std::uint64_t stored_bytes = 0;  // of its output, on disk
  std::uint64_t next_event = 0;    // what happened before this event is counted here; 0: not known
};

using job::ThreadView;

struct JobPeerView {
  job::PeerId id;
  std::string name;  // of its machine; empty: not known any more
  PeerView::State state = PeerView::State::silent;
  std::uint32_t slots = 0;     // claimed now
  std::uint64_t running = 0;   // threads there now
  std::uint64_t finished = 0;  // threads that came to their end there
  std::uint64_t lost = 0;      // threads that had to leave because it went away
  std::uint64_t taken = 0;     // threads it took over from a lost one
  std::string failure = {};    // what it said last of a worker that died or did not start there
};

// A job that holds slots of this machine; its home is this peer or another one.
struct HostedJobView {
  job::JobId id;
  job::PeerId home;
  std::string home_name;  // of its machine; empty: not known
  enum class State : std::uint8_t { reserved, claimed, leaving };
  State state = State::reserved;
  std::uint32_t slots = 0;
  std::uint64_t memory_bytes = 0;         // in use by its worker
  Hash256 owner = {};                     // the key of the user who submitted it
  std::string program = {};               // its first argument; empty: not known yet
  WallTime since = {};                    // when it got the slots
  std::chrono::milliseconds cpu_time{0};  // of its worker
  std::uint32_t lanes = 0;                // threads and tasks that may run now; 0: others have their turn
  std::uint32_t priority = 0;
};

// The work that this machine has given to the jobs of a user at a peer; or, without a user, that its own jobs have used there.
struct BalanceView {
  job::PeerId peer;
  Hash256 user = {};  // whose jobs ran here; zero: what jobs of this machine used there
  double given_slot_seconds = 0;
  double used_slot_seconds = 0;
  std::uint64_t given_bytes = 0;  // of code, inputs and images
  std::uint64_t used_bytes = 0;
  WallTime changed_at;
};

struct JobView {
  JobSummary summary;
  std::vector<ThreadView> threads;           // tasks in their order, then forked ones by id
  std::vector<JobPeerView> peers;            // by id
  std::vector<job::WaitCount> waits = {};    // why threads and tasks wait, with their number
  std::vector<job::PeerReason> absent = {};  // live peers that do not work for the job while it waits, and why
};

// The streams of a job: output and errors are numbered as in pb::Effect::Output, files are those of wire/messages/output_file_frames.h.
enum class Stream : std::uint8_t { output = 1, errors = 2, files = 3 };
inline constexpr std::size_t kStreams = 3;

// A part of a stream of a job.
struct OutputPiece {
  std::string bytes;  // empty and not `end`: no further byte is final yet
  bool end = false;   // the job is over and these are its last bytes
};

// Which output of which tasks, and in which order.
struct FrameQuery {
  enum class Order : std::uint8_t { arrival, task };
  Order order = Order::arrival;
  std::optional<Stream> stream = {};       // none: output and errors
  std::optional<job::TaskSet> tasks = {};  // none: all threads
  std::uint64_t from = 0;                  // OutputFrames::next of the frames before; 0: from the beginning
  std::size_t limit = 1u << 20;            // bytes; at least one thread or entry is given whole
};

// Bytes that one thread has printed.
struct OutputFrame {
  job::ThreadId thread;
  Stream stream = Stream::output;
  std::string bytes;
  std::uint64_t next = 0;  // in the order of arrival: FrameQuery::from of what follows this frame
};

struct OutputFrames {
  std::vector<OutputFrame> frames;
  std::size_t bytes = 0;   // in them
  std::uint64_t next = 0;  // FrameQuery::from of what follows
  bool end = false;        // these are the last ones. In the order of tasks: that there are now
};

// --- events of a job

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
  struct PeerLost {  // a host of this job
    job::PeerId peer;
    std::uint64_t threads;
  };
  struct OutputGrew {
    Stream stream;
    std::uint64_t size;  // bytes that are final
  };
  struct InputWanted {  // Control::supply_input() answers it
    std::uint64_t piece;
  };
  struct ThreadEnded {
    job::ThreadId thread;
    std::uint32_t exit_code;
    std::string sentence;  // of an exit that is a crash: SIGABRT and the like; else empty
  };
  struct ThreadFailed {
    job::ThreadId thread;
    std::string sentence;
  };
  struct Report {
    job::ThreadId thread;
    std::string bytes;
  };
  // Tasks of an array have ended since the last such event, and so many in all.
  struct TasksEnded {
    struct Failure {
      std::uint32_t task;
      std::uint32_t exit_code;
      std::string sentence;  // empty: the program has exited by itself
    };
    std::uint64_t ended = 0, failed = 0, running = 0;  // of the job, now
    std::uint64_t hosts = 0;                           // that work for it, now
    std::vector<job::TaskSpan> tasks;                  // at most kMaxRanges of them
    std::vector<Failure> failures;                     // of those tasks, at most kMaxFailures
    static constexpr std::size_t kMaxRanges = 64;
    static constexpr std::size_t kMaxFailures = 16;
  };
  struct TaskRepeated {  // a run of it failed, and it runs again
    job::ThreadId thread;
    job::PeerId host;
    std::uint32_t exit_code;
    std::string sentence;
  };
  struct TasksSkipped {                // they do not run, because a task before them failed
    std::uint64_t skipped = 0;         // of the job, now
    std::vector<job::TaskSpan> tasks;  // at most TasksEnded::kMaxRanges of them
    std::string sentence;
  };
  struct Suspended {};  // none of its threads runs any more
  struct Resumed {};
  struct Over {
    JobState state;
    std::uint32_t exit_code;
    std::string sentence = {};  // why it stopped before all its tasks had run
  };

  std::uint64_t number = 0;  // rises by one within a boot of the daemon; higher in a later boot
  WallTime at;
  std::variant<Accepted, ThreadPlaced, ThreadResumed, ThreadRestarted, PeerLost, OutputGrew, InputWanted, ThreadEnded, ThreadFailed, Report,
               TasksEnded, TaskRepeated, TasksSkipped, Suspended, Resumed, Over>
      kind;
};

// The destructor ends the subscription.
class Subscription {
 public:
  Subscription() = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  virtual ~Subscription() = default;
};

// A running peer as its gateway sees it. Implemented by Driver; by a fake in the gateway's tests.
//
// Thread: the node thread only. Every callback comes on it, once, from a later turn of the loop, never from inside the call. A callback
// that is still open when the peer stops gets Kind::disconnected. The implementation limits the open requests (Kind::overloaded).
class Control {
 public:
  virtual ~Control() = default;

  // Stores a blob that a manifest will name. `done` when it is on disk; without a job it is kept for at least an hour. Kind::corrupt: the
  // hash is not that of the bytes; Kind::invalid: they are more than 1 MiB.
  virtual void store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) = 0;
  // Fetches the next pieces of a file from its URL, on behalf of a job that will be submitted, and stores them as store_blob() does.
  // Errors: those of UrlFetcher.
  virtual void fetch(UrlRequest request, std::function<void(Result<UrlPieces>)> done) = 0;
  // Takes the bytes of a pb::SignedCharter and of a pb::Manifest. `done` when the job is durable; this peer is its home from then on.
  // Kind::invalid with the reason; Kind::not_found names the missing blob. The same charter again gives the same job.
  virtual void submit(const wire::pb::JobSubmission& submission, std::function<void(Result<job::JobId>)> done) = 0;
  // `done` when the cancellation is durable: the job will not run again. A job that is over is not changed. Kind::not_found.
  virtual void cancel(const job::JobId& id, std::function<void(Status)> done) = 0;

  // Every thread saves its last image and leaves its host; `done` when none runs any more. The job stays suspended, also after a restart,
  // until resume(). Kind::invalid: the job is over, or suspended; Kind::not_found.
  virtual void suspend(const job::JobId& id, std::function<void(Status)> done) = 0;
  // Places the threads of a suspended job again. Kind::invalid: the job is not suspended; Kind::not_found.
  virtual void resume(const job::JobId& id, std::function<void(Status)> done) = 0;

  // The state of a suspended job of one thread: the root of an image, whose blobs and those of the module load_blob() reads.
  // Kind::invalid: the job is not suspended; Kind::unsupported: it has several threads; Kind::not_found.
  virtual Result<wire::pb::JobImage> image(const job::JobId& id) const = 0;
  // A blob of this peer's disk. Kind::not_found, Kind::corrupt.
  virtual void load_blob(const Hash256& hash, std::function<void(Result<std::string>)> done) = 0;

  // Deletes an ended job and its output; `done` when that is durable. Kind::invalid: the job runs; Kind::not_found.
  virtual void forget(const job::JobId& id, std::function<void(Status)> done) = 0;

  // Supplies a piece of the standard input of a job whose manifest declares one; an empty piece is its end. `done` when it is on disk. A
  // piece with a number that came before is taken as a repetition. Kind::invalid: the piece is not the next one, or too long;
  // Kind::not_found.
  virtual void supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) = 0;

  virtual NodeView node() const = 0;
  virtual std::vector<PeerView> peers() const = 0;                         // this one first, then by id
  virtual std::vector<JobSummary> jobs() const = 0;                        // the latest first
  virtual Result<JobSummary> job_summary(const job::JobId& id) const = 0;  // Kind::not_found
  // Whether the last event of the job is Over; false if there is no such job. Costs a lookup.
  virtual bool is_over(const job::JobId& id) const = 0;
  // `done` gets the job with its threads and peers, which are read from the disk if the job is over. Kind::not_found.
  virtual void job(const job::JobId& id, std::function<void(Result<JobView>)> done) = 0;
  virtual std::vector<HostedJobView> hosted() const = 0;  // by id
  virtual std::vector<BalanceView> balance() const = 0;   // by peer

  virtual std::vector<GridView> grids() const = 0;  // jobs that name none run in the first
  // `done` gets the requested invitation, otherwise the id of the grid in hexadecimal, when the change is on disk. This peer has joined a
  // private grid when a holder of its key has signed a membership. Kind::invalid, not_found; Kind::timeout: no holder has answered.
  virtual void change_grids(GridOrder order, std::function<void(Result<std::string>)> done) = 0;

  // The output of a job from byte `offset` on, at most `limit` bytes: task 0 from beginning to end, then task 1, ..., then forked threads
  // by id. Gives only bytes that will never change: none that come after a thread that has not ended. Output files come when the program
  // has ended, as a sequence of wire/messages/output_file_frames.h.
  virtual void read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                           std::function<void(Result<OutputPiece>)> done) = 0;

  // The output of single tasks, with the thread of each piece: in the order of its arrival, of which nothing is held back; or in the order
  // of the tasks, as far as it is there. Only what is durable. Kind::not_found.
  virtual void read_frames(const job::JobId& id, const FrameQuery& query, std::function<void(Result<OutputFrames>)> done) = 0;

  // The tasks of a job by number. Those that are over are read from the disk. Kind::not_found.
  virtual void tasks(const job::JobId& id, const job::TaskQuery& query, std::function<void(Result<job::TaskPage>)> done) = 0;
  // The manifest of a job: the bytes of a pb::Manifest. Kind::not_found: there is no such job, or its manifest was not kept.
  virtual void manifest(const job::JobId& id, std::function<void(Result<std::string>)> done) = 0;

  // The remembered events from number `from` on, at most `limit`. The last event of a job that is over is Over; a first event with a number
  // higher than `from` shows that older ones are forgotten. Events of an earlier boot of the daemon are not kept, except for Over.
  virtual Result<std::vector<JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit) const = 0;
  // Calls `changed` after events were added, at most once per turn, until the subscription is destroyed. A slow reader costs nothing,
  // because it calls events() and read_output() when it is ready for more. Kind::not_found, Kind::overloaded.
  virtual Result<std::unique_ptr<Subscription>> watch(const job::JobId& id, std::function<void()> changed) = 0;

  // Pings another peer, over a present connection or a new one. Kind::not_found: no grid of this peer knows it; Kind::timeout,
  // disconnected: it does not answer.
  virtual void ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) = 0;

  // Changes what the owner lends; `done` when the change is stored and in force. Threads that do not fit any more continue on other peers
  // from their last images. Kind::invalid names the wrong value.
  virtual void share(const ShareChange& change, std::function<void(Result<Share>)> done) = 0;

  // The present counters and gauges in Prometheus format.
  virtual std::string metrics() = 0;

  // Begins an orderly stop of the daemon: jobs continue after its next start, or on other peers.
  virtual void stop() = 0;
};

}  // namespace gw::node
