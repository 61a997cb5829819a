#include "cli/console/grid_screen.h"

#include <fmt/core.h>

#include "cli/console/quantity.h"
#include "gateway/view_json.h"
#include "os/files/io.h"

namespace gw::cli {
namespace {

constexpr const char* kSchema = "godwit.job.event/1";

std::size_t index_of(node::Stream stream) { return stream == node::Stream::output ? 0 : 1; }

}  // namespace

GridScreen::Written GridScreen::on_output(node::Stream stream, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (console_.format() == Format::json) {
    const Bytes text = pieces_[index_of(stream)].take(as_bytes(bytes));
    if (!text.empty()) print_output(stream, text);
    return Written::yes;
  }
  return write(stream, bytes);
}

GridScreen::Shown GridScreen::usual_for_tasks(const Console& console, bool labels) {
  return labels || console.out().is_terminal ? Shown::labelled_lines : Shown::lines;
}

GridScreen::Written GridScreen::on_frame(const wire::pb::OutputFrame& frame) {
  const std::lock_guard lock(mutex_);
  const auto stream = static_cast<node::Stream>(frame.stream());
  const LineOutput::Source source{job::ThreadId{frame.thread()}, frame.task(), stream};
  if (console_.format() == Format::json) {
    Utf8Pieces pieces = std::move(task_pieces_[source]);
    const Bytes text = pieces.take(as_bytes(frame.bytes()));
    if (!text.empty()) print_output(stream, text, frame.task());
    pieces.empty() ? (void)task_pieces_.erase(source) : (void)(task_pieces_[source] = std::move(pieces));
    return Written::yes;
  }
  if (shown_ == Shown::unchanged) return write(stream, frame.bytes());
  const auto labels = shown_ == Shown::labelled_lines ? LineOutput::Labels::tasks : LineOutput::Labels::none;
  const std::string text = lines_.take(source, frame.bytes(), labels);
  return text.empty() ? Written::yes : write(stream, text);
}

GridScreen::Written GridScreen::write(node::Stream stream, std::string_view bytes) {
  const bool output = stream == node::Stream::output;
  console_.clear_progress();
  if (!os::write_fully(output ? 1 : 2, as_bytes(bytes))) return Written::no;
  if ((output ? console_.out() : console_.err()).is_terminal) at_line_start_ = bytes.back() == '\n';
  show_progress();
  return Written::yes;
}

void GridScreen::on_event(const node::JobEvent& event) {
  const std::lock_guard lock(mutex_);
  progress_.take(event);
  if (console_.format() != Format::json) {
    note_failures(event);
    return show_progress();
  }
  // The output itself is printed, so its size need not be.
  if (std::holds_alternative<node::JobEvent::OutputGrew>(event.kind)) return;
  Json fields = gateway::to_json(event);
  const std::string name = fields["event"];
  fields.erase("event");
  print(name, std::move(fields));
}

void GridScreen::note_failures(const node::JobEvent& event) {
  constexpr std::uint64_t kMostTasks = 20;  // then the summary and 'task list' tell
  if (const auto* failed = std::get_if<node::JobEvent::ThreadFailed>(&event.kind))
    console_.note("thread " + gateway::thread_text(failed->thread) + " failed: " + failed->sentence);
  if (const auto* ended = std::get_if<node::JobEvent::ThreadEnded>(&event.kind); ended != nullptr && !ended->sentence.empty())
    console_.note("thread " + gateway::thread_text(ended->thread) + " " + ended->sentence);
  if (const auto* skipped = std::get_if<node::JobEvent::TasksSkipped>(&event.kind)) {
    std::uint64_t count = 0;
    for (const job::TaskSpan& span : skipped->tasks) count += span.count;
    console_.note(fmt::format("{} {}", counted(count, "task"), skipped->sentence));
  }
  const auto* tasks = std::get_if<node::JobEvent::TasksEnded>(&event.kind);
  for (std::size_t i = 0; tasks != nullptr && i < tasks->failures.size() && failures_noted_ < kMostTasks; ++i, ++failures_noted_) {
    const auto& failure = tasks->failures[i];
    console_.note(failure.sentence.empty() ? fmt::format("task {} failed: it exited with code {}", failure.task, failure.exit_code)
                                           : fmt::format("task {} failed: {}", failure.task, failure.sentence));
  }
}

void GridScreen::show_progress() {
  if (at_line_start_) console_.progress(progress_.line());
}

void GridScreen::print_output(node::Stream stream, ByteView bytes, std::optional<std::int64_t> task) {
  Json fields = {{"stream", stream == node::Stream::output ? "stdout" : "stderr"}};
  if (task) fields["task"] = *task >= 0 ? Json(*task) : Json();
  fields.update(bytes_as_json(bytes));
  print("output", std::move(fields));
}

void GridScreen::print(std::string_view event, Json fields) {
  Json line = {{"schema", kSchema}, {"event", event}};
  line.update(fields);
  console_.print_line(line);
}

void GridScreen::finish() {
  const std::lock_guard lock(mutex_);
  console_.clear_progress();
  for (const auto& [stream, text] : lines_.rest()) (void)write(stream, text);
  console_.clear_progress();
  if (console_.format() != Format::json) return;
  for (auto& [source, pieces] : task_pieces_)
    if (const Bytes rest = pieces.rest(); !rest.empty()) print_output(source.stream, rest, source.task);
  for (const node::Stream stream : {node::Stream::output, node::Stream::errors})
    if (const Bytes rest = pieces_[index_of(stream)].rest(); !rest.empty()) print_output(stream, rest);
}

}  // namespace gw::cli
