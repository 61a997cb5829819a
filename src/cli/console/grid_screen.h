#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "cli/console/console.h"
#include "cli/console/job_progress.h"
#include "cli/console/line_output.h"
#include "cli/console/output_text.h"
#include "node/control.h"

namespace gw::cli {

// Shows a job that runs on peers: its output, with a progress line below it on a terminal; with -o json every event as one line of JSON.
// The output of one task is shown unchanged. That of several tasks is shown in whole lines, which begin with the number of their task on a
// terminal, or if the user asks for labels. Any thread: a mutex orders the calls.
class GridScreen {
 public:
  enum class Shown : std::uint8_t { unchanged, lines, labelled_lines };
  GridScreen(Console& console, JobProgress progress, Shown shown = Shown::unchanged)
      : console_(console), progress_(std::move(progress)), shown_(shown) {}
  // How the output of an array is shown if the user asks for nothing else.
  static Shown usual_for_tasks(const Console& console, bool labels);

  // no: the reader of that stream has closed it.
  enum class Written : std::uint8_t { yes, no };
  Written on_output(node::Stream stream, std::string_view bytes);
  Written on_frame(const wire::pb::OutputFrame& frame);
  void on_event(const node::JobEvent& event);
  // Prints what is left. Afterwards the caller may use the console.
  void finish();
  // REQUIRES: -o json.
  void print(std::string_view event, Json fields);

  const JobProgress& progress() const { return progress_; }

 private:
  void print_output(node::Stream stream, ByteView bytes, std::optional<std::int64_t> task = {});
  Written write(node::Stream stream, std::string_view bytes);
  void note_failures(const node::JobEvent& event);
  void show_progress();

  Console& console_;
  std::mutex mutex_;
  JobProgress progress_;
  const Shown shown_;
  LineOutput lines_;
  std::map<LineOutput::Source, Utf8Pieces> task_pieces_;  // with -o json: of sources that have printed half a character
  Utf8Pieces pieces_[2];
  std::uint64_t failures_noted_ = 0;
  bool at_line_start_ = true;  // on a terminal: the progress line may follow
};

}  // namespace gw::cli
