#include "cli/daemon/daemon_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/user_folders.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMilliseconds = static_cast<int>(std::chrono::milliseconds(DaemonProcess::kPatience).count());
constexpr std::size_t kMaxLogBytes = 64u << 20;
constexpr std::size_t kShownLogBytes = 400;

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

Result<os::UniqueFd> open_log(const fs::path& log) {
  os::UniqueFd fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return fail(Kind::invalid, "cannot write the log {}: {}", log.string(), os::reason(errno));
  return fd;
}

// The last line that a daemon wrote before it failed to start.
std::string last_words(const fs::path& log) {
  const auto bytes = os::read_file(log, kMaxLogBytes);
  if (!bytes) return "";
  std::string_view text = as_text(*bytes);
  while (text.ends_with('\n')) text.remove_suffix(1);
  text = text.substr(text.size() - std::min(text.size(), kShownLogBytes));
  return std::string(text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1));
}

struct Pipe {
  os::UniqueFd read, write;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot create a pipe: {}", os::reason(errno));
  return Pipe{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

}  // namespace

Result<fs::path> daemon_program() {
  std::error_code failure;
  const fs::path daemon = fs::read_symlink("/proc/self/exe", failure).parent_path() / "godwit-daemon";
  if (failure || !fs::exists(daemon, failure))
    return fail(Kind::not_found, "{} is missing: install it in the folder of godwit", daemon.string());
  return daemon;
}

std::filesystem::path log_file(const fs::path& state) { return state / "daemon.log"; }

std::vector<std::string> daemon_words(const fs::path& program, const DaemonOptions& options) {
  std::vector<std::string> words{program.string(), "--socket", options.socket.string(), "--state", options.state.string()};
  for (const std::string& address : options.listen) words.insert(words.end(), {"--listen", address});
  for (const std::string& address : options.join) words.insert(words.end(), {"--join", address});
  for (const std::string& grid : options.grids) words.insert(words.end(), {"--grid", grid});
  if (!options.tracker.empty()) words.insert(words.end(), {"--tracker", options.tracker});
  if (options.web) words.insert(words.end(), {"--web", options.web->empty() ? "auto" : *options.web});
  if (options.discovery == DaemonOptions::Discovery::off) words.emplace_back("--no-discovery");
  if (!options.owner.empty()) words.insert(words.end(), {"--owner", options.owner});
  if (!options.audience.empty()) words.insert(words.end(), {"--for", options.audience});
  if (options.first_grid == DaemonOptions::FirstGrid::none) words.emplace_back("--no-first-grid");
  if (!options.name.empty()) words.insert(words.end(), {"--name", options.name});
  if (options.slots) words.insert(words.end(), {"--slots", std::to_string(*options.slots)});
  if (options.keep_for) words.insert(words.end(), {"--keep-jobs", std::to_string(options.keep_for->count())});
  if (options.keep_bytes) words.insert(words.end(), {"--keep-output", std::to_string(*options.keep_bytes)});
  if (options.fetch_private) words.emplace_back("--fetch-private");
  if (options.ready_fd) words.insert(words.end(), {"--ready-fd", std::to_string(*options.ready_fd)});
  return words;
}

Result<DaemonProcess> DaemonProcess::start(const DaemonOptions& options, Life life) {
  constexpr int kReadyThere = 3;
  GW_TRY(const fs::path program, daemon_program());
  GW_TRY_VOID(os::make_private_folder(options.state));
  const fs::path log = log_file(options.state);
  GW_TRY(const os::UniqueFd log_fd, open_log(log));
  GW_TRY(Pipe input, make_pipe());
  GW_TRY(Pipe ready, make_pipe());
  const os::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<std::string> words = daemon_words(program, options);
  words.insert(words.end(), {"--log", log.string(), "--ready-fd", std::to_string(kReadyThere)});
  if (life == Life::ours) words.emplace_back("--ephemeral");
  words.insert(words.begin(), options.inside.begin(), options.inside.end());
  const int stdin_there = life == Life::ours ? input.read.get() : null.get();
  GW_TRY(
      os::ChildProcess child,
      os::ChildProcess::start({.argv = std::move(words),
                               .env = environment(),
                               .descriptors = {{stdin_there, 0}, {log_fd.get(), 1}, {log_fd.get(), 2}, {ready.write.get(), kReadyThere}}}));
  ready.write.reset();
  DaemonProcess daemon(options.socket, std::move(child), std::move(input.write));
  GW_TRY_VOID(daemon.wait_until_ready(ready.read, log));
  return daemon;
}

// The daemon writes a byte when it is ready; a daemon that fails closes the pipe.
Status DaemonProcess::wait_until_ready(const os::UniqueFd& ready, const fs::path& log) {
  pollfd spoke{.fd = ready.get(), .events = POLLIN, .revents = 0};
  if (::poll(&spoke, 1, kPatienceMilliseconds) == 0)
    return fail(Kind::timeout, "the daemon is not ready after {} s: see its log, {}", kPatience.count(), log.string());
  char word = 0;
  if (::read(ready.get(), &word, 1) <= 0)
    return fail(Kind::internal, "the daemon failed to start: {} (see {})", last_words(log), log.string());
  GW_TRY(view_, gateway::Client(socket_).node());
  return ok();
}

void DaemonProcess::stop() {
  (void)gateway::Client(socket_).stop();  // the destructor kills a daemon that does not answer
  input_.reset();
  pollfd exited{.fd = child_.exited_fd(), .events = POLLIN, .revents = 0};
  ::poll(&exited, 1, kPatienceMilliseconds);
}

}  // namespace gw::cli
