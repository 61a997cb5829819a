// One file from one home to eight hosts with slow uplinks, by real daemons, each in a network of its own; then many small files.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/rng.h"
#include "gateway/client.h"
#include "os/files/file.h"
#include "os/files/io.h"
#include "os/process/child_process.h"
#include "os/process/process.h"
#include "suites.h"

namespace gw::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kHosts = 8;
constexpr std::uint64_t kFileBytes = 64u << 20;
constexpr double kUplinkBits = 40e6;  // per second, of home and of each host; downlinks are not limited
constexpr std::size_t kSmallFiles = 2000;
constexpr std::size_t kSmallBytes = 4096;
constexpr std::chrono::seconds kSwarmPatience{600};

Result<std::string> run(std::vector<std::string> argv) {
  const std::string name = argv.front() + " " + argv.at(1);
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = std::move(argv), .timeout = kSwarmPatience}));
  if (!done.succeeded()) return fail(Kind::internal, "{} failed: {}", name, done.err);
  return done.out;
}

// Nine network namespaces on a bridge, and a daemon in each: the first is home, which lends nothing.
class SlowGrid {
 public:
  static Result<std::unique_ptr<SlowGrid>> make() {
    if (::geteuid() != 0) return fail(Kind::unsupported, "network namespaces need root: run godwit-bench swarm as root");
    GW_TRY(os::TempDir folder, os::TempDir::make());
    std::unique_ptr<SlowGrid> grid(new SlowGrid(std::move(folder)));
    GW_TRY_VOID(grid->build());
    return grid;
  }
  ~SlowGrid() {
    daemons_.clear();
    for (const std::string& name : made_) (void)os::run_process({.argv = {"ip", "netns", "delete", name}});
  }

  // Runs a job whose tasks read the inputs on every host; the seconds it took.
  Result<double> read_everywhere(const std::vector<std::string>& inputs, const std::vector<std::string>& names, std::size_t tasks) {
    std::vector<std::string> words = {(programs_ / "godwit").string(),
                                      "--config",
                                      "socket=" + socket(0),
                                      "run",
                                      std::string(GODWIT_BENCH_ROOT) + "/probes/read_all.c",
                                      "--workers",
                                      std::to_string(kHosts),
                                      "--tasks",
                                      std::to_string(tasks)};
    for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
    words.emplace_back("--");
    words.insert(words.end(), names.begin(), names.end());
    const auto began = Clock::now();
    GW_TRY_VOID(bench::run(std::move(words)));
    return std::chrono::duration<double>(Clock::now() - began).count();
  }
  // Bytes that home has sent, headers included.
  Result<double> sent_by_home() const {
    GW_TRY(const std::string text, bench::run({"ip", "netns", "exec", name(0), "cat", "/sys/class/net/eth0/statistics/tx_bytes"}));
    return std::stod(text);
  }
  fs::path folder() const { return folder_.path(); }

 private:
  explicit SlowGrid(os::TempDir folder)
      : folder_(std::move(folder)),
        programs_(fs::read_symlink("/proc/self/exe").parent_path()),
        prefix_(fmt::format("gwb{}", ::getpid())) {}

  std::string name(std::size_t peer) const { return fmt::format("{}-{}", prefix_, peer); }
  std::string hub() const { return prefix_ + "-hub"; }
  std::string socket(std::size_t peer) const { return (folder_.path() / fmt::format("{}.sock", peer)).string(); }
  static std::string address(std::size_t peer) { return fmt::format("10.84.0.{}", peer + 1); }

  Status ip(std::vector<std::string> words) {
    words.insert(words.begin(), "ip");
    GW_TRY_VOID(bench::run(std::move(words)));
    return ok();
  }
  Status add(const std::string& name) {
    GW_TRY_VOID(ip({"netns", "add", name}));
    made_.push_back(name);
    return ok();
  }

  Status build() {
    GW_TRY_VOID(add(hub()));
    GW_TRY_VOID(ip({"-n", hub(), "link", "add", "bridge", "type", "bridge"}));
    GW_TRY_VOID(ip({"-n", hub(), "link", "set", "bridge", "up"}));
    for (std::size_t peer = 0; peer <= kHosts; ++peer) {
      const std::string port = fmt::format("to{}", peer);
      GW_TRY_VOID(add(name(peer)));
      GW_TRY_VOID(ip({"-n", name(peer), "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", hub()}));
      GW_TRY_VOID(ip({"-n", hub(), "link", "set", port, "master", "bridge", "up"}));
      GW_TRY_VOID(ip({"-n", name(peer), "address", "add", address(peer) + "/24", "dev", "eth0"}));
      GW_TRY_VOID(ip({"-n", name(peer), "link", "set", "eth0", "up"}));
      GW_TRY_VOID(ip({"-n", name(peer), "link", "set", "lo", "up"}));
      GW_TRY_VOID(ip({"netns", "exec", name(peer), "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate",
                      fmt::format("{:.0f}bit", kUplinkBits), "burst", "256kb", "latency", "200ms"}));
      GW_TRY_VOID(start(peer));
    }
    GW_TRY_VOID(wait_until_all_are_known());
    GW_TRY(const node::Share share, gateway::Client(socket(0)).share({.cores = 0}));  // home only submits
    if (share.cores != 0) return fail(Kind::unsupported, "the home still lends {} cores", share.cores);
    return ok();
  }

  Status start(std::size_t peer) {
    const fs::path state = folder_.path() / fmt::format("state{}", peer);
    std::vector<std::string> words = {"/bin/ip",      "netns",        "exec",     name(peer),   (programs_ / "godwit").string(),
                                      "up",           "--foreground", "--socket", socket(peer), "--state",
                                      state.string(), "--slots",      "1",        "--listen",   address(peer) + ":7400"};
    if (!fs::exists(words.front())) words.front() = "/sbin/ip";
    if (peer > 0) words.insert(words.end(), {"--join", address(0) + ":7400"});
    const os::UniqueFd log(::open((folder_.path() / fmt::format("log{}", peer)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const os::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const char* const path = std::getenv("PATH");
    GW_TRY(
        os::ChildProcess daemon,
        os::ChildProcess::start({.argv = words,
                                 .env = {fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path),
                                         "HOME=" + folder_.path().string(), "XDG_CACHE_HOME=" + folder_.path().string()},
                                 .descriptors = {{nothing.get(), STDIN_FILENO}, {log.get(), STDOUT_FILENO}, {log.get(), STDERR_FILENO}}}));
    daemons_.push_back(std::move(daemon));
    return ok();
  }

  Status wait_until_all_are_known() {
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    for (;;) {
      const auto peers = gateway::Client(socket(0)).peers();
      if (peers && peers->size() >= kHosts) return ok();
      if (Clock::now() > deadline)
        return fail(Kind::timeout, "the daemons do not find each other: their logs are in {}", folder_.path().string());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  os::TempDir folder_;
  const fs::path programs_;  // the folder of godwit and its daemon
  const std::string prefix_;
  std::vector<std::string> made_;  // namespaces
  std::vector<os::ChildProcess> daemons_;
};

Status write_random(const fs::path& file, std::uint64_t bytes, Rng& rng) {
  Bytes content(bytes);
  for (std::size_t at = 0; at < content.size(); ++at) content[at] = static_cast<std::uint8_t>(rng.next());
  return os::write_file_atomic(file, content);
}

}  // namespace

Result<Report> run_swarm_suite(const SuiteOptions&) {
  Report report{.suite = "swarm"};
  Rng rng(static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()));
  GW_TRY(const std::unique_ptr<SlowGrid> grid, SlowGrid::make());
  constexpr std::size_t kTasks = 2 * kHosts;  // as many as the hosts get at first, so each host has some
  // Without an input: the build, the code, the start of the workers.
  GW_TRY_VOID(grid->read_everywhere({}, {}, kTasks));
  GW_TRY(const double nothing, grid->read_everywhere({}, {}, kTasks));

  const fs::path big = grid->folder() / "big";
  GW_TRY_VOID(write_random(big, kFileBytes, rng));
  const std::string input = big.string() + ":/big";
  GW_TRY(const double before, grid->sent_by_home());
  GW_TRY(const double cold, grid->read_everywhere({input}, {"/big"}, kTasks));
  GW_TRY(const double after, grid->sent_by_home());
  GW_TRY(const double warm, grid->read_everywhere({input}, {"/big"}, kTasks));
  GW_TRY(const double again, grid->sent_by_home());

  const fs::path small = grid->folder() / "small";
  fs::create_directory(small);
  for (std::size_t i = 0; i < kSmallFiles; ++i) GW_TRY_VOID(write_random(small / std::to_string(i), kSmallBytes, rng));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSmallFiles; ++i) names.push_back(fmt::format("/small/{}", i));
  GW_TRY(const double files, grid->read_everywhere({small.string() + ":/small"}, names, 1));

  // The time in which home alone can send the file once: less is impossible, since all uplinks are equal and there are eight hosts.
  const double bound = static_cast<double>(kFileBytes) * 8 / kUplinkBits;
  report.add("broadcast_8_vs_bound", (cold - nothing) / bound, "ratio",
             "64 MiB to 8 hosts, uplinks of 40 Mbit/s: a job that reads it there, less one without inputs; goal: <= 1.25");
  report.add("home_copies", (after - before) / static_cast<double>(kFileBytes), "ratio", "sent by home, headers included; goal: <= 2");
  report.add("second_job_bytes", again - after, "count", "sent by home for a second job with the same input; the input has 64 MiB");
  report.add("small_files_per_s", kSmallFiles / std::max(files - nothing, 1e-3), "count", "files of 4 KiB read by one task on one host");
  report.add("broadcast_s", cold, "s", "the whole job");
  report.add("warm_s", warm, "s", "the second job");
  report.add("nothing_s", nothing, "s", "a job without inputs");
  return report;
}

}  // namespace gw::bench
