#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cli/console/console.h"
#include "cli/console/output_relay.h"
#include "cli/console/output_text.h"
#include "node/embedded/job_outcome.h"

namespace gw::cli {

// Shows a program that runs in this command. Its output goes straight to ours, except in two cases, where it passes through a relay: with
// -o json it becomes events, one JSON object per line; on a terminal a line about the last checkpoint is shown below it.
//
// The observer's calls come on the thread of EmbeddedPeer::run(), output on the relay's; a mutex orders them.
class JobScreen final : public node::JobObserver {
 public:
  enum class Checkpoints { none, some };
  static Result<std::unique_ptr<JobScreen>> make(Console& console, Checkpoints checkpoints);

  // The descriptors that the job writes to.
  int output() const { return relay_ ? relay_->output() : 1; }
  int errors() const { return relay_ ? relay_->errors() : 2; }

  void on_checkpoint(const Checkpoint& checkpoint) override;
  void on_forked(job::ThreadId parent, job::ThreadId child) override;
  void on_report(job::ThreadId thread, ByteView bytes) override;

  // Waits until all output of the job has been printed.
  void finish();
  // REQUIRES: finished, -o json.
  void print_end(Json fields);

 private:
  explicit JobScreen(Console& console) : console_(console) {}
  bool json() const { return console_.format() == Format::json; }
  void show(OutputRelay::Stream stream, ByteView bytes);
  void print_output(OutputRelay::Stream stream, ByteView bytes);
  void print_piece(OutputRelay::Stream stream, ByteView bytes);
  void print_event(std::string_view name, Json fields);

  Console& console_;
  std::mutex mutex_;
  Utf8Pieces pieces_[2];       // json
  bool at_line_start_ = true;  // terminal: a line of ours may follow
  std::unique_ptr<OutputRelay> relay_;
};

}  // namespace gw::cli
