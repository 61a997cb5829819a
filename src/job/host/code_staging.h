#pragma once
// How the program of a job comes to a host: manifest, module, inputs, and the worker that loads them.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/host/hosted_storage.h"
#include "job/host/predecessor_files.h"
#include "job/host/row_segments.h"
#include "job/images/blob_references.h"
#include "job/swarm/swarm.h"

namespace gw::job {

// Fetches the manifest, then the module it names, starts a worker with it, and fetches inputs when the worker wants them.
//
// Invariants: there is a worker in the stages Loading and Ready only; code is held until close(), inputs until others need their room.
// Costs: O(log pieces) per blob. Limits: Config, the manifest's, and the budget behind HostedStorage. A machine without I/O or threads: its
// HostedJob owns and drives it.
class CodeStaging {
 public:
  struct Config {
    std::size_t chunk_waits = 4096;          // inputs that the worker wants at once: one for each thread it may have
    Time restart = std::chrono::seconds(1);  // pause after a worker that did not load, twice as long each time
    std::uint32_t failed_loads = 4;          // one after the other, before no more is tried
    PredecessorFiles::Config files = {};
  };
  struct Source {
    JobId job;
    PeerId home;       // has everything
    Hash256 manifest;  // the blob of it
    // Why a job with this manifest asks for more than the owner of this machine allows; none: it does not.
    std::function<std::optional<std::string>(const Manifest&)> excess = {};
    bool local = false;  // home is this peer
  };

  // Blobs, swarm and storage outlive it.
  CodeStaging(const Config& config, BlobReferences& blobs, Swarm& swarm, HostedStorage& storage, const Source& source)
      : config_(config), blobs_(blobs), swarm_(swarm), storage_(storage), source_(source), files_(config.files) {}

  void begin(Time now, Actions& out);
  void close(Actions& out);

  // nullptr: it is not here yet.
  const Manifest* manifest() const { return manifest_ ? &*manifest_ : nullptr; }
  // The module is here, and no worker.
  bool staged() const { return std::holds_alternative<Staged>(stage_); }
  // When a worker may be started; kNever: there is one, or nothing to start it with.
  Time start_at() const { return staged() && !broken() ? restart_at_ : kNever; }
  // No worker that was started here has loaded the module, or there is no room for it: nothing can run.
  bool broken() const { return failed_loads_ >= config_.failed_loads || !no_room_.empty(); }
  // Why this peer does not store the code of the job, or does not run it; empty: it does.
  const std::string& no_room() const { return no_room_; }
  // The worker has loaded it.
  bool ready() const { return std::holds_alternative<Ready>(stage_); }
  std::optional<WorkerId> worker() const;

  // The row of a task, in which files of other tasks are inputs; good until the next call. nullptr: its segment, or a list of such files,
  // is not here yet and has been asked for; on_loaded() brings it. Kind::invalid: the segment is no segment of rows, or the files do not
  // exist. Kind::overloaded: there is no room for it. REQUIRES: the manifest is here and has rows, and the task exists.
  Result<const wire::pb::TaskRow*> row_of(Time now, std::uint32_t task, Actions& out);
  // The configuration that a task begins with; none: its row, or the image that the program begins with, is not here yet and has been asked
  // for. Kinds as above. REQUIRES: the manifest is here, and the task exists.
  Result<std::optional<wire::pb::ThreadConfig>> stage_start(Time now, std::uint32_t task, Actions& out);

  // Which blobs list the files that tasks have left for others.
  void on_files_are(const JobMessage::FilesAre& answer) { files_.on_answer(answer); }
  // Repeats questions about them.
  void on_tick(Time now, Actions& out) { ask_files(files_.take_due(now), out); }
  Time next_due() const { return files_.next_due(); }

  // REQUIRES: staged().
  void start_worker(WorkerId worker, std::uint32_t slots, std::size_t determinants_after_image, Actions& out);
  void on_worker_loaded();
  void on_worker_died(Time now);
  // Sends a frame to the worker, if there is one.
  void tell(wire::pb::ToWorker frame, std::vector<Attachment> beside, Actions& out) const;

  // Inputs that were read longest ago make room for it. Kind::invalid: it is no input of the job, or too many are
  // wanted at once. Kind::overloaded: there is no room for it.
  Status on_want_chunk(Time now, const Hash256& hash, Actions& out);
  void on_blob_stored(Time now, const Hash256& hash, Actions& out);
  void on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  // What cannot go on without a blob: nothing; the program; what runs in the worker; or the tasks to which task_needs() applies.
  enum class Need : std::uint8_t { none, program, worker, tasks };
  // Code that the worker has loaded is not needed again.
  Need need_of(const Hash256& hash) const;
  // The task cannot begin without the blob: it has its row, or lists files in the row. REQUIRES: the manifest is here, and the task exists.
  bool task_needs(std::uint32_t task, const Hash256& hash);
  // No peer of the job has the blob: nothing here waits for it any more.
  void on_blob_lost(const Hash256& hash);

 private:
  bool stage_image(Time now, Actions& out);
  Result<const wire::pb::TaskRow*> with_files(Time now, const wire::pb::TaskRow& row, Actions& out);
  void ask_files(const std::vector<std::uint32_t>& tasks, Actions& out) const;

  struct FetchingManifest {};
  struct FetchingModule {
    std::set<Hash256> missing;
  };
  struct Staged {};
  struct Loading {
    WorkerId worker;
  };
  struct Ready {
    WorkerId worker;
  };

  using Chunk = Swarm::Chunk;

  // Asks the swarm for a chunk and holds it. Kind::overloaded: there is no room.
  Status hold(Time now, const Chunk& chunk, Actions& out);
  void hold_code(Time now, const Hash256& hash, std::set<Hash256>& missing, Actions& out);
  Status hold_input(Time now, const Chunk& chunk, Actions& out);
  void let_go(const Hash256& hash, Actions& out);
  void take_manifest(Time now, const std::string& bytes, Actions& out);

  const Config config_;
  BlobReferences& blobs_;
  Swarm& swarm_;
  HostedStorage& storage_;
  const Source source_;
  std::variant<FetchingManifest, FetchingModule, Staged, Loading, Ready> stage_;
  std::uint32_t failed_loads_ = 0;  // one after the other
  Time restart_at_{0};
  std::optional<Manifest> manifest_;
  std::map<Hash256, std::uint32_t> inputs_;  // the chunks that the worker may ask for, and their sizes, beside the inputs that rows name
  std::set<Hash256> held_;                   // manifest, module, image, inputs
  std::deque<Hash256> held_inputs_;          // of those, the ones that may go, the oldest first
  std::string no_room_;
  std::set<Hash256> chunk_waits_;  // the worker wants these
  RowSegments rows_;
  std::map<Hash256, std::uint32_t> row_waits_;  // segments of rows that were asked for
  PredecessorFiles files_;
  std::set<Hash256> list_waits_;                    // lists of files that were asked for
  wire::pb::TaskRow row_;                           // that was made last
  std::optional<std::set<Hash256>> image_missing_;  // pieces of the image; none: the image was not asked for
};

}  // namespace gw::job
