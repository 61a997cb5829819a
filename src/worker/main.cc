// godwit-worker: started by godwit, never by hand.

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "isolate/engine/compile_main.h"
#include "isolate/engine/engine.h"
#include "isolate/memory/memory_watch.h"
#include "os/cage/cage.h"
#include "os/files/io.h"
#include "wire/messages/protobuf_log.h"
#include "worker/speed_kernel.h"
#include "worker/warm_up.h"
#include "worker/worker.h"

namespace {

using gw::Result;
using gw::Status;

// The descriptors that node/worker/worker_process.cc passes.
constexpr int kSocket = 3, kCounter = 4;
constexpr int kFailed = 1, kUsage = 2;
constexpr int kLowestPriority = 19;

Status serve() {
  gw::os::UniqueFd socket(kSocket);
  GW_TRY(auto counter, gw::os::SharedCounter::attach(gw::os::UniqueFd(kCounter)));
  gw::os::UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return gw::fail(gw::Kind::internal, "cannot make an eventfd");
  auto watch = std::make_unique<gw::isolate::MemoryWatch>();
  std::vector<int> keep{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kSocket, kCounter, wake.get()};
  for (const int fd : watch->descriptors()) keep.push_back(fd);
  std::ranges::sort(keep);
  GW_TRY(auto cage, gw::os::Cage::enter({.keep = std::move(keep)}));
  GW_TRY(auto engine, gw::isolate::Engine::make(std::move(watch)));
  gw::worker::warm_up();
  GW_TRY_VOID(cage.shut());
  gw::worker::Worker worker({.engine = *engine,
                             .socket = std::move(socket),
                             .wake = std::move(wake),
                             .guests_running = std::move(counter),
                             .held_by = cage.held_by()});
  Status ended = worker.run();
  if (!ended) std::fprintf(stderr, "the worker was asked something it cannot do: %s\n", ended.error().detail.c_str());
  // The process ends without destructors: guests may be in the middle of a run.
  ::_exit(ended ? 0 : kFailed);
}

Result<int> compile(const std::vector<std::string>& arguments) {
  GW_TRY(auto cage, gw::os::Cage::enter({.keep = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}}));
  GW_TRY(auto engine, gw::isolate::Engine::make(std::make_unique<gw::isolate::MemoryWatch>(gw::isolate::MemoryWatch::Use::nothing)));
  gw::worker::warm_up();
  GW_TRY_VOID(cage.shut());
  ::_exit(gw::isolate::compile_only_main(arguments));
}

// Prints the speed of this machine. It begins as a worker does, so its start shows whether workers can start.
Result<int> measure() {
  (void)::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  GW_TRY(auto cage, gw::os::Cage::enter({.keep = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}}));
  GW_TRY(auto engine, gw::isolate::Engine::make(std::make_unique<gw::isolate::MemoryWatch>(gw::isolate::MemoryWatch::Use::nothing)));
  gw::worker::warm_up();
  GW_TRY_VOID(cage.shut());
  GW_TRY(const std::uint32_t speed, gw::worker::measure_speed());
  const std::string line = std::to_string(speed) + "\n";
  GW_TRY_VOID(gw::os::write_fully(STDOUT_FILENO, gw::as_bytes(line)));
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  gw::wire::log_protobuf_quietly();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "--compile") {
    auto done = compile({arguments.begin() + 1, arguments.end()});
    std::fprintf(stderr, "%s\n", done.error().detail.c_str());
    return kFailed;
  }
  if (arguments == std::vector<std::string>{"--measure"}) {
    auto done = measure();
    std::fprintf(stderr, "the worker cannot start: %s\n", done.error().detail.c_str());
    return kFailed;
  }
  if (!arguments.empty() || ::fcntl(kSocket, F_GETFD) < 0 || ::fcntl(kCounter, F_GETFD) < 0) {
    std::fputs("godwit-worker is started by godwit itself; to run a program use: godwit run PROGRAM\n", stderr);
    return kUsage;
  }
  Status served = serve();
  std::fprintf(stderr, "the worker cannot start: %s\n", served.error().detail.c_str());
  return kFailed;
}
