#include "peer_stack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "gateway/client.h"
#include "os/clock.h"
#include "os/files/io.h"
#include "os/process/process.h"

namespace gw::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStackPatience{60};
constexpr std::chrono::minutes kLongestRun{30};
constexpr useconds_t kPause = 5'000;

fs::path program(const char* name) {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

template <class Reached>
Status wait_until(const char* what, const Reached& reached) {
  const auto deadline = Clock::now() + kStackPatience;
  while (!reached()) {
    if (Clock::now() > deadline) return fail(Kind::timeout, "{} after {} s: is this machine busy?", what, kStackPatience.count());
    ::usleep(kPause);
  }
  return ok();
}

}  // namespace

Result<PeerStack> PeerStack::start(std::vector<std::optional<CpuQuota>> machines) {
  GW_TRY(os::TempDir folder, os::TempDir::make());
  PeerStack stack(std::move(folder), std::move(machines));
  for (std::size_t i = 0; i < stack.machines_.size(); ++i) GW_TRY_VOID(stack.start_peer());
  GW_TRY_VOID(stack.wait_for_all());
  return stack;
}

std::vector<std::string> PeerStack::environment() const {
  const std::string home = folder_.path().string();
  return {"HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_RUNTIME_DIR=" + home};
}

std::vector<std::string> PeerStack::enter(std::size_t machine) const {
  return machines_[machine] ? machines_[machine]->enter() : std::vector<std::string>();
}

Status PeerStack::start_peer() {
  const std::size_t number = peers_.size();
  const fs::path state = folder_.path() / std::to_string(number);
  std::vector<std::string> words = enter(number);
  words.insert(words.end(),
               {program("godwit-daemon").string(), "--state", state.string(), "--socket", socket(number).string(), "--listen",
                "127.0.0.1:0", "--slots", "1", "--name", fmt::format("machine-{}", number + 1), "--log", (state / "daemon.log").string()});
  if (number > 0) words.insert(words.end(), {"--join", first_address_});
  const os::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return fail(Kind::internal, "cannot open /dev/null: {}", os::reason(errno));
  std::vector<std::string> variables = environment();
  variables.emplace_back("PATH=/usr/bin:/bin");
  GW_TRY(os::ChildProcess peer, os::ChildProcess::start({.argv = std::move(words),
                                                         .env = std::move(variables),
                                                         .descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}}}));
  peers_.push_back(std::move(peer));
  GW_TRY_VOID(wait_until("a daemon does not answer", [&] { return gateway::Client(socket(number)).node().has_value(); }));
  if (number == 0) {
    GW_TRY(const node::NodeView first, gateway::Client(socket(0)).node());
    first_address_ = first.addresses.front();
  }
  return ok();
}

Status PeerStack::wait_for_all() const {
  return wait_until("the peers do not find each other", [&] {
    const auto peers = gateway::Client(socket(0)).peers();
    const auto is_alive = [](const node::PeerView& peer) { return peer.state != node::PeerView::State::silent; };
    return peers && static_cast<std::size_t>(std::ranges::count_if(*peers, is_alive)) >= peers_.size();
  });
}

Result<PeerStack::Run> PeerStack::run(std::vector<std::string> words) const {
  const std::string command = fmt::format("{}", fmt::join(words, " "));
  const auto start = Clock::now();
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = std::move(words),
                                                        .stdin_bytes = {},
                                                        .max_output = 256u << 20,
                                                        .timeout = kLongestRun,
                                                        .env = environment(),
                                                        .working_dir = folder_.path()}));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!done.succeeded()) return fail(Kind::internal, "'{}' failed: {}", command, done.err.substr(0, 400));
  return Run{seconds, done.out};
}

std::vector<std::string> PeerStack::command(std::vector<std::string> words) const {
  words.insert(words.begin(), program("godwit").string());
  const auto end = std::ranges::find(words, "--");  // what comes after it belongs to the program
  words.insert(end, {"--socket", socket(0).string()});
  return words;
}

Result<PeerStack::Run> PeerStack::godwit(std::vector<std::string> words) const { return run(command(std::move(words))); }

Result<std::vector<PeerStack::Line>> PeerStack::godwit_lines(std::vector<std::string> words) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot create a pipe: {}", os::reason(errno));
  const os::UniqueFd from(ends[0]);
  os::UniqueFd to(ends[1]);
  const os::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<std::string> variables = environment();
  variables.emplace_back("PATH=/usr/bin:/bin");
  GW_TRY(os::ChildProcess child, os::ChildProcess::start({.argv = command(std::move(words)),
                                                          .env = std::move(variables),
                                                          .descriptors = {{nothing.get(), 0}, {to.get(), 1}, {nothing.get(), 2}}}));
  to.reset();
  std::vector<Line> lines;
  std::string rest;
  std::array<char, 65536> piece{};
  for (ssize_t size; (size = ::read(from.get(), piece.data(), piece.size())) > 0;) {
    const std::int64_t now = std::chrono::duration_cast<std::chrono::microseconds>(os::wall_now()).count();
    rest.append(piece.data(), static_cast<std::size_t>(size));
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) lines.push_back({rest.substr(0, end), now});
  }
  pollfd exited{.fd = child.exited_fd(), .events = POLLIN, .revents = 0};
  ::poll(&exited, 1, -1);
  const auto status = child.status();
  if (!status || status->signal != 0 || status->exit_code != 0) return fail(Kind::internal, "a job of the bench failed");
  return lines;
}

Result<PeerStack::Run> PeerStack::alone(std::size_t machine, std::vector<std::string> words) const {
  words.insert(words.begin(), program("godwit").string());
  return alone_native(machine, std::move(words));
}

Result<PeerStack::Run> PeerStack::alone_native(std::size_t machine, std::vector<std::string> words) const {
  std::vector<std::string> all = enter(machine);
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

Result<double> PeerStack::peak_home_mib() const {
  std::ifstream status(fmt::format("/proc/{}/status", peers_.front().pid()));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return fail(Kind::internal, "the daemon of the home does not run any more");
}

}  // namespace gw::bench
