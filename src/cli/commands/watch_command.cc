#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "cli/commands/job_parts.h"
#include "cli/console/interrupts.h"
#include "cli/console/watch_screen.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_selector.h"
#include "gateway/view_json.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::cli {
namespace {

using gateway::Client;

// The terminal as a screen: no echo, keys at once, the shell's lines hidden. The destructor puts everything back.
class FullScreen {
 public:
  FullScreen() {
    if (::tcgetattr(0, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      changed_ = ::tcsetattr(0, TCSANOW, &raw) == 0;
    }
    write("\033[?1049h\033[?25l");  // the other screen, without a cursor
  }
  ~FullScreen() {
    write("\033[?25h\033[?1049l");
    if (changed_) (void)::tcsetattr(0, TCSANOW, &before_);
  }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  static void write(std::string_view text) { (void)os::write_fully(1, as_bytes(text)); }
  static std::size_t lines() {
    winsize size{};
    return ::ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ? 24 : size.ws_row;
  }
  // Shows the text from the first line on; what was there before is gone.
  static void show(const std::string& text) {
    std::string out = "\033[H";
    for (const char c : text) out += c == '\n' ? std::string("\033[K\n") : std::string(1, c);
    write(out + "\033[J");
  }

 private:
  termios before_{};
  bool changed_ = false;
};

// Waits for the next picture. False: the user leaves.
bool wait_for_key(const os::UniqueFd& stop, bool keys, std::chrono::milliseconds time) {
  pollfd waits[2] = {{stop.get(), POLLIN, 0}, {keys ? 0 : -1, POLLIN, 0}};
  if (::poll(waits, 2, static_cast<int>(time.count())) <= 0) return true;
  if ((waits[0].revents & POLLIN) != 0) return false;
  char key = 0;
  const ssize_t got = ::read(0, &key, 1);
  return got == 1 && key != 'q' && key != 'Q';
}

struct WatchOptions {
  std::string job;
};

class Watch {
 public:
  Watch(Invocation& invocation, const job::JobId& id) : invocation_(invocation), id_(id), client_(invocation.settings.socket()) {}

  // Whether the job has ended; false: the user left before.
  Result<bool> run(const os::UniqueFd& stop);
  const node::JobView& last() const { return last_; }

 private:
  static constexpr std::chrono::milliseconds kEvery{500};
  void show();

  Invocation& invocation_;
  const job::JobId id_;
  Client client_;
  WatchScreen screen_;
  node::JobView last_;
  std::string shown_;
  std::unique_ptr<FullScreen> full_;
};

void Watch::show() {
  Console& console = invocation_.console;
  if (console.format() == Format::json) {
    const auto left = screen_.left();
    Json json = {{"schema", "godwit.job.watch/1"}, {"rate", screen_.rate()}, {"left_seconds", left ? Json(left->count()) : Json()}};
    json["job"] = gateway::to_json(last_.summary);
    return console.print_line(json);
  }
  if (full_) return FullScreen::show(screen_.render(Terminal::of(1, invocation_.settings[Key::color].text), FullScreen::lines() - 1));
  if (const std::string line = screen_.line(); line != shown_) {
    shown_ = line;
    console.print_text(line + "\n");
    (void)console.flush();
  }
}

Result<bool> Watch::run(const os::UniqueFd& stop) {
  const bool terminal = invocation_.console.format() == Format::table && invocation_.console.out().is_terminal;
  if (terminal) full_ = std::make_unique<FullScreen>();
  for (;;) {
    auto view = client_.job(id_);
    if (!view) {
      full_.reset();
      return view.error();
    }
    last_ = *std::move(view);
    screen_.add(WatchScreen::Clock::now(), last_);
    show();
    const bool over = node::is_over(last_.summary.state);
    if (over || !wait_for_key(stop, terminal && ::isatty(0) == 1, kEvery)) {
      full_.reset();
      return over;
    }
  }
}

Result<int> watch(const WatchOptions& options, Invocation& invocation) {
  GW_TRY(auto interrupts, Interrupts::make());
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot make a pipe: {}", os::reason(errno));
  const os::UniqueFd stop(ends[0]), stopper(ends[1]);
  interrupts->watch({[&] { (void)os::write_fully(stopper.get(), as_bytes(std::string_view("x"))); }, [] {}});
  Watch watch(invocation, id);
  const Result<bool> over = watch.run(stop);
  interrupts->stop();
  if (!over) return over.error();
  Console& console = invocation.console;
  const bool was_screen = console.format() == Format::table && console.out().is_terminal;
  if (!*over) {
    console.note(fmt::format("left job {}, which continues", id.brief()));
    return interrupts->came() ? static_cast<int>(ExitCode::interrupted) : 0;
  }
  WatchScreen last;
  last.add(WatchScreen::Clock::now(), watch.last());
  if (was_screen) console.print_text(last.render(console.out(), 1000));
  const node::JobSummary& summary = watch.last().summary;
  return exit_code_of(node::JobEvent::Over{summary.state, summary.exit_code});
}

}  // namespace

void add_watch_command(CommandTree& tree, Command& job) {
  Command& command = tree.add(
      job, "watch",
      {.summary = "Show the progress of a job until it ends",
       .details =
           "Shows progress, rate, time left, hosts, waits and failures on a screen that is renewed twice a second; q or Ctrl-C leaves "
           "it, and the job continues. In a pipe prints a line for each change. Exits with the exit code of the job.",
       .examples = {"godwit job watch last", "godwit job watch study -o json"}});
  auto options = std::make_shared<WatchOptions>();
  command.add_argument("JOB", options->job, kJobText);
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return watch(*options, invocation); });
}

}  // namespace gw::cli
