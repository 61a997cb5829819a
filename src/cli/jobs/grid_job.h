#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/signature.h"
#include "cli/jobs/placing_options.h"
#include "cli/jobs/sweep.h"
#include "cli/jobs/url_inputs.h"
#include "gateway/client.h"
#include "node/jobs/job_files.h"
#include "os/files/unique_fd.h"
#include "wire/image/image.h"
#include "wire/job_spec.pb.h"
#include "wire/names.h"
#include "wire/peer.pb.h"

namespace gw::cli {

// A job for peers, as `run --workers` puts it together: one program, its configuration, an array of tasks.
struct GridJob {
  Bytes module;                           // mobile
  std::optional<wire::Image> image = {};  // that a job of one task begins with (node::image_for_new_job); none: it starts
  wire::pb::ThreadConfig config;          // of all tasks, without input files
  node::InputFiles inputs;                // seen by all tasks
  std::vector<UrlInput> urls = {};        // seen by all tasks too; the daemon fetches them
  std::vector<node::Mount> outputs;       // of a job that is no array
  std::optional<int> input = {};          // of a job that is no array: the descriptor of its standard input; none: an empty one
  os::UniqueFd input_file = {};           // the same, if it is a file that was named
  std::optional<wire::pb::InputEntry> stdin_file = {};  // of a job that is no array and that no command stays with
  std::optional<Sweep> sweep = {};                      // none: one main thread, which may fork
  std::chrono::nanoseconds promote_after =
      std::chrono::seconds(1);                 // a task that runs longer becomes a thread; 0: all are from their start
  bool prefetch = true;                        // false: a task leaves home when a slot is free for it
  std::optional<std::uint32_t> selected = {};  // how many of the tasks the job has; none: all
  std::string name = {};                       // of the job; empty: that of its program
  std::string key = {};                        // empty: none
  std::uint32_t retries = 0;                   // of a task that fails
  std::uint32_t stop_after_failures = 0;       // 0: never
  bool keep_order = false;                     // output is shown in the order of the tasks
  bool label = false;                          // with the number of its task
  std::string grid;                            // its name; empty: the first of the peer it is handed to
  std::uint32_t workers = 1;                   // at most so many threads at once
  std::uint32_t priority = 0;                  // among the jobs of the same user
  JobPlacing placing = {};                     // where it runs, and how long
  std::vector<std::string> after = {};         // ids of jobs that have to end well before, or their first digits
  std::optional<std::chrono::milliseconds> suspend_after = {};
  std::optional<std::filesystem::path> image_file = {};  // where a suspended job goes, instead of staying with the daemon
  wire::Storage image_pages = wire::Storage::raw;        // and how
  wire::pb::JobSpec spec = {};                           // the words of the command, for an image of it
  std::uint64_t checkpoint_every_ns = 0;                 // 0: never
  wire::pb::Limits limits;
};

inline std::uint32_t tasks_of(const GridJob& job) { return job.sweep ? job.sweep->tasks().count : 1; }

// How many times a worker may die under one thread before the thread is given up.
inline constexpr std::uint32_t kMaxFailures = 5;

// The manifest of the job: the module and the inputs by the hashes of their pieces, GODWIT_TASK=k and GODWIT_TASKS=M in the environment of
// task k of M.
wire::pb::Manifest to_manifest(const GridJob& job);

// Signs a charter that names the daemon's peer as the home of the job, and hands it to the daemon with the rest of the submission, whose
// pieces the daemon has.
Result<job::JobId> submit(gateway::Client& client, wire::pb::JobSubmission submission, const std::string& grid, const std::string& job_key,
                          const SigningKey& key);

// Hands the pieces, then the charter, which names the daemon's peer as the job's home, and the manifest to the daemon. `stored` is told how
// many bytes are there.
Result<job::JobId> submit(gateway::Client& client, const GridJob& job, const SigningKey& key,
                          const std::function<void(std::uint64_t)>& stored);

}  // namespace gw::cli
