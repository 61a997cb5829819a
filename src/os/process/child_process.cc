#include "os/process/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "os/files/io.h"

namespace gw::os {
namespace {

struct SpawnSettings {
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The first number above the standard ones and every number asked for.
int first_above(const std::vector<ChildProcess::Passed>& passed) {
  int above = 3;
  for (const auto& one : passed) above = std::max(above, one.theirs + 1);
  return above;
}

// Copies above every number asked for, so that placing one does not overwrite the next.
Result<std::vector<UniqueFd>> copies(const std::vector<ChildProcess::Passed>& passed) {
  const int above = first_above(passed);
  std::vector<UniqueFd> result;
  for (const auto& one : passed) {
    result.emplace_back(::fcntl(one.ours, F_DUPFD_CLOEXEC, above));
    if (!result.back()) return fail(Kind::internal, "cannot copy descriptor {} for a child process: {}", one.ours, reason(errno));
  }
  return result;
}

// Libraries open sockets that an exec does not close. A child that outlives this process for a moment would keep the port of a listening
// socket, and the next daemon could not listen on it.
void close_others(const std::vector<ChildProcess::Passed>& passed, posix_spawn_file_actions_t& actions) {
  const int above = first_above(passed);
  for (int number = 3; number < above; number++)
    if (std::ranges::find(passed, number, &ChildProcess::Passed::theirs) == passed.end())
      ::posix_spawn_file_actions_addclose(&actions, number);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, above);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Request& request) {
  GW_ASSERT(!request.argv.empty());
  GW_TRY(const auto sources, copies(request.descriptors));
  SpawnSettings settings;
  for (std::size_t i = 0; i < sources.size(); i++)
    ::posix_spawn_file_actions_adddup2(&settings.actions, sources[i].get(), request.descriptors[i].theirs);
  close_others(request.descriptors, settings.actions);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, request.argv[0].c_str(), &settings.actions, &settings.attributes, pointers(request.argv).data(),
                                  pointers(request.env).data());
  if (error != 0) return fail(error == ENOENT ? Kind::not_found : Kind::internal, "cannot start {}: {}", request.argv[0], reason(error));
  ChildProcess child(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!child.handle_) return fail(Kind::internal, "cannot watch a child process: {}", reason(errno));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), handle_(std::move(other.handle_)), status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);  // not reaped yet, so the number is still its own
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::kill() {
  if (!status_) ::syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
}

std::optional<ExitStatus> ChildProcess::status() {
  if (status_) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = ExitStatus{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0, .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  return status_;
}

}  // namespace gw::os
