#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "cli/commands/commands.h"
#include "cli/commands/doctor.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "gateway/client.h"
#include "isolate/memory/memory_watch.h"
#include "os/cage/cage_features.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAsked = 5;  // peers whose clock and version are compared

// --- facts

bool can_make_user_namespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

KernelFacts kernel_facts() {
  const os::CageFeatures cage = os::find_cage_features();
  return {.seccomp = cage.seccomp,
          .landlock = cage.landlock,
          .control_group = cage.control_group,
          .no_control_group = cage.no_control_group,
          .write_tracking = isolate::MemoryWatch().can_track(),
          .user_namespaces = can_make_user_namespaces()};
}

// Facts about the disk of `folder`, or of the nearest parent that exists.
Result<DiskFacts> disk_facts(fs::path folder) {
  std::error_code ignored;
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  struct statvfs found{};
  if (::statvfs(folder.c_str(), &found) != 0) return fail(Kind::internal, "cannot read the file system of {}", folder.string());
  const fs::path file = folder / fmt::format(".doctor-{}", ::getpid());
  const auto begin = std::chrono::steady_clock::now();
  const Status written = os::write_file_atomic(file, Bytes(4096, 'x'));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  fs::remove(file, ignored);
  const bool full = !written && written.error().kind == Kind::overloaded;
  if (!written && !full) return written.error();
  return DiskFacts{.free_bytes = std::uint64_t{found.f_bavail} * found.f_frsize, .full = full, .flush = took};
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family == AF_INET &&
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text.data(), text.size()) != nullptr)
      addresses.emplace_back(text.data());
    if (one->ifa_addr->sa_family == AF_INET6 &&
        ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr, text.data(), text.size()) != nullptr)
      addresses.push_back(fmt::format("[{}]", text.data()));
  }
  ::freeifaddrs(list);
  return addresses;
}

// --- findings

void add_findings(const node::NodeView& node, const std::vector<node::PeerView>& peers, gateway::Client& client,
                  std::vector<Finding>& findings) {
  std::vector<job::PeerId> others;
  std::string published = node.addresses.empty() ? "" : node.addresses.front();
  for (const node::PeerView& peer : peers) {
    if (peer.state == node::PeerView::State::self && !peer.address.empty()) published = peer.address;
    if (peer.state == node::PeerView::State::alive && std::ranges::find(others, peer.id) == others.end()) others.push_back(peer.id);
  }
  std::vector<std::chrono::milliseconds> ahead;
  std::vector<std::string> versions;
  for (const job::PeerId& peer : others) {
    if (ahead.size() >= kAsked) break;
    const auto pong = client.ping(peer);
    if (!pong) continue;
    ahead.push_back(pong->clock_ahead);
    versions.push_back(pong->version);
  }
  findings.push_back(check_ports(node.addresses));
  findings.push_back(check_peers(others.size()));
  findings.push_back(check_reach(node.reach, node.dialled_back, node.not_dialled_back));
  findings.push_back(check_nat(node.reach, published, own_addresses()));
  findings.push_back(check_clock(std::move(ahead)));
  findings.push_back(check_versions(node.version, versions));
  findings.push_back(check_workers(node.workers_fail, node.capacity.speed()));
  findings.push_back(check_lending(node.slots, node.not_lending, node.share.rules.audience.text()));
}

Result<std::vector<Finding>> examine(const Settings& settings) {
  std::vector<Finding> findings;
  gateway::Client client(settings.socket());
  const auto node = client.node();
  GW_TRY(fs::path state, settings.state());
  if (!node) {
    const ReasonEntry& entry = entry_of(Reason::no_daemon);
    findings.push_back({"daemon", Verdict::bad, Reason::no_daemon, node.error().detail, std::string(entry.fix)});
  } else {
    state = node->state;
    findings.push_back(
        {.check = "daemon", .sentence = fmt::format("peer {} is running, version {}", peer_text(node->name, node->id), node->version)});
    GW_TRY(const auto peers, client.peers());
    add_findings(*node, peers, client, findings);
  }
  GW_TRY(DiskFacts disk, disk_facts(state));
  if (node) disk.full |= node->storage.full;
  findings.push_back(check_disk(disk));
  for (Finding& finding : check_kernel(kernel_facts())) findings.push_back(std::move(finding));
  return findings;
}

std::string text_of(const std::vector<Finding>& findings, const Terminal& terminal) {
  std::string text;
  for (const Finding& finding : findings) {
    const Style style = finding.verdict == Verdict::ok ? Style::green : finding.verdict == Verdict::warn ? Style::yellow : Style::red;
    text += fmt::format("{}  {:<16} {}\n", styled(terminal, style, fmt::format("{:<4}", name(finding.verdict))), finding.check,
                        printable(finding.sentence, Newlines::replaced));
    if (finding.verdict != Verdict::ok) text += fmt::format("{:23}{} ({})\n", "", finding.fix, entry_of(finding.reason).name);
  }
  return text;
}

Result<int> examine_and_tell(Invocation& invocation) {
  invocation.console.progress("checking...");
  GW_TRY(const std::vector<Finding> findings, examine(invocation.settings));
  invocation.console.clear_progress();
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"check", finding.check},
                    {"verdict", name(finding.verdict)},
                    {"reason", entry_of(finding.reason).name},
                    {"sentence", finding.sentence},
                    {"fix", finding.fix}});
  const Verdict verdict = overall(findings);
  invocation.console.print({"godwit.doctor/1",
                            {{"verdict", name(verdict)}, {"findings", list}},
                            text_of(findings, invocation.console.out()),
                            std::string(name(verdict))});
  return verdict == Verdict::bad ? static_cast<int>(ExitCode::failed) : 0;
}

}  // namespace

void add_doctor_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "doctor",
      {.summary = "Diagnose the local daemon and this machine",
       .details = "Checks ports, reachability, clock, versions, disk and kernel, and prints a fix for each problem. Exits with 1 if "
                  "something does not work; a warning costs speed or safety only.",
       .examples = {"godwit doctor", "godwit doctor -o json"}});
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([](Invocation& invocation) { return examine_and_tell(invocation); });
}

}  // namespace gw::cli
