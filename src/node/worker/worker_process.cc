#include "node/worker/worker_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/metrics.h"
#include "isolate/engine/engine_environment.h"
#include "os/cage/system_calls.h"
#include "os/clock.h"
#include "os/files/io.h"

namespace gw::node {
namespace {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

constexpr int kSocketInWorker = 3, kCounterInWorker = 4;  // as in worker/main.cc
constexpr std::chrono::milliseconds kLookEvery{100};
constexpr std::chrono::nanoseconds kPacePeriod = std::chrono::milliseconds(100);
constexpr std::size_t kLastWords = 2048;
constexpr std::size_t kMaxWords = 1u << 20;  // then its stderr is closed
constexpr std::size_t kMaxImageBytes = 64ull << 30;
// Forked threads map their parent's memory privately: addresses, not memory in use, so the limit on addresses is wider.
constexpr std::uint64_t kAddressesPerResident = 64;

// Only the daemon's end of the pipe is non-blocking: the last words of a dying worker must not get lost.
Result<std::pair<os::UniqueFd, os::UniqueFd>> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0 || ::fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
    return fail(Kind::internal, "cannot create a pipe: {}", os::reason(errno));
  return std::pair(os::UniqueFd(fds[0]), os::UniqueFd(fds[1]));
}

std::string_view name_of(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "?" : name;
}

}  // namespace

std::uint64_t default_worker_memory() {
  const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes / 4 * 3;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const Config& config) {
  GW_TRY(auto sockets, os::MessageSocket::make_pair());
  GW_TRY(auto counter, os::SharedCounter::make());
  GW_TRY(auto errors, make_pipe());
  const os::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return fail(Kind::internal, "cannot open /dev/null: {}", os::reason(errno));
  GW_TRY(auto child, os::ChildProcess::start({.argv = {config.program.string()},
                                              .env = {std::string(isolate::kEngineEnvironment)},
                                              .descriptors = {{nothing.get(), 0},
                                                              {nothing.get(), 1},
                                                              {errors.second.get(), 2},
                                                              {sockets.second.get(), kSocketInWorker},
                                                              {counter.fd(), kCounterInWorker}}}));
  auto worker = std::unique_ptr<WorkerProcess>(
      new WorkerProcess(std::move(child), std::move(sockets.first), std::move(counter), std::move(errors.first), config.limits));
  if (config.nice > 0) worker->set_nice(config.nice);  // before it starts threads
  worker->confine();
  return worker;
}

WorkerProcess::WorkerProcess(os::ChildProcess child, os::UniqueFd socket, os::SharedCounter guests_running, os::UniqueFd errors,
                             WorkerLimits limits)
    : child_(std::move(child)),
      socket_(std::move(socket)),
      guests_running_(std::move(guests_running)),
      errors_(std::move(errors)),
      limits_(limits) {
  answers_.expect({Request::hello, 0}, os::monotonic_now() + limits_.start);
}

void WorkerProcess::confine() {
  // A worker that is gone already fails here too: on_turn() will say why it went.
  auto group = os::Cgroup::make({.memory_bytes = limits_.resident_bytes, .tasks = limits_.os_threads});
  if (group && group->add(child_.pid())) {
    held_by_.push_back(group->description());
    cgroup_.emplace(*std::move(group));
  } else {
    held_by_.emplace_back("memory looked at from outside");
    next_look_ = os::monotonic_now() + kLookEvery;
  }
  if (os::kSanitized) return;  // a sanitizer reserves terabytes when it starts
  const rlim_t addresses = limits_.resident_bytes * kAddressesPerResident;
  const rlimit both{addresses, addresses};
  (void)::prlimit(child_.pid(), RLIMIT_DATA, &both, nullptr);
}

// --- talking

Status WorkerProcess::send(const ToWorker& frame, std::vector<os::UniqueFd> descriptors) {
  if (kill_reason_ || silent_) return fail(Kind::disconnected, "the worker has ended");
  GW_TRY(Bytes bytes, wire::encode(frame));
  if (Status queued = socket_.queue({std::move(bytes), std::move(descriptors)}); !queued) {
    kill(DeathCause::broke_rules, "the worker did not take what it was sent: " + queued.error().detail);
    return fail(Kind::disconnected, "the worker does not read what it is sent and was ended");
  }
  expect_answer(frame);
  // A failed write needs no handling here: reading from a worker that is gone reports its death.
  (void)socket_.on_writable();
  return ok();
}

void WorkerProcess::expect_answer(const ToWorker& frame) {
  const Time deadline = worker_time(os::monotonic_now()) + limits_.answer;
  if (frame.has_load()) answers_.expect({Request::load, 0}, deadline);
  if (frame.has_suspend()) answers_.expect({Request::suspend, frame.suspend().thread()}, deadline);
  if (frame.has_checkpoint()) answers_.expect({Request::checkpoint, frame.checkpoint().thread()}, deadline);
  if (frame.has_terminate()) answers_.expect({Request::terminate, frame.terminate().thread()}, deadline);
  if (frame.has_drop())
    for (const Request request : {Request::suspend, Request::checkpoint, Request::terminate})
      answers_.forget({request, frame.drop().thread()});
  if (frame.has_shutdown()) answers_.expect({Request::shutdown, 0}, deadline);
}

void WorkerProcess::note_answer(const FromWorker& frame) {
  const auto forget = [this](Request request, std::uint64_t thread) { answers_.forget({request, thread}); };
  const auto forget_all = [&](std::uint64_t thread) {
    for (const Request request : {Request::suspend, Request::checkpoint, Request::terminate}) forget(request, thread);
  };
  if (frame.has_loaded()) forget(Request::load, 0);
  if (frame.has_image() && frame.image().why() == FromWorker::Image::SUSPENDED) forget_all(frame.image().thread());
  if (frame.has_image() && frame.image().why() == FromWorker::Image::CHECKPOINT) forget(Request::checkpoint, frame.image().thread());
  if (frame.has_stopped()) forget_all(frame.stopped().thread());
  if (!frame.has_failed()) return;
  if (frame.failed().thread() == 0) forget(Request::load, 0);
  forget_all(frame.failed().thread());
}

void WorkerProcess::add_watched(std::vector<pollfd>& list) const {
  if (death_) return;
  const int wanted = (reading_ ? POLLIN : 0) | (socket_.wants_write() ? POLLOUT : 0);
  if (!silent_ && wanted != 0) list.push_back({socket_.fd(), static_cast<short>(wanted), 0});
  if (errors_) list.push_back({errors_.get(), POLLIN, 0});
  list.push_back({child_.exited_fd(), POLLIN, 0});
}

WorkerProcess::Time WorkerProcess::next_deadline() const {
  const auto answer = answers_.next();
  const Time next = answer && !held_since_ ? answer->at + stood_still_ : Time::max();
  return std::min({next, next_look_.value_or(next), next_pause_.value_or(next)});
}

std::vector<WorkerProcess::Received> WorkerProcess::on_turn() {
  std::vector<Received> received;
  if (death_) return received;
  if (!silent_) (void)socket_.on_writable();
  const bool ended = child_.status().has_value();  // before reading, so that its last words are all there
  on_readable(received);
  keep_stderr();
  if (!ended) enforce(os::monotonic_now());
  if (ended && (silent_ || kill_reason_)) {
    death_ = kill_reason_ ? *kill_reason_ : explain(*child_.status());
    death_->tasks = running_tasks();
  }
  return received;
}

std::vector<std::uint32_t> WorkerProcess::running_tasks() const {
  std::vector<std::uint32_t> tasks;
  for (std::size_t lane = 0; lane < os::SharedCounter::kCells; lane++) {
    const std::uint64_t cell = guests_running_.cell(lane);
    if (cell != 0 && cell <= wire::kMaxTasks) tasks.push_back(static_cast<std::uint32_t>(cell - 1));
  }
  return tasks;
}

void WorkerProcess::on_readable(std::vector<Received>& out) {
  if (silent_ || kill_reason_ || !reading_) return;
  auto messages = socket_.on_readable();
  if (!messages) return kill(DeathCause::broke_rules, "the worker broke the protocol and was ended: " + messages.error().detail);
  for (os::Message& message : messages->messages) {
    if (Status taken = take(std::move(message), out); !taken)
      return kill(DeathCause::broke_rules, "the worker broke the protocol and was ended: " + taken.error().detail);
  }
  silent_ = messages->closed;
}

Status WorkerProcess::take(os::Message message, std::vector<Received>& out) {
  GW_TRY(FromWorker frame, wire::decode_from_worker(message.payload, message.descriptors.size()));
  if (!ready_) return on_hello(frame);
  if (frame.has_hello()) return fail(Kind::invalid, "it said hello twice");
  std::optional<os::SealedMemory> memory;
  if (!message.descriptors.empty()) {
    GW_TRY(auto opened, os::SealedMemory::open_sealed(std::move(message.descriptors[0]), kMaxImageBytes));
    memory.emplace(std::move(opened));
  }
  note_answer(frame);
  out.push_back({std::move(frame), std::move(memory)});
  return ok();
}

Status WorkerProcess::on_hello(const FromWorker& frame) {
  if (!frame.has_hello()) return fail(Kind::invalid, "it did not say hello first");
  if (frame.hello().version() != wire::kWorkerProtocol)
    return fail(Kind::unsupported, "it speaks version {} of the protocol, this is {}: godwit and godwit-worker are not of the same build",
                frame.hello().version(), wire::kWorkerProtocol);
  held_by_.insert(held_by_.end(), frame.hello().cage().begin(), frame.hello().cage().end());
  answers_.forget({Request::hello, 0});
  ready_ = true;
  return ok();
}

void WorkerProcess::keep_stderr() {
  std::array<char, 4096> buffer;
  while (errors_) {
    const ssize_t got = ::read(errors_.get(), buffer.data(), buffer.size());
    if (got < 0) return;
    words_seen_ += static_cast<std::size_t>(got);
    if (got == 0 || words_seen_ > kMaxWords) return errors_.reset();
    stderr_tail_.append(buffer.data(), static_cast<std::size_t>(got));
    if (stderr_tail_.size() > kLastWords) stderr_tail_.erase(0, stderr_tail_.size() - kLastWords);
  }
}

// --- limits

void WorkerProcess::enforce(Time now) {
  if (kill_reason_) return;
  if (const auto answer = answers_.next(); answer && worker_time(now) >= answer->at) {
    const bool starting = answer->request.first == Request::hello;
    return kill(DeathCause::broke_rules, fmt::format("the worker did not {} within {} s and was ended", starting ? "start" : "answer",
                                                     (starting ? limits_.start : limits_.answer).count() / 1000));
  }
  if (next_look_ && now >= *next_look_) check_memory(now);
  if (next_pause_ && now >= *next_pause_) keep_pace(now);
}

void WorkerProcess::hold(const WorkerShare& share) {
  if (share == share_ || kill_reason_ || death_) return;
  limits_.resident_bytes = share.resident_bytes;
  if (cgroup_ && share.resident_bytes != share_.resident_bytes) (void)cgroup_->set_memory(share.resident_bytes);  // else it stays wider
  if (share.nice != share_.nice) set_nice(share.nice);
  share_ = share;
  const bool held = cgroup_ && cgroup_->set_processors(share.processors);
  next_pause_.reset();
  if (!held && share.percent < 100) next_pause_ = os::monotonic_now();
  if (paused_ && !next_pause_) keep_pace(os::monotonic_now());
}

// Runs for `percent` of each period and stands still for the rest; a worker without that limit any more goes on for good.
void WorkerProcess::keep_pace(Time now) {
  paused_ = !paused_ && share_.percent < 100;
  if (paused_) metrics::count(metrics::Metric::workers_paused);
  stop_or_continue();
  const Time running = kPacePeriod * std::max(share_.percent, 1u) / 100;
  if (next_pause_) next_pause_ = now + (paused_ ? kPacePeriod - running : running);
}

void WorkerProcess::stop_or_continue() {
  const bool stop = paused_ || held_since_;
  if (stop == stopped_ || kill_reason_ || death_) return;
  stopped_ = stop;
  (void)::kill(child_.pid(), stop ? SIGSTOP : SIGCONT);  // not reaped, so the number is its own
}

void WorkerProcess::set_paused(bool paused) {
  if (paused == held_since_.has_value()) return;
  const Time now = os::monotonic_now();
  if (paused) {
    metrics::count(metrics::Metric::workers_paused);
    held_since_ = now;
  } else {
    stood_still_ += now - *std::exchange(held_since_, std::nullopt);
  }
  stop_or_continue();
}

// Each thread has a priority of its own; threads that start later get that of the thread which starts them.
void WorkerProcess::set_nice(std::uint32_t nice) {
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", child_.pid()), gone))
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(std::strtoul(thread.path().filename().c_str(), nullptr, 10)),
                        static_cast<int>(nice));
  share_.nice = nice;
}

std::chrono::nanoseconds WorkerProcess::cpu_time() const {
  std::ifstream in(fmt::format("/proc/{}/stat", child_.pid()));
  std::string text;
  std::getline(in, text);
  // The name of the program, which may have blanks, ends with the last bracket.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  std::uint64_t user = 0, system = 0;
  fields >> user >> system;
  return std::chrono::nanoseconds((user + system) * 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

std::uint64_t WorkerProcess::resident_bytes() const {
  std::uint64_t total = 0, resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", child_.pid())) >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void WorkerProcess::check_memory(Time now) {
  next_look_ = now + kLookEvery;
  if (resident_bytes() > limits_.resident_bytes)
    return kill(DeathCause::limit, fmt::format("the worker used more than {} MiB of memory and was ended", limits_.resident_bytes >> 20));
  std::ifstream status(fmt::format("/proc/{}/status", child_.pid()));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:") && std::strtoul(line.c_str() + 8, nullptr, 10) > limits_.os_threads)
      return kill(DeathCause::limit, fmt::format("the worker made more than {} threads and was ended", limits_.os_threads));
  }
}

// --- death

void WorkerProcess::kill(DeathCause cause, std::string sentence) {
  if (kill_reason_ || death_) return;
  kill_reason_ = Death{cause, std::move(sentence)};
  child_.kill();
}

Death WorkerProcess::explain(const os::ExitStatus& status) const {
  const std::string words = stderr_tail_.empty() ? "" : ": " + stderr_tail_.substr(0, stderr_tail_.find_last_not_of('\n') + 1);
  if (cgroup_ && cgroup_->ran_out_of_memory())
    return {DeathCause::limit, fmt::format("the worker used more than {} MiB of memory and was ended", limits_.resident_bytes >> 20)};
  if (status.signal != 0) {
    Death death = explain_signal(status.signal);
    death.sentence += words;
    return death;
  }
  const bool asked = answers_.expects({Request::shutdown, 0});
  if (status.exit_code == 0 && asked) return {DeathCause::finished, "the worker ended as it was asked to"};
  return {DeathCause::engine_fault, fmt::format("the worker ended by itself with code {}{}", status.exit_code, words)};
}

Death WorkerProcess::explain_signal(int signal) const {
  const bool in_guest = guests_running_.value() > 0;
  switch (signal) {
    case SIGKILL:
      return {DeathCause::killed, "the worker was killed by somebody else, or by the system for lack of memory"};
    case SIGXCPU:
    case SIGXFSZ:
      return {DeathCause::limit, fmt::format("the worker reached a limit of its process (SIG{})", name_of(signal))};
    case SIGSYS:
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGTRAP:
      if (!in_guest) break;
      return {DeathCause::guest_fault, signal == SIGSYS ? "the program broke out of the engine and was stopped by the cage (SIGSYS)"
                                                        : fmt::format("the program crashed the engine (SIG{})", name_of(signal))};
    default:
      break;
  }
  return {DeathCause::engine_fault, fmt::format("the worker crashed (SIG{})", name_of(signal))};
}

}  // namespace gw::node
