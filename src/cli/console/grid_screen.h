#pragma once

#include <mutex>
#include <string>

#include "cli/console/console.h"
#include "cli/console/job_progress.h"
#include "cli/console/output_text.h"
#include "node/control.h"

namespace gw::cli {

// What is seen of a job that runs on peers: its output as it is, on a terminal a line of progress below it; with -o json everything as
// events, one JSON object a line. Called from several threads; a mutex orders them.
class GridScreen {
 public:
  GridScreen(Console& console, JobProgress progress) : console_(console), progress_(std::move(progress)) {}

  void on_output(node::Stream stream, std::string_view bytes);
  void on_event(const node::JobEvent& event);
  // Everything that came is out. Then the console is the caller's again.
  void finish();
  // REQUIRES: -o json.
  void print(std::string_view event, Json fields);

  const JobProgress& progress() const { return progress_; }

 private:
  void print_output(node::Stream stream, ByteView bytes);
  void show_progress();

  Console& console_;
  std::mutex mutex_;
  JobProgress progress_;
  Utf8Pieces pieces_[2];
  bool at_line_start_ = true;  // terminal: a line of ours may follow
};

}  // namespace gw::cli
