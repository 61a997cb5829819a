#include "cli/commands/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/console/quantity.h"

namespace gw::cli {
namespace {

constexpr std::string_view kUsualPort = ":7400";
constexpr std::chrono::milliseconds kClockWarn{2'000}, kClockBad{60'000};
constexpr std::uint64_t kDiskBad = 100u << 20, kDiskWarn = 2ull << 30;
constexpr std::chrono::milliseconds kFlushWarn{200};

Finding good(std::string check, std::string sentence) { return {.check = std::move(check), .sentence = std::move(sentence)}; }

// An empty `sentence` stands for that of the reason.
Finding found(std::string check, Verdict verdict, Reason reason, std::string sentence = {}) {
  const ReasonEntry& entry = entry_of(reason);
  if (sentence.empty()) sentence = entry.sentence;
  return {.check = std::move(check), .verdict = verdict, .reason = reason, .sentence = std::move(sentence), .fix = std::string(entry.fix)};
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address.starts_with("[::1]"); }

}  // namespace

std::string_view name(Verdict verdict) { return verdict == Verdict::ok ? "ok" : verdict == Verdict::warn ? "warn" : "bad"; }

Finding check_ports(const std::vector<std::string>& addresses) {
  if (addresses.empty()) return found("ports", Verdict::bad, Reason::not_listening);
  const std::string all = fmt::format("{}", fmt::join(addresses, ", "));
  if (std::ranges::all_of(addresses, is_loopback))
    return found("ports", Verdict::warn, Reason::loopback_only,
                 fmt::format("the daemon listens at {} only, which other machines cannot reach", all));
  if (!addresses.front().ends_with(kUsualPort))
    return found("ports", Verdict::warn, Reason::other_port, fmt::format("the daemon listens at {}, not at the default port 7400", all));
  return good("ports", fmt::format("the daemon listens at {}", all));
}

Finding check_reach(Reach reach, std::size_t reached, std::size_t missed) {
  const std::string seen = fmt::format("{} of {} could dial this machine", reached, counted(reached + missed, "other peer"));
  switch (reach) {
    case Reach::open:
      return good("reachability", seen);
    case Reach::outbound:
      return found("reachability", Verdict::warn, Reason::outbound_only, seen);
    case Reach::relay_only:
      return found("reachability", Verdict::warn, Reason::relay_only, seen + ", and it can dial its anchors only");
    case Reach::unknown:
      break;
  }
  return found("reachability", Verdict::warn, Reason::reach_unknown);
}

Finding check_nat(Reach reach, const std::string& published, const std::vector<std::string>& own) {
  const std::string host = published.substr(0, published.rfind(':'));
  const bool ours = std::ranges::find(own, host) != own.end();
  if (reach == Reach::unknown)
    return found("nat", Verdict::ok, Reason::reach_unknown, "unknown until other peers have tried to dial this machine");
  if (reach == Reach::open)
    return good("nat", ours ? fmt::format("none: {} is an address of this machine", host)
                            : fmt::format("a port of {} is forwarded to this machine", host));
  return found(
      "nat", Verdict::warn, Reason::outbound_only,
      ours ? "a firewall or router blocks incoming connections" : fmt::format("behind NAT: other peers see this machine as {}", host));
}

Finding check_peers(std::size_t others) {
  if (others == 0) return found("peers", Verdict::warn, Reason::alone);
  return good("peers", fmt::format("{} alive besides this machine", counted(others, "peer")));
}

Finding check_clock(std::vector<std::chrono::milliseconds> ahead) {
  if (ahead.empty()) return found("clock", Verdict::ok, Reason::alone, "no other peer is connected, so the clock was not compared");
  std::ranges::sort(ahead);
  const std::chrono::milliseconds middle = ahead[ahead.size() / 2];
  const std::string sentence =
      fmt::format("{:+.3f} s against the clocks of {}", -std::chrono::duration<double>(middle).count(), counted(ahead.size(), "peer"));
  if (std::chrono::abs(middle) < kClockWarn) return good("clock", sentence);
  return found("clock", std::chrono::abs(middle) < kClockBad ? Verdict::warn : Verdict::bad, Reason::clock_off, sentence);
}

Finding check_versions(const std::string& ours, const std::vector<std::string>& others) {
  const std::set<std::string> all(others.begin(), others.end());
  if (all.empty() || all == std::set<std::string>{ours}) return good("versions", fmt::format("all peers asked run {}", ours));
  return found("versions", Verdict::warn, Reason::versions_differ, fmt::format("this peer runs {}, others {}", ours, fmt::join(all, ", ")));
}

Finding check_workers(const std::string& workers_fail, std::uint32_t speed) {
  if (!workers_fail.empty()) return found("workers", Verdict::bad, Reason::workers_fail, "workers cannot start: " + workers_fail);
  if (speed == 0) return good("workers", "not tried yet: the daemon measures the speed of this machine");
  return good("workers", fmt::format("they start; the speed of a core is {:.2f} of the reference machine", speed / 1000.0));
}

Finding check_lending(std::uint32_t slots, const std::string& not_lending, const std::string& audience) {
  if (slots == 0) return found("lending", Verdict::warn, Reason::lends_nothing, "this machine lends no cores");
  if (!not_lending.empty())
    return found("lending", Verdict::warn, Reason::lends_nothing, "this machine lends nothing to other peers now: " + not_lending);
  if (audience == "mine") return found("lending", Verdict::ok, Reason::lends_to_owner);
  return good("lending", fmt::format("{} for {}", counted(slots, "slot"), audience));
}

Finding check_disk(const DiskFacts& disk) {
  const std::string sentence = fmt::format("{} free; a flushed write takes {} ms", human_bytes(disk.free_bytes), disk.flush.count());
  if (disk.full) return found("disk", Verdict::bad, Reason::disk_low, "the disk is full, so the daemon takes no new work; " + sentence);
  if (disk.free_bytes < kDiskWarn)
    return found("disk", disk.free_bytes < kDiskBad ? Verdict::bad : Verdict::warn, Reason::disk_low, sentence);
  if (disk.flush > kFlushWarn) return found("disk", Verdict::warn, Reason::disk_slow, sentence);
  return good("disk", sentence);
}

std::vector<Finding> check_kernel(const KernelFacts& kernel) {
  std::vector<Finding> findings;
  findings.push_back(kernel.seccomp ? good("seccomp", "available") : found("seccomp", Verdict::bad, Reason::no_seccomp));
  findings.push_back(kernel.landlock > 0 ? good("landlock", fmt::format("version {}", kernel.landlock))
                                         : found("landlock", Verdict::warn, Reason::no_landlock));
  findings.push_back(kernel.control_group.empty()
                         ? found("control groups", Verdict::warn, Reason::no_control_group, kernel.no_control_group)
                         : good("control groups", kernel.control_group));
  findings.push_back(kernel.write_tracking ? good("write tracking", "by userfaultfd")
                                           : found("write tracking", Verdict::warn, Reason::no_write_tracking));
  findings.push_back(kernel.user_namespaces ? good("user namespaces", "available")
                                            : found("user namespaces", Verdict::warn, Reason::no_user_namespaces));
  return findings;
}

Verdict overall(const std::vector<Finding>& findings) {
  Verdict worst = Verdict::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace gw::cli
