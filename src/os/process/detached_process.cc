#include "os/process/detached_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::os {
namespace {

constexpr int kNiceness = 10;

// Between fork and exec only calls are safe that a signal handler may make.
[[noreturn]] void become(int input, int nothing, char* const* argv) {
  if (::fork() != 0) ::_exit(0);  // the process in between makes init the parent
  ::setsid();
  [[maybe_unused]] const int priority = ::nice(kNiceness);
  ::dup2(input, 0);
  ::dup2(nothing, 1);
  ::dup2(nothing, 2);
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  ::execv(argv[0], argv);
  ::_exit(127);
}

}  // namespace

Status start_detached(const DetachedRequest& request) {
  GW_ASSERT(!request.argv.empty());
  std::vector<std::string> words = request.argv;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const UniqueFd input(::memfd_create("stdin", MFD_CLOEXEC));
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!input || !nothing) return fail(Kind::internal, "cannot prepare a process: {}", reason(errno));
  GW_TRY_VOID(write_fully(input.get(), request.stdin_bytes));
  ::lseek(input.get(), 0, SEEK_SET);

  const pid_t between = ::fork();
  if (between < 0) return fail(Kind::internal, "cannot fork: {}", reason(errno));
  if (between == 0) become(input.get(), nothing.get(), argv.data());
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ok();
}

}  // namespace gw::os
