#include "cli/daemon_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "os/file.h"
#include "os/io.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kLookEveryMilliseconds = 20;
constexpr std::size_t kMaxLogBytes = 64u << 20;
constexpr std::size_t kShownLogBytes = 400;

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

Result<os::UniqueFd> open_log(const fs::path& log) {
  std::error_code failure;
  fs::create_directories(log.parent_path(), failure);  // whether it is there, opening will show
  os::UniqueFd fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return fail(Kind::invalid, "the log {} cannot be written: {}", log.string(), os::reason(errno));
  return fd;
}

// The last words of a daemon that did not start.
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
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Kind::internal, "there is no pipe to be had: {}", os::reason(errno));
  return Pipe{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

}  // namespace

Result<fs::path> daemon_program() {
  std::error_code failure;
  const fs::path daemon = fs::read_symlink("/proc/self/exe", failure).parent_path() / "godwit-daemon";
  if (failure || !fs::exists(daemon, failure))
    return fail(Kind::not_found, "{} is missing: it belongs beside godwit, install both", daemon.string());
  return daemon;
}

std::vector<std::string> daemon_words(const fs::path& program, const DaemonOptions& options) {
  std::vector<std::string> words{program.string(), "--socket", options.socket.string()};
  if (!options.state.empty()) words.insert(words.end(), {"--state", options.state.string()});
  if (!options.listen.empty()) words.insert(words.end(), {"--listen", options.listen});
  for (const std::string& address : options.join) words.insert(words.end(), {"--join", address});
  for (const std::string& grid : options.grids) words.insert(words.end(), {"--grid", grid});
  if (options.slots) words.insert(words.end(), {"--slots", std::to_string(*options.slots)});
  return words;
}

Result<DaemonProcess> DaemonProcess::start(const DaemonOptions& options, const fs::path& log, Life life) {
  GW_TRY(const fs::path program, daemon_program());
  GW_TRY(const os::UniqueFd log_fd, open_log(log));
  GW_TRY(Pipe pipe, make_pipe());
  const os::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<std::string> words = daemon_words(program, options);
  if (life == Life::ours) words.emplace_back("--ephemeral");
  const int input = life == Life::ours ? pipe.read.get() : null.get();
  GW_TRY(os::ChildProcess child,
         os::ChildProcess::start(
             {.argv = std::move(words), .env = environment(), .descriptors = {{input, 0}, {log_fd.get(), 1}, {log_fd.get(), 2}}}));
  DaemonProcess daemon(options.socket, std::move(child), std::move(pipe.write));
  GW_TRY_VOID(daemon.wait_until_ready(log));
  return daemon;
}

Status DaemonProcess::wait_until_ready(const fs::path& log) {
  gateway::Client client(socket_);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    // First who lives, then who answers: the answer of another daemon at this socket does not count.
    const bool ended = child_.status().has_value();
    auto view = client.node();
    if (ended) return fail(Kind::internal, "the daemon did not start: {} (more in {})", last_words(log), log.string());
    if (view) {
      view_ = std::move(*view);
      return ok();
    }
    pollfd exited{.fd = child_.exited_fd(), .events = POLLIN, .revents = 0};
    ::poll(&exited, 1, kLookEveryMilliseconds);
  }
  return fail(Kind::timeout, "the daemon does not answer within {} s; its log is {}", kPatience.count(), log.string());
}

void DaemonProcess::stop() {
  (void)gateway::Client(socket_).stop();  // one that does not answer is killed with this object
  input_.reset();
  pollfd exited{.fd = child_.exited_fd(), .events = POLLIN, .revents = 0};
  ::poll(&exited, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
}

}  // namespace gw::cli
