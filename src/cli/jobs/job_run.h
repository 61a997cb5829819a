#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/command_tree.h"
#include "cli/console/interrupts.h"
#include "cli/console/job_screen.h"
#include "cli/jobs/image_destination.h"
#include "cli/settings/run_options.h"
#include "node/embedded/embedded_peer.h"

namespace gw::cli {

// The message about a program that was suspended to a file: how to continue it.
std::string suspended_to(const std::string& file, std::uint64_t bytes, const wire::pb::JobSpec& spec);

// A call of `run` or `resume` around a job: its descriptors, Ctrl-C, where its image goes, the message at its end.
//
// Made before the job, because from then on signals are held back and the job is told where to write. One thread.
class JobRun {
 public:
  // `program` is the file the job comes from.
  static Result<std::unique_ptr<JobRun>> prepare(const RunOptions& options, const std::filesystem::path& program, Invocation& invocation);

  const node::EmbeddedPeer::Config& config() const { return *config_; }
  const ImageDestination& destination() const { return destination_; }

  // Runs the job to its end or a stop, and returns the exit code of the command. `file`: where it is written down.
  Result<int> carry_out(node::EmbeddedPeer& job, const std::optional<std::filesystem::path>& file);
  // Whether the program has ended by itself.
  bool ended() const { return ended_; }

 private:
  JobRun(Invocation& invocation, ImageDestination destination) : invocation_(invocation), destination_(std::move(destination)) {}
  Status open(const RunOptions& options);

  struct End {
    ExitCode code = ExitCode::ok;
    int process_code = 0;             // what the command exits with
    std::string reason;               // for scripts
    std::string sentence;             // for users; empty: none
    std::string file;                 // to resume from
    std::optional<int> program_code;  // if the program ended by itself
  };
  Result<End> explain(const node::JobOutcome& outcome, const std::optional<std::filesystem::path>& file);
  End explain_end(const node::JobEnded& ended) const;
  Result<End> explain_suspended(const node::JobSuspended& suspended, bool has_file);
  void tell(const End& end, const node::JobOutcome& outcome);

  Invocation& invocation_;
  ImageDestination destination_;
  std::unique_ptr<Interrupts> interrupts_;
  std::unique_ptr<JobScreen> screen_;
  std::optional<node::NativeCode> code_;
  std::optional<node::EmbeddedPeer::Config> config_;
  wire::pb::JobSpec spec_;  // of the job that is carried out
  bool ended_ = false;
};

}  // namespace gw::cli
