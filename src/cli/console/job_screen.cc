#include "cli/console/job_screen.h"

#include <fmt/core.h>

#include "cli/console/output_text.h"
#include "cli/console/quantity.h"
#include "os/files/io.h"

namespace gw::cli {
namespace {

constexpr const char* kRunSchema = "godwit.run/1";

}  // namespace

Result<std::unique_ptr<JobScreen>> JobScreen::make(Console& console, Checkpoints checkpoints) {
  std::unique_ptr<JobScreen> screen(new JobScreen(console));
  const bool shows_progress = checkpoints == Checkpoints::some && console.format() == Format::table && console.err().is_terminal;
  if (screen->json() || shows_progress) {
    GW_TRY(screen->relay_, OutputRelay::start([screen = screen.get()](OutputRelay::Stream stream, ByteView bytes) {
             const std::lock_guard lock(screen->mutex_);
             screen->json() ? screen->print_output(stream, bytes) : screen->show(stream, bytes);
           }));
  }
  return screen;
}

void JobScreen::show(OutputRelay::Stream stream, ByteView bytes) {
  const bool output = stream == OutputRelay::Stream::output;
  console_.clear_progress();
  // A reader that has gone ends the process with SIGPIPE, like any filter; nothing else can be done about a failure here.
  (void)os::write_fully(output ? 1 : 2, bytes);
  if ((output ? console_.out() : console_.err()).is_terminal) at_line_start_ = bytes.back() == '\n';
}

void JobScreen::print_output(OutputRelay::Stream stream, ByteView bytes) {
  const Bytes whole = pieces_[static_cast<std::size_t>(stream)].take(bytes);
  if (!whole.empty()) print_piece(stream, whole);
}

void JobScreen::print_piece(OutputRelay::Stream stream, ByteView bytes) {
  Json fields = {{"stream", stream == OutputRelay::Stream::output ? "stdout" : "stderr"}};
  fields.update(bytes_as_json(bytes));
  print_event("output", std::move(fields));
}

void JobScreen::print_event(std::string_view name, Json fields) {
  Json event = {{"schema", kRunSchema}, {"event", name}};
  event.update(fields);
  console_.print_line(event);
}

void JobScreen::on_checkpoint(const Checkpoint& checkpoint) {
  const std::lock_guard lock(mutex_);
  if (json()) return print_event("checkpoint", {{"number", checkpoint.number}, {"bytes", checkpoint.bytes}});
  if (relay_ && at_line_start_) console_.progress(fmt::format("checkpoint {} ({})", checkpoint.number, human_bytes(checkpoint.bytes)));
}

void JobScreen::on_forked(job::ThreadId parent, job::ThreadId child) {
  const std::lock_guard lock(mutex_);
  // Ids are text, because JSON readers lose the last digits of 64-bit numbers.
  if (json()) print_event("fork", {{"parent", fmt::format("{:016x}", parent.value())}, {"child", fmt::format("{:016x}", child.value())}});
}

void JobScreen::on_report(job::ThreadId thread, ByteView bytes) {
  const std::lock_guard lock(mutex_);
  if (!json()) return console_.note(fmt::format("report: {}", fitted(as_text(bytes), 0)));
  Json fields = {{"thread", fmt::format("{:016x}", thread.value())}};
  fields.update(bytes_as_json(bytes));
  print_event("report", std::move(fields));
}

void JobScreen::finish() {
  if (!relay_) return;
  relay_->finish();
  for (const auto stream : {OutputRelay::Stream::output, OutputRelay::Stream::errors}) {
    const Bytes rest = pieces_[static_cast<std::size_t>(stream)].rest();
    if (!rest.empty()) print_piece(stream, rest);
  }
}

void JobScreen::print_end(Json fields) { print_event("end", std::move(fields)); }

}  // namespace gw::cli
