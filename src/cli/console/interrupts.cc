#include "cli/console/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "cli/exit_codes.h"
#include "os/files/io.h"

namespace gw::cli {
namespace {

bool is_ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<Interrupts>> Interrupts::make() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  os::UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  os::UniqueFd signals(::signalfd(-1, &watched, SFD_CLOEXEC));
  if (!done || !signals) return fail(Kind::internal, "cannot watch for signals: {}", os::reason(errno));
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  return std::unique_ptr<Interrupts>(new Interrupts(std::move(signals), std::move(done)));
}

Interrupts::~Interrupts() { stop(); }

void Interrupts::watch(Callbacks callbacks) {
  GW_ASSERT(!thread_.joinable());
  thread_ = std::thread([this, callbacks = std::move(callbacks)] { run(callbacks); });
}

void Interrupts::stop() {
  if (!thread_.joinable()) return;
  GW_ASSERT(::eventfd_write(done_.get(), 1) == 0);
  thread_.join();
}

Interrupts::Event Interrupts::next() const {
  std::array<pollfd, 2> watched{{{signals_.get(), POLLIN, 0}, {done_.get(), POLLIN, 0}}};
  int ready = 0;
  do {
    ready = ::poll(watched.data(), watched.size(), count_ >= 2 ? kPatienceMilliseconds : -1);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return Event::patience_over;
  if (watched[1].revents != 0) return Event::done;
  signalfd_siginfo taken{};
  GW_ASSERT(::read(signals_.get(), &taken, sizeof taken) == sizeof taken);
  return Event::signal;
}

void Interrupts::run(const Callbacks& callbacks) {
  for (;;) {
    switch (next()) {
      case Event::done:
        return;
      case Event::patience_over:
        ::_exit(static_cast<int>(ExitCode::interrupted));
      case Event::signal:
        if (++count_ > 2) ::_exit(static_cast<int>(ExitCode::interrupted));
        (count_ == 1 ? callbacks.first : callbacks.second)();
    }
  }
}

}  // namespace gw::cli
