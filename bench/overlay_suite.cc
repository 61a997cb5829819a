// Thirty peers of ours beside thirty agents of serf, on one machine: how soon all know all, how soon all know of a death, and what it
// costs when nothing happens.

#include <unistd.h>

#include <chrono>
#include <thread>

#include "loopback.h"
#include "membership.h"
#include "simulated_overlay.h"
#include "statistics.h"
#include "suites.h"

namespace gw::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMembers = 30;
constexpr std::size_t kDeaths = 3;
constexpr std::chrono::seconds kGridPatience{120};
constexpr std::chrono::seconds kSettling{45};  // our peers send more in the first half minute after a start
constexpr std::chrono::seconds kIdle{60};
constexpr std::chrono::milliseconds kLookAgain{10};

struct Figures {
  double join_seconds = 0;
  double detect_seconds = 0;
  double bytes_per_second = 0;  // sent by each
  double resident_kib = 0;
  double cpu_percent = 0;
};

// Until every member that is not in `dead` takes `others` for alive; how long it took.
Result<double> wait_for_view(Membership& members, const std::vector<std::size_t>& dead, std::size_t others) {
  const auto began = Clock::now();
  std::vector<std::size_t> waiting;
  for (std::size_t member = 0; member < members.size(); ++member)
    if (std::ranges::find(dead, member) == dead.end()) waiting.push_back(member);
  while (!waiting.empty()) {
    if (Clock::now() - began > kGridPatience) return fail(Kind::timeout, "{} members do not see what they should", waiting.size());
    // Ask only the last member until it sees all others, then the one before.
    GW_TRY(const std::size_t alive, members.alive(waiting.back()));
    if (alive == others) {
      waiting.pop_back();
    } else {
      std::this_thread::sleep_for(kLookAgain);
    }
  }
  return std::chrono::duration<double>(Clock::now() - began).count();
}

Status measure_idle(Membership& members, Figures& figures) {
  std::this_thread::sleep_for(kSettling);
  GW_TRY(const std::uint64_t bytes, bytes_sent());
  GW_TRY(const double cpu, members.cpu_seconds());
  std::this_thread::sleep_for(kIdle);
  GW_TRY(const std::uint64_t bytes_after, bytes_sent());
  GW_TRY(const double cpu_after, members.cpu_seconds());
  const auto seconds = static_cast<double>(kIdle.count());
  figures.bytes_per_second = static_cast<double>(bytes_after - bytes) / seconds / static_cast<double>(members.size());
  figures.cpu_percent = (cpu_after - cpu) / seconds * 100;
  GW_TRY(figures.resident_kib, members.resident_kib());
  return ok();
}

Result<Figures> measure(Membership& members) {
  Figures figures;
  GW_TRY_VOID(members.start_first());
  GW_TRY_VOID(members.start_others(kMembers - 1));
  GW_TRY(figures.join_seconds, wait_for_view(members, {}, kMembers - 1));
  GW_TRY_VOID(measure_idle(members, figures));
  std::vector<std::size_t> dead;
  std::vector<double> times;
  for (std::size_t death = 1; death <= kDeaths; ++death) {
    dead.push_back(death * kMembers / (kDeaths + 1));
    members.kill(dead.back());
    GW_TRY(const double seconds, wait_for_view(members, dead, kMembers - 1 - death));
    times.push_back(seconds);
  }
  figures.detect_seconds = percentile(times, 0.5);
  return figures;
}

void add(Report& report, const std::string& whose, const Figures& figures) {
  report.add(whose + "_join_s", figures.join_seconds, "s", "from the start of 29 until all 30 know all");
  report.add(whose + "_detect_s", figures.detect_seconds, "s", "from a kill -9 until all others know; median of 3");
  report.add(whose + "_bytes_per_s", figures.bytes_per_second, "count", "sent by each when nothing happens, headers included");
  report.add(whose + "_rss_kib", figures.resident_kib, "KiB", "resident memory of each; goal for ours: <= 61440");
  report.add(whose + "_cpu_percent", figures.cpu_percent, "ratio", "of a core, by each when nothing happens; goal for ours: <= 0.5");
}

}  // namespace

Result<Report> run_overlay_suite(const SuiteOptions&) {
  Report report{.suite = "overlay"};
  GW_TRY_VOID(enter_private_network());
  Figures ours, theirs;
  {
    GodwitMembership members;
    GW_TRY(ours, measure(members));
  }
  {
    GW_TRY(const auto members, SerfMembership::make());
    GW_TRY(theirs, measure(*members));
  }
  const char* const reference = "ours over serf's, thirty on one machine; less is better";
  report.add("join_vs_serf", ours.join_seconds / theirs.join_seconds, "ratio", reference);
  report.add("detect_vs_serf", ours.detect_seconds / theirs.detect_seconds, "ratio", reference);
  report.add("bytes_vs_serf", ours.bytes_per_second / theirs.bytes_per_second, "ratio", reference);
  report.add("rss_vs_serf", ours.resident_kib / theirs.resident_kib, "ratio", reference);
  add(report, "godwit", ours);
  add(report, "serf", theirs);
  GW_TRY_VOID(add_simulated_overlay(report));
  return report;
}

Result<Report> run_simulation_suite(const SuiteOptions&) {
  Report report{.suite = "simulation"};
  GW_TRY_VOID(add_simulated_overlay(report));
  return report;
}

}  // namespace gw::bench
