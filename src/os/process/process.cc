#include "os/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "os/clock.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::os {
namespace {

using std::chrono::milliseconds;

constexpr int kExecFailed = 127;
constexpr int kAnswerFailed = 126;

struct Pipe {
  UniqueFd read_end, write_end;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot create a pipe: {}", reason(errno));
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// A file in memory instead of a pipe: nothing has to be fed while the child runs, and a child that does not read its input does no harm.
Result<UniqueFd> make_stdin(ByteView content) {
  UniqueFd fd(::memfd_create("stdin", MFD_CLOEXEC));
  if (!fd) return fail(Kind::internal, "cannot create the input of a child process: {}", reason(errno));
  Status written = write_fully(fd.get(), content);
  if (!written) return fail(Kind::internal, "cannot write the input of a child process: {}", written.error().detail);
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

// A running child with pipes on its output. Killed and reaped when it goes, if that has not happened before.
class Child {
 public:
  // `body` runs in the child with fds 0, 1 and 2 in place. It must not return to our code: its result is the exit code.
  static Result<Child> start(ByteView stdin_bytes, const std::function<int()>& body) {
    Child child;
    GW_TRY(UniqueFd input, make_stdin(stdin_bytes));
    GW_TRY(Pipe out, make_pipe());
    GW_TRY(Pipe err, make_pipe());
    std::fflush(nullptr);  // else the child could write our buffered output a second time
    const pid_t parent = ::getpid();
    child.pid_ = ::fork();
    if (child.pid_ < 0) return fail(Kind::internal, "cannot fork: {}", reason(errno));
    if (child.pid_ == 0) {
      ::setpgid(0, 0);  // a group of its own, so that a timeout also ends what the child started
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(kExecFailed);
      ::dup2(input.get(), 0);
      ::dup2(out.write_end.get(), 1);
      ::dup2(err.write_end.get(), 2);
      ::_exit(body());
    }
    ::setpgid(child.pid_, child.pid_);  // in both processes: whichever runs first
    child.exited_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
    if (!child.exited_) return fail(Kind::internal, "cannot watch a child process: {}", reason(errno));
    child.out_ = std::move(out.read_end);
    child.err_ = std::move(err.read_end);
    return child;
  }

  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), exited_(std::move(other.exited_)), out_(std::move(other.out_)), err_(std::move(other.err_)) {}

  ~Child() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    reap();
  }

  // Reads the output until both pipes are closed and the child has exited.
  Result<ProcessResult> finish(milliseconds timeout, std::size_t max_output) {
    ProcessResult result;
    const auto deadline = monotonic_now() + timeout;
    bool running = true;
    while (running || out_ || err_) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - monotonic_now());
      if (left.count() <= 0) return fail(Kind::timeout, "took longer than {} ms and was ended", timeout.count());
      std::array<pollfd, 3> watched{{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {running ? exited_.get() : -1, POLLIN, 0}}};
      const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(std::min<long>(left.count(), 1 << 30)));
      if (ready < 0 && errno != EINTR) return fail(Kind::internal, "cannot wait for a child process: {}", reason(errno));
      if (ready <= 0) continue;
      if (watched[0].revents != 0) GW_TRY_VOID(drain(out_, result.out, max_output));
      if (watched[1].revents != 0) GW_TRY_VOID(drain(err_, result.err, max_output));
      if (watched[2].revents != 0) running = false;
    }
    const int status = reap();
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
  }

 private:
  Child() = default;

  // Reads once; closes `fd` at its end.
  static Status drain(UniqueFd& fd, std::string& text, std::size_t max_output) {
    std::array<char, 64u << 10> buffer;
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return ok();
    if (got <= 0) {
      fd.reset();
      return ok();
    }
    if (text.size() + static_cast<std::size_t>(got) > max_output) {
      return fail(Kind::overloaded, "wrote more than {} bytes and was ended", max_output);
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    return ok();
  }

  int reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  UniqueFd exited_, out_, err_;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string ours = *entry;
    const bool replaced = std::ranges::any_of(additions, [&](const std::string& a) { return name_of(a) == name_of(ours); });
    if (!replaced) result.push_back(ours);
  }
  return result;
}

}  // namespace

Result<ProcessResult> run_process(const ProcessRequest& request) {
  GW_ASSERT(!request.argv.empty());
  // All memory is taken before the fork: between fork and exec only calls are safe that a signal handler may make.
  std::vector<std::string> arguments = request.argv;
  std::vector<std::string> environment = merged_environment(request.env);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  GW_TRY(Pipe start_error, make_pipe());  // closed by a successful exec, else brings us errno

  const char* const folder = request.working_dir.empty() ? nullptr : request.working_dir.c_str();
  GW_TRY(Child child, Child::start(request.stdin_bytes, [&] {
           if (folder == nullptr || ::chdir(folder) == 0) ::execvpe(argv[0], argv.data(), envp.data());
           const int error = errno;
           [[maybe_unused]] const ssize_t told = ::write(start_error.write_end.get(), &error, sizeof error);
           return kExecFailed;
         }));
  start_error.write_end.reset();
  int error = 0;
  if (TEMP_FAILURE_RETRY(::read(start_error.read_end.get(), &error, sizeof error)) == sizeof error) {
    return fail(error == ENOENT ? Kind::not_found : Kind::internal, "cannot start {}: {}", request.argv[0], reason(error));
  }
  auto result = child.finish(request.timeout, request.max_output);
  if (!result) return fail(result.error().kind, "{} {}", request.argv[0], result.error().detail);
  return result;
}

Result<ProcessResult> run_forked(const std::function<Bytes()>& body, milliseconds timeout, std::size_t max_output) {
  GW_TRY(Child child, Child::start({}, [&] {
           const int answer = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
           ::dup2(2, 1);
           const Bytes bytes = body();
           std::fflush(nullptr);
           return write_fully(answer, bytes) ? 0 : kAnswerFailed;
         }));
  return child.finish(timeout, max_output);
}

}  // namespace gw::os
