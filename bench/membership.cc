#include "membership.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <numeric>
#include <sstream>

#include "gateway/client.h"
#include "os/files/io.h"

namespace gw::bench {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr useconds_t kPause = 5'000;

std::string path_variable() {
  const char* const path = std::getenv("PATH");
  return fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path);
}

}  // namespace

// --- any

Status Membership::start_first() {
  GW_TRY_VOID(start(0));
  return wait_until_ready(0);
}

Status Membership::start_others(std::size_t count) {
  for (std::size_t member = 1; member <= count; ++member) GW_TRY_VOID(start(member));
  return ok();
}

Status Membership::start(std::size_t member) {
  const os::UniqueFd log_file(::open(log(member).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const os::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log_file || !nothing) return fail(Kind::internal, "cannot open the log of a member: {}", os::reason(errno));
  const os::ChildProcess::Request request{
      .argv = command(member),
      .env = {path_variable(), "HOME=" + folder().string(), "XDG_CACHE_HOME=" + folder().string()},
      .descriptors = {{nothing.get(), STDIN_FILENO}, {log_file.get(), STDOUT_FILENO}, {log_file.get(), STDERR_FILENO}}};
  GW_TRY(os::ChildProcess process, os::ChildProcess::start(request));
  members_.push_back(std::move(process));
  return ok();
}

Status Membership::wait_until_ready(std::size_t member) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ready(member)) {
    if (members_[member].status()) return fail(Kind::internal, "a member ended at once: its log is {}", log(member).string());
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Kind::timeout, "a member does not get ready: its log is {}", log(member).string());
    ::usleep(kPause);
  }
  return ok();
}

Result<double> Membership::resident_kib() const {
  double sum = 0;
  std::size_t count = 0;
  for (const os::ChildProcess& member : members_) {
    std::ifstream status(fmt::format("/proc/{}/status", member.pid()));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) sum += std::stod(line.substr(6)), ++count;
  }
  if (count == 0) return fail(Kind::internal, "no member runs any more");
  return sum / static_cast<double>(count);
}

Result<double> Membership::cpu_seconds() const {
  double sum = 0;
  std::size_t count = 0;
  for (const os::ChildProcess& member : members_) {
    std::ifstream file(fmt::format("/proc/{}/stat", member.pid()));
    std::string line;
    if (!std::getline(file, line)) continue;
    std::istringstream words(line.substr(line.rfind(')') + 2));  // after the name, which may have spaces
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    if (fields.size() < 13 || fields[0] == "Z") continue;
    sum += (std::stod(fields[11]) + std::stod(fields[12])) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    ++count;
  }
  if (count == 0) return fail(Kind::internal, "no member runs any more");
  return sum / static_cast<double>(count);
}

// --- ours

std::vector<std::string> GodwitMembership::command(std::size_t member) const {
  std::error_code error;
  const auto programs = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::string> words{(programs / "godwit-daemon").string(),
                                 "--state",
                                 (folder() / std::to_string(member)).string(),
                                 "--socket",
                                 socket(member).string(),
                                 "--listen",
                                 fmt::format("127.0.0.1:{}", port(member)),
                                 "--slots",
                                 "0"};
  if (member > 0) words.insert(words.end(), {"--join", fmt::format("127.0.0.1:{}", port(0))});
  return words;
}

bool GodwitMembership::ready(std::size_t member) { return gateway::Client(socket(member)).node().has_value(); }

Result<std::size_t> GodwitMembership::alive(std::size_t member) {
  const auto peers = gateway::Client(socket(member)).peers();
  if (!peers) return 0;  // it is not ready yet
  std::size_t count = 0;
  for (const node::PeerView& peer : *peers)
    if (peer.state == node::PeerView::State::alive || peer.state == node::PeerView::State::suspected) ++count;
  return count;
}

// --- theirs

Result<std::unique_ptr<SerfMembership>> SerfMembership::make() {
  for (const char* path : {"/usr/bin/serf", "/usr/local/bin/serf"})
    if (::access(path, X_OK) == 0) return std::unique_ptr<SerfMembership>(new SerfMembership(path));
  return fail(Kind::not_found, "serf, with which we are compared, is not installed: tools/setup --bench does it");
}

std::vector<std::string> SerfMembership::command(std::size_t member) const {
  std::vector<std::string> words{program_.string(), "agent", fmt::format("-node=member{}", member),
                                 fmt::format("-bind=127.0.0.1:{}", port(member)),
                                 fmt::format("-rpc-addr=127.0.0.1:{}", port(member) + 1000)};
  if (member > 0) words.push_back(fmt::format("-join=127.0.0.1:{}", port(0)));
  return words;
}

bool SerfMembership::ready(std::size_t member) { return !read(member).alive.empty(); }

// Lines like "... serf: EventMemberJoin: member3 127.0.0.1"; EventMemberFailed and EventMemberLeave are written alike.
SerfMembership::Reader& SerfMembership::read(std::size_t member) {
  if (readers_.size() <= member) readers_.resize(member + 1);
  Reader& reader = readers_[member];
  std::ifstream file(log(member));
  file.seekg(reader.position);
  for (std::string line; std::getline(file, line) && !file.eof(); reader.position = file.tellg()) {
    const std::size_t at = line.find("EventMember");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at));
    std::string event, name;
    words >> event >> name;
    if (event == "EventMemberJoin:") reader.alive.insert(name);
    if (event == "EventMemberFailed:" || event == "EventMemberLeave:") reader.alive.erase(name);
  }
  return reader;
}

Result<std::size_t> SerfMembership::alive(std::size_t member) {
  const Reader& reader = read(member);
  return reader.alive.empty() ? 0 : reader.alive.size() - 1;  // itself
}

}  // namespace gw::bench
