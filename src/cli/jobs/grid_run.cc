#include "cli/jobs/grid_run.h"

#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "cli/console/grid_screen.h"
#include "cli/console/interrupts.h"
#include "cli/console/quantity.h"
#include "cli/daemon/daemon_process.h"
#include "cli/jobs/image_destination.h"
#include "cli/jobs/image_export.h"
#include "cli/jobs/input_feeder.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/job_run.h"
#include "cli/settings/submitter_key.h"
#include "gateway/view_json.h"
#include "node/jobs/task_output_files.h"
#include "os/files/file.h"
#include "wire/messages/output_file_frames.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;
using wire::OutputFileReader;

// The daemon that a job is submitted to: a running one, or one started for this command in a temporary folder.
struct Home {
  fs::path socket;
  std::optional<os::TempDir> folder = std::nullopt;
  std::optional<DaemonProcess> own = std::nullopt;
};

Result<Home> find_home(const GridJob& job, Attachment attachment, Invocation& invocation) {
  const fs::path socket = invocation.settings.socket();
  const auto there = gateway::Client(socket).node();
  if (there) return Home{.socket = socket};
  // A named socket or grid means a certain daemon, and a detached job needs one that stays.
  const bool named = invocation.settings.is_chosen(Key::socket) || !job.grid.empty();
  const bool stays = attachment == Attachment::detached || (job.suspend_after && !job.image_file);
  const bool needs_daemon = named || stays;
  if (there.error().kind != Kind::disconnected || needs_daemon) return there.error();
  invocation.console.progress("starting a daemon for this job...");
  GW_TRY(os::TempDir folder, os::TempDir::make());
  Home home{.socket = folder.path() / "socket"};
  const DaemonOptions options{.socket = home.socket, .state = folder.path() / "state", .listen = {"127.0.0.1:0"}};
  GW_TRY(DaemonProcess own, DaemonProcess::start(options, DaemonProcess::Life::ours));
  home.own.emplace(std::move(own));
  home.folder = std::move(folder);
  return home;
}

// Follows one job after it was accepted.
class GridRun {
 public:
  // `image`: where the suspended job goes; none: it stays with the daemon.
  GridRun(Invocation& invocation, Home& home, const job::JobId& id, const GridJob& job, std::optional<ImageDestination> image)
      : invocation_(invocation),
        home_(home),
        id_(id),
        job_(job),
        has_outputs_(job.sweep ? !job.sweep->outputs().empty() : !job.outputs.empty()),
        image_(std::move(image)),
        files_(job.outputs),
        task_files_([this](std::uint64_t thread) { return mounts_of(thread); }),
        screen_(invocation.console, JobProgress(job.selected.value_or(tasks_of(job))),
                job.selected.value_or(tasks_of(job)) > 1 ? GridScreen::usual_for_tasks(invocation.console, job.label)
                                                         : GridScreen::Shown::unchanged),
        follower_(home.socket, id, home.own ? JobFollower::IfGone::fail : JobFollower::IfGone::wait) {}

  // `input`: the descriptor of its standard input, if it has one.
  Result<int> carry_out(Interrupts& interrupts, std::optional<int> input);
  // Prints the id of the job and leaves it running.
  int leave();

 private:
  void on_output(node::Stream stream, std::string_view bytes);
  void on_event(const node::JobEvent& event);
  Status place_files();
  Result<std::vector<node::Mount>> mounts_of(std::uint64_t thread) const;
  int tell_end(const node::JobEvent::Over& over);
  bool suspends() const { return job_.suspend_after || image_; }
  void note_written(GridScreen::Written written);
  void ask_to_suspend();
  void suspend_when_asked(std::stop_token over);
  Result<int> tell_suspended(ExitCode exit_code);
  Result<std::string> export_job();
  Result<int> tell_detached();
  void print_end(std::string_view reason, int exit_code, const std::string& sentence);

  Invocation& invocation_;
  Home& home_;
  const job::JobId id_;
  const GridJob& job_;
  const bool has_outputs_;
  const std::optional<ImageDestination> image_;
  node::OutputFiles files_;
  node::TaskOutputFiles task_files_;         // of an array, instead
  OutputFileReader reader_;                  // of the stream of files, like the next one on the thread of that stream
  std::atomic<bool> output_closed_ = false;  // by its reader; set on a thread of the follower
  Status received_ = ok();
  GridScreen screen_;
  JobFollower follower_;
  std::unique_ptr<InputFeeder> feeder_;  // null: the program has no input
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool suspend_asked_ = false;  // guarded by mutex_
};

int GridRun::leave() {
  Console& console = invocation_.console;
  console.clear_progress();
  if (console.format() == Format::json) {
    screen_.print("submitted", {{"job", id_.hash.hex()}});
  } else {
    console.print_text(id_.hash.hex() + "\n");
  }
  if (has_outputs_ && console.err().is_terminal)
    console.note(fmt::format("its output files stay with the daemon: fetch them with 'godwit job files {} --into FOLDER'", id_.brief()));
  return 0;
}

Result<int> GridRun::carry_out(Interrupts& interrupts, std::optional<int> input) {
  if (invocation_.console.format() == Format::json) screen_.print("submitted", {{"job", id_.hash.hex()}});
  if (input) {
    GW_TRY(feeder_, InputFeeder::start(home_.socket, id_, *input));
  }
  // Ctrl-C detaches. Only if the user has named an image it suspends the job to it first, as without --workers.
  interrupts.watch({[this] { image_ ? ask_to_suspend() : follower_.detach(); }, [this] { follower_.detach(); }});
  std::jthread suspender;
  if (suspends()) suspender = std::jthread([this](std::stop_token over) { suspend_when_asked(std::move(over)); });
  JobFollower::Sinks sinks{.streams = {},
                           .output = [this](node::Stream stream, std::string_view bytes) { on_output(stream, bytes); },
                           .event = [this](const node::JobEvent& event) { on_event(event); },
                           .until_suspended = suspends()};
  if (job_.keep_order) sinks.streams = {node::Stream::output, node::Stream::errors};
  if (!job_.keep_order) sinks.frame = [this](const wire::pb::OutputFrame& frame) { note_written(screen_.on_frame(frame)); };
  if (has_outputs_) sinks.streams.push_back(node::Stream::files);
  const auto over = follower_.follow(sinks);
  suspender.request_stop();
  interrupts.stop();
  const bool suspended = follower_.suspended();
  const bool goes_on = over && !*over && !home_.own && !suspended;
  if (feeder_) feeder_->stop(goes_on ? InputFeeder::Afterwards::goes_on : InputFeeder::Afterwards::over);
  screen_.finish();
  if (!over) return over.error();
  if (!*over) return suspended ? tell_suspended(interrupts.came() ? ExitCode::interrupted : ExitCode::suspended) : tell_detached();
  GW_TRY_VOID(place_files());
  return tell_end(**over);
}

void GridRun::on_output(node::Stream stream, std::string_view bytes) {
  if (stream != node::Stream::files) return note_written(screen_.on_output(stream, bytes));
  if (!received_) return;
  received_ = reader_.add(bytes, [this](const wire::pb::Effect::OutputFile& piece) {
    if (!job_.sweep) return files_.take(piece);
    task_files_.take(piece);
    return ok();
  });
}

// Output files still have to arrive after the reader of standard output has closed it.
void GridRun::note_written(GridScreen::Written written) {
  if (written == GridScreen::Written::yes || has_outputs_) return;
  output_closed_ = true;
  follower_.detach();
}

void GridRun::ask_to_suspend() {
  const std::lock_guard lock(mutex_);
  suspend_asked_ = true;
  woken_.notify_all();
}

// Suspends the job after the time of --suspend-after, or on Ctrl-C. A refusal means that the job has ended, or another user suspended it.
void GridRun::suspend_when_asked(std::stop_token over) {
  {
    std::unique_lock lock(mutex_);
    const auto asked = [this] { return suspend_asked_; };
    if (job_.suspend_after) {
      woken_.wait_for(lock, over, *job_.suspend_after, asked);
    } else {
      woken_.wait(lock, over, asked);
    }
  }
  if (!over.stop_requested()) (void)gateway::Client(home_.socket).suspend(id_);
}

void GridRun::on_event(const node::JobEvent& event) {
  const auto* wanted = std::get_if<node::JobEvent::InputWanted>(&event.kind);
  if (wanted == nullptr) return screen_.on_event(event);
  if (feeder_) feeder_->on_wanted(wanted->piece);
}

Status GridRun::place_files() {
  GW_TRY_VOID(received_);
  if (!reader_.complete())
    return fail(Kind::corrupt,
                "the daemon sent the output files of the program only in part: fetch them again with 'godwit job files {} --output "
                "HOST:GUEST'",
                id_.brief());
  if (!job_.sweep) return files_.place();
  task_files_.finish();
  const auto& failures = task_files_.failures();
  if (failures.empty()) return ok();
  return fail(Kind::internal, "the output files of {} could not be written, the first: {}", counted(failures.size(), "task"),
              failures.begin()->second);
}

Result<std::vector<node::Mount>> GridRun::mounts_of(std::uint64_t thread) const {
  const auto task = job::task_of_thread(job::ThreadId(thread), tasks_of(job_));
  if (!task) return fail(Kind::invalid, "thread {} is no task of the job and has no output files", thread);
  return job_.sweep->outputs().of(job_.sweep->tasks(), *task);
}

int GridRun::tell_end(const node::JobEvent::Over& over) {
  const int code = exit_code_of(over);
  std::string summary = screen_.progress().summary();
  if (!over.sentence.empty()) summary += "; " + over.sentence;
  print_end(gateway::name(over.state), code, summary);
  Console& console = invocation_.console;
  if (over.state == node::JobState::failed) {
    const std::string list =
        job_.sweep || job_.selected ? fmt::format(". List the failed tasks: godwit task list {} --filter failed", id_.brief()) : "";
    console.report(fail(Kind::guest_fault, "the job failed: {}{}", summary, list), static_cast<ExitCode>(code), "godwit run");
  } else if (over.state == node::JobState::cancelled || console.err().is_terminal) {
    console.note(fmt::format("{}: {}", gateway::name(over.state), summary));
  }
  return code;
}

Result<int> GridRun::tell_suspended(ExitCode exit_code) {
  const int code = static_cast<int>(exit_code);
  std::string sentence = fmt::format("job {0} is suspended; continue it with: godwit job resume {0}", id_.brief());
  if (image_) {
    GW_TRY(sentence, export_job());
  }
  print_end("suspended", code, sentence);
  invocation_.console.note(sentence);
  return code;
}

// The job continues from the file, so the daemon's copy is cancelled: otherwise the program would run twice.
Result<std::string> GridRun::export_job() {
  gateway::Client client(home_.socket);
  GW_TRY(const std::uint64_t bytes, export_image(client, id_, job_.spec, job_.image_pages, image_->temporary()));
  GW_TRY(const fs::path file, image_->rename_temporary());
  GW_TRY_VOID(client.cancel(id_));
  return suspended_to(file.string(), bytes, job_.spec);
}

Result<int> GridRun::tell_detached() {
  constexpr int kCode = static_cast<int>(ExitCode::interrupted);
  const std::string name = id_.brief();
  if (home_.own) {
    print_end("cancelled", kCode, "the job was cancelled with this command");
    invocation_.console.note("the job was cancelled with this command: start a daemon with 'godwit up' to let jobs continue without it");
    return kCode;
  }
  print_end("detached", kCode, "the job continues");
  invocation_.console.note(fmt::format(
      "{}detached from job {}, which continues{}. Follow it: godwit job logs {} --follow; wait for it: godwit job wait {}; cancel "
      "it: godwit job cancel {}",
      output_closed_ ? "the output was closed: " : "", name, has_outputs_ ? " (its output files stay with the daemon)" : "", name, name,
      name));
  return kCode;
}

void GridRun::print_end(std::string_view reason, int exit_code, const std::string& sentence) {
  if (invocation_.console.format() != Format::json) return;
  screen_.print("end", {{"job", id_.hash.hex()}, {"reason", reason}, {"exit_code", exit_code}, {"sentence", sentence}});
}

}  // namespace

int exit_code_of(const node::JobEvent::Over& over) {
  if (over.state == node::JobState::cancelled) return static_cast<int>(ExitCode::failed);
  const int code = static_cast<int>(over.exit_code & 0xff);
  return over.state == node::JobState::failed && code == 0 ? static_cast<int>(ExitCode::failed) : code;
}

Result<int> follow_on_grid(const job::JobId& id, const GridJob& job, Attachment attachment, Invocation& invocation) {
  GW_TRY(auto interrupts, Interrupts::make());  // before any thread, which would take the signals
  ::signal(SIGPIPE, SIG_IGN);                   // as in run_on_grid()
  Home home{.socket = invocation.settings.socket()};
  GridRun run(invocation, home, id, job, std::nullopt);
  return attachment == Attachment::detached ? run.leave() : run.carry_out(*interrupts, std::nullopt);
}

Result<int> run_on_grid(const GridJob& job, Attachment attachment, Invocation& invocation) {
  GW_TRY(auto interrupts, Interrupts::make());  // before any thread, which would take the signals
  // A job outlives its command, so a reader that closes the pipe ('run | head -1') detaches instead of ending this process without a word.
  ::signal(SIGPIPE, SIG_IGN);
  std::optional<ImageDestination> image;
  if (job.image_file) {
    GW_TRY(image, ImageDestination::make(job.image_file->string(), ""));
  }
  GW_TRY(const SigningKey key, load_or_make_submitter_key(usual_submitter_key()));
  GW_TRY(Home home, find_home(job, attachment, invocation));
  gateway::Client client(home.socket);
  const auto show = [&](std::uint64_t stored) { invocation.console.progress(fmt::format("uploading {}...", human_bytes(stored))); };
  GW_TRY(const job::JobId id, submit(client, job, key, show));
  GridRun run(invocation, home, id, job, std::move(image));
  if (attachment == Attachment::detached) return run.leave();
  auto code = run.carry_out(*interrupts, job.input);
  if (home.own) home.own->stop();
  return code;
}

}  // namespace gw::cli
