#pragma once

#include <mutex>
#include <string>

#include "cli/console/console.h"
#include "cli/console/job_progress.h"
#include "cli/console/output_text.h"
#include "node/control.h"

namespace gw::cli {

// Shows a job that runs on peers: its output unchanged, with a progress line below it on a terminal; with -o json every event as one line
// of JSON. Any thread: a mutex orders the calls.
class GridScreen {
 public:
  GridScreen(Console& console, JobProgress progress) : console_(console), progress_(std::move(progress)) {}

  // no: the reader of that stream has closed it.
  enum class Written : std::uint8_t { yes, no };
  Written on_output(node::Stream stream, std::string_view bytes);
  void on_event(const node::JobEvent& event);
  // Prints what is left. Afterwards the caller may use the console.
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
  bool at_line_start_ = true;  // on a terminal: the progress line may follow
};

}  // namespace gw::cli
