#include "cli/console/grid_screen.h"

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
    if (const auto* failed = std::get_if<node::JobEvent::ThreadFailed>(&event.kind))
      console_.note("thread " + gateway::thread_text(failed->thread) + " failed: " + failed->sentence);
    if (const auto* ended = std::get_if<node::JobEvent::ThreadEnded>(&event.kind); ended != nullptr && !ended->sentence.empty())
      console_.note("thread " + gateway::thread_text(ended->thread) + " " + ended->sentence);
    return show_progress();
  }
  // The output itself is printed, so its size need not be.
  if (std::holds_alternative<node::JobEvent::OutputGrew>(event.kind)) return;
  Json fields = gateway::to_json(event);
  const std::string name = fields["event"];
  fields.erase("event");
  print(name, std::move(fields));
}

void GridScreen::show_progress() {
  if (at_line_start_) console_.progress(progress_.line());
}

void GridScreen::print_output(node::Stream stream, ByteView bytes) {
  Json fields = {{"stream", stream == node::Stream::output ? "stdout" : "stderr"}};
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
  if (console_.format() != Format::json) return;
  for (const node::Stream stream : {node::Stream::output, node::Stream::errors})
    if (const Bytes rest = pieces_[index_of(stream)].rest(); !rest.empty()) print_output(stream, rest);
}

}  // namespace gw::cli
