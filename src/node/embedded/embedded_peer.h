#pragma once
// A whole peer inside a command: the home, host and keeper of one program.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/embedded/embedded_job.h"
#include "node/embedded/input_source.h"
#include "node/embedded/job_file.h"
#include "node/embedded/job_outcome.h"
#include "node/embedded/memory_store.h"
#include "node/embedded/output_writer.h"
#include "node/embedded/poll_loop.h"
#include "node/jobs/job_files.h"
#include "node/worker/native_code.h"
#include "node/worker/worker_table.h"
#include "peer/peer.h"
#include "wire/image/image.h"

namespace gw::node {

// Drives the same peer::Peer as a daemon does, for one job, on the caller's thread: no grid but its own, no transport, no gateway
// (docs/design/008-one-home.md). With a file everything is written down before it counts, so that a program whose processes were all killed
// continues; without one nothing survives but what request_suspend() leaves.
//
// The command intercepts two things between the peer and the worker: it reads input files from where they lie when the guest wants them,
// and without a file it lets the worker record no determinants, because nothing is ever replayed.
// A worker that dies ends the run with an error: the user decides whether to start again.
//
// The caller calls run() once. request_*() may come from any thread or a signal handler, at any time. Limits: those of the peer, of the
// gates and of WorkerProcess; while kMaxUnshown bytes of output wait for a terminal, nothing more is acknowledged to the program.
class EmbeddedPeer final : WorkerTable::Owner, BlobReader {
 public:
  static constexpr std::size_t kMaxUnshown = 1u << 20;

  struct Config {
    std::filesystem::path worker;  // its executable
    const NativeCode& code;
    JobObserver& observer;
    std::filesystem::path input_file = {};  // its standard input; empty: as before, at the start `input`
    int input = 0;                          // descriptors of this process
    int output = 1;
    int errors = 2;
    std::filesystem::path suspend_to;  // where request_suspend() puts the image of a program without a file
    std::optional<std::chrono::milliseconds> suspend_after;
    std::optional<std::uint32_t> suspend_after_polls;  // of the main thread; modules with counter polls
    wire::Storage image_pages = wire::Storage::raw;    // of the suspended image: plain or compressed
  };

  // Starts a program from the beginning. With `file` its state is stored there, and checkpointed as the spec says.
  static Result<std::unique_ptr<EmbeddedPeer>> start(const Config& config, wire::pb::JobSpec spec, Bytes module,
                                                     const std::optional<std::filesystem::path>& file);
  // Continues from the image of a suspended program, which contains its module. `spec`: the command's words of the image
  // (gate_state.h:spec_of), with the limits and files that hold from now on.
  static Result<std::unique_ptr<EmbeddedPeer>> resume(const Config& config, wire::Image image, wire::pb::JobSpec spec);
  // Continues from a job file, however the processes that wrote it ended.
  static Result<std::unique_ptr<EmbeddedPeer>> recover(const Config& config, std::unique_ptr<JobFile> file, wire::pb::JobSpec spec);
  ~EmbeddedPeer();

  Result<JobOutcome> run();

  const wire::pb::JobSpec& spec() const { return spec_; }

  void request_suspend();
  void request_stop();

 private:
  using Actions = std::vector<job::Action>;

  EmbeddedPeer(const Config& config, wire::pb::JobSpec spec, Bytes module, std::optional<wire::Image> image, isolate::CodeKind code);
  void use(std::unique_ptr<JobFile> file);
  MemoryStore& use_memory();

  // --- beginnings
  enum class Program : std::uint8_t { starts, continues };
  Status open_files(Program program, const std::string& output_tag);
  Status open_input(std::uint64_t taken);
  Status start_peer(std::uint64_t boot);
  Status submit();
  Status take_old_effects();
  Status continue_suspended();

  // --- turns
  template <class Input>
  void turn(const Input& input);
  void act(job::Action& action);
  Status store_and_answer();
  Status finish_turns();
  void on_event(job::Event event);
  void on_effect(job::Effect effect);
  void note_end(const job::Effect& effect);
  void fail_with(Error error);

  // --- between the peer and the worker
  void pass_on(job::FrameToWorker frame);
  void on_worker(job::WorkerId worker, peer::WorkerFrame frame) override;
  void on_restore_failed(job::WorkerId worker, const peer::RestoreFailed& failed) override;
  void on_worker_progress(job::WorkerId) override {}  // this peer is the home too, and waits for as long as it takes
  void on_worker_lost(job::WorkerId worker, const Death& death) override;
  void on_worker_wakeup() override {}
  Result<std::string> load(const Hash256& hash) override;
  Result<SharedBytes> view(const Hash256& hash) override;
  // Whether the peer has to see the frame.
  bool intercept_frame(job::WorkerId worker, const peer::WorkerFrame& frame);
  void give_chunk(job::WorkerId worker, const std::string& hash);

  // --- the loop
  Status wait_and_handle();
  void handle_requests();
  void read_input();
  bool finished() const;
  bool held_up() const;
  job::Time next_deadline() const;

  // --- suspension
  void begin_suspend();
  bool is_input_unread(const wire::pb::GateState& gate);
  Result<JobSuspended> write_suspended();
  Result<JobSuspended> write_image(const peer::Peer::SuspendedImage& kept);
  Result<JobSuspended> write_file();
  std::map<job::ThreadId, Unshown> unshown() const;
  Result<JobOutcome> outcome();

  const Config config_;
  wire::pb::JobSpec spec_;
  const Bytes module_;
  const std::optional<wire::Image> image_;  // that the program begins with, without its module; none: it starts
  std::map<Hash256, ByteView> pieces_;      // of both: blobs that the store need not have
  const CommandSigner signer_;
  std::unique_ptr<JobStore> store_;  // null before the program is known
  JobFile* file_ = nullptr;          // the same, if it is one
  MemoryStore* memory_ = nullptr;    // the same, if it is not
  PollLoop loop_;
  WorkerTable workers_;
  std::unique_ptr<peer::Peer> peer_;
  os::UniqueFd wake_;  // eventfd: requests to suspend or stop
  std::optional<InputFiles> inputs_;
  std::optional<OutputFiles> outputs_;
  InputSource input_;
  OutputWriter writer_;

  std::vector<DiskAction> disk_;  // of the turns since the last commit
  std::vector<Hash256> loads_;
  std::vector<Hash256> pieces_here_;  // that the peer wanted stored
  job::JobId job_;
  job::WorkerId worker_{0};
  bool keeps_images_ = false;  // the worker saves an image at each fork, and sends of later ones what has changed
  enum class Suspend : std::uint8_t { no, wanted, asked, reached };  // wanted: the program has not begun yet
  Suspend suspend_ = Suspend::no;
  bool begun_ = false;                         // a thread was given to the worker
  std::optional<std::uint64_t> wanted_piece_;  // the program waits for this piece of input
  std::uint64_t input_taken_ = 0;              // bytes
  struct {
    std::uint64_t piece = 0;
    std::string bytes;
  } last_input_;  // that was read
  std::optional<job::Effect> main_end_;
  bool outputs_placed_ = false;
  bool over_ = false;  // every thread has ended
  std::uint64_t failed_children_ = 0;
  bool stopped_ = false;  // request_stop()
  std::optional<job::Time> suspend_at_;
  std::optional<job::Time> drain_by_;  // everything is suspended, and output is still on its way
  std::optional<Error> failure_;
  std::optional<Error> worker_lost_;
  JobOutcome result_;
};

}  // namespace gw::node
