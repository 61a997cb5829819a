#include "cli/console/job_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/console/quantity.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

using node::JobState;
using node::PeerView;

std::string time_between(std::optional<node::WallTime> from, node::WallTime to) {
  if (!from) return "-";
  return human_duration(std::chrono::duration_cast<std::chrono::milliseconds>(std::max(to - *from, node::WallTime::duration(0))));
}

std::string run_time(const node::JobSummary& job, node::WallTime now) { return time_between(job.submitted_at, job.ended_at.value_or(now)); }

std::string progress_of(const node::JobSummary& job) {
  return fmt::format("{}/{}", job.ended, std::max<std::uint64_t>(job.threads, job.tasks));
}

std::string distance_of(const PeerView& peer) {
  if (!peer.distance) return "-";
  return fmt::format("{:.1f} ms", std::chrono::duration<double, std::milli>(*peer.distance).count());
}

std::string peers_table(const node::JobView& job, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "PEER"},
               {.heading = "STATE"},
               {.heading = "SLOTS", .align = Align::right},
               {.heading = "RUNNING", .align = Align::right},
               {.heading = "FINISHED", .align = Align::right},
               {.heading = "LOST", .align = Align::right},
               {.heading = "TAKEN OVER", .align = Align::right}});
  for (const node::JobPeerView& peer : job.peers)
    table.add_row({peer.id.brief(), std::string(gateway::name(peer.state)), std::to_string(peer.slots), std::to_string(peer.running),
                   std::to_string(peer.finished), std::to_string(peer.lost), std::to_string(peer.taken)});
  return table.render(terminal);
}

std::string threads_table(const node::JobView& job, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "THREAD"},
               {.heading = "TASK", .align = Align::right},
               {.heading = "STATE"},
               {.heading = "PEER"},
               {.heading = "EPOCH", .align = Align::right},
               {.heading = "RESUMED", .align = Align::right},
               {.heading = "RESTARTED", .align = Align::right},
               {.heading = "EXIT", .align = Align::right},
               {.heading = "WHY", .fit = Table::Fit::cut}});
  for (const node::ThreadView& thread : job.threads) {
    const bool ended = thread.state == node::ThreadView::State::ended;
    table.add_row({gateway::thread_text(thread.id), thread.task ? std::to_string(*thread.task) : "-",
                   std::string(gateway::name(thread.state)), thread.host ? thread.host->brief() : "-", std::to_string(thread.epoch),
                   std::to_string(thread.resumed), std::to_string(thread.restarted), ended ? std::to_string(thread.exit_code) : "-",
                   thread.sentence.substr(0, thread.sentence.find('\n'))});
  }
  return table.render(terminal);
}

}  // namespace

std::string table_of(const std::vector<node::JobSummary>& jobs, node::WallTime now, const Terminal& terminal) {
  Table table({{.heading = "JOB"},
               {.heading = "STATE"},
               {.heading = "DONE", .align = Table::Align::right},
               {.heading = "RUNNING", .align = Table::Align::right},
               {.heading = "TIME", .align = Table::Align::right},
               {.heading = "PROGRAM", .fit = Table::Fit::cut}});
  for (const node::JobSummary& job : jobs)
    table.add_row({job.id.brief(), std::string(gateway::name(job.state)), progress_of(job), std::to_string(job.running), run_time(job, now),
                   job.name});
  return table.render(terminal);
}

std::string table_of(const std::vector<PeerView>& peers, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "PEER"},
               {.heading = "STATE"},
               {.heading = "DISTANCE", .align = Align::right},
               {.heading = "LAST SEEN", .align = Align::right},
               {.heading = "FREE SLOTS", .align = Align::right},
               {.heading = "CLASS"},
               {.heading = "GRID"},
               {.heading = "ADDRESS"}});
  for (const PeerView& peer : peers)
    table.add_row({peer.id.brief(), std::string(gateway::name(peer.state)), distance_of(peer),
                   peer.heard ? human_duration(*peer.heard) + " ago" : "-", fmt::format("{}/{}", peer.free_slots, peer.slots),
                   std::string(gateway::name(peer.reach)), peer.grid, peer.address});
  return table.render(terminal);
}

std::string table_of(const std::vector<node::HostedJobView>& jobs, const job::PeerId& self, const Terminal& terminal) {
  Table table({{.heading = "JOB"},
               {.heading = "HOME"},
               {.heading = "STATE"},
               {.heading = "SLOTS", .align = Table::Align::right},
               {.heading = "MEMORY", .align = Table::Align::right}});
  for (const node::HostedJobView& job : jobs)
    table.add_row({job.id.brief(), job.home == self ? "this machine" : job.home.brief(), std::string(gateway::name(job.state)),
                   std::to_string(job.slots), human_bytes(job.memory_bytes)});
  return table.render(terminal);
}

std::string text_of(const node::JobView& job, Threads threads, node::WallTime now, const Terminal& terminal) {
  const node::JobSummary& summary = job.summary;
  const node::JobCounters& counters = summary.counters;
  Rows rows;
  rows.add("id", "job", summary.id.hash.hex()).add("name", "program", summary.name).add("state", "state", gateway::name(summary.state));
  if (is_over(summary.state)) rows.add("exit_code", "exit code", summary.exit_code);
  rows.add("done", "done", progress_of(summary))
      .add("running", "running", fmt::format("{} of at most {}", summary.running, summary.slots))
      .add("time", "time", run_time(summary, now))
      .add("lost", "lost",
           fmt::format("{}, {}: {} resumed, {} restarted", counted(counters.peers_lost, "peer"), counted(counters.lost, "thread"),
                       counters.resumed, counters.restarted));
  if (summary.failed > 0) rows.add("failed", "failed", summary.failed);
  rows.add("stored_bytes", "output", human_bytes(summary.stored_bytes));
  if (!summary.sentence.empty()) rows.add("sentence", "problem", summary.sentence);
  std::string text = rows.render(terminal);
  if (const std::string waits = waits_of(job, terminal); !waits.empty()) text += "\n" + waits;
  if (!job.peers.empty()) text += "\n" + peers_table(job, terminal);
  if (threads == Threads::shown) text += "\n" + threads_table(job, terminal);
  return text;
}

std::string waits_of(const node::JobView& job, const Terminal& terminal) {
  std::map<Reason, std::size_t> waits;
  for (const node::ThreadView& thread : job.threads)
    if (thread.reason != Reason::ok) ++waits[thread.reason];
  if (waits.empty()) return "";
  Table table(
      {{.heading = "WAITING", .align = Table::Align::right}, {.heading = "REASON"}, {.heading = "MEANING", .fit = Table::Fit::cut}});
  std::string to_do;
  for (const auto& [reason, count] : waits) {
    const ReasonEntry& entry = entry_of(reason);
    table.add_row({std::to_string(count), std::string(entry.name), std::string(entry.sentence)});
    if (!entry.fix.empty()) to_do += fmt::format("{}: {}\n", entry.name, entry.fix);
  }
  return table.render(terminal) + to_do;
}

Result<job::JobId> find_job(std::string_view text, const std::vector<node::JobSummary>& jobs) {
  std::vector<job::JobId> found;
  for (const node::JobSummary& job : jobs)
    if (!text.empty() && job.id.hash.hex().starts_with(text)) found.push_back(job.id);
  if (found.size() == 1) return found.front();
  if (found.size() > 1) return fail(Kind::invalid, "{} job ids begin with '{}': give more digits", found.size(), text);
  return fail(Kind::not_found, "there is no job '{}': list the jobs with 'godwit job list'", text);
}

}  // namespace gw::cli
