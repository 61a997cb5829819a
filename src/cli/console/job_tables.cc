#include "cli/console/job_tables.h"

#include <fmt/format.h>

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

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// The machine of a thread, by its name among the peers of the job.
std::string host_text(const node::JobView& job, const std::optional<job::PeerId>& host) {
  if (!host) return "-";
  const auto found = std::ranges::find(job.peers, *host, &node::JobPeerView::id);
  return peer_text(found == job.peers.end() ? "" : found->name, *host);
}

std::string peers_table(const node::JobView& job, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "PEER"},
               {.heading = "MACHINE"},
               {.heading = "STATE"},
               {.heading = "SLOTS", .align = Align::right},
               {.heading = "RUNNING", .align = Align::right},
               {.heading = "FINISHED", .align = Align::right},
               {.heading = "LOST", .align = Align::right},
               {.heading = "TAKEN OVER", .align = Align::right}});
  for (const node::JobPeerView& peer : job.peers)
    table.add_row({peer.id.brief(), or_dash(peer.name), std::string(gateway::name(peer.state)), std::to_string(peer.slots),
                   std::to_string(peer.running), std::to_string(peer.finished), std::to_string(peer.lost), std::to_string(peer.taken)});
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
                   std::string(gateway::name(thread.state)), host_text(job, thread.host), std::to_string(thread.epoch),
                   std::to_string(thread.resumed), std::to_string(thread.restarted), ended ? std::to_string(thread.exit_code) : "-",
                   thread.sentence.substr(0, thread.sentence.find('\n'))});
  }
  return table.render(terminal);
}

}  // namespace

std::string peer_text(const std::string& name, const job::PeerId& id) {
  return name.empty() ? id.brief() : fmt::format("{} ({})", name, id.brief());
}

std::string capacity_text(const job::Capacity& capacity) {
  std::string text = capacity.speed() == 0 ? "speed not measured yet" : fmt::format("speed {:.2f}", capacity.speed() / 1000.0);
  if (capacity.memory_bytes() > 0) text += fmt::format(", {} of memory for each slot", human_bytes(capacity.memory_bytes()));
  text += fmt::format(", {} of disk free, {:.0f} % of its cores busy with other programs", human_bytes(capacity.disk_bytes()),
                      capacity.load() / 10.0);
  if (!capacity.arch().empty()) text += fmt::format(", {}", capacity.arch());
  if (!capacity.tags().empty()) text += fmt::format(", tags {}", fmt::join(capacity.tags(), ", "));
  return text;
}

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
               {.heading = "MACHINE"},
               {.heading = "STATE"},
               {.heading = "DISTANCE", .align = Align::right},
               {.heading = "LAST SEEN", .align = Align::right},
               {.heading = "FREE SLOTS", .align = Align::right},
               {.heading = "SPEED", .align = Align::right},
               {.heading = "NETWORK", .align = Align::right},
               {.heading = "CLASS"},
               {.heading = "GRID"},
               {.heading = "ADDRESS"}});
  for (const PeerView& peer : peers)
    table.add_row({peer.id.brief(), or_dash(peer.name), std::string(gateway::name(peer.state)), distance_of(peer),
                   peer.heard ? human_duration(*peer.heard) + " ago" : "-", fmt::format("{}/{}", peer.free_slots, peer.slots),
                   peer.capacity && peer.capacity->speed() > 0 ? fmt::format("{:.2f}", peer.capacity->speed() / 1000.0) : "-",
                   peer.network_speed ? human_bytes(static_cast<std::uint64_t>(*peer.network_speed)) + "/s" : "-",
                   std::string(gateway::name(peer.reach)), peer.grid, peer.address});
  return table.render(terminal);
}

std::string table_of(const std::vector<node::HostedJobView>& jobs, const job::PeerId& self, node::WallTime now, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "JOB"},
               {.heading = "OWNER"},
               {.heading = "HOME"},
               {.heading = "STATE"},
               {.heading = "LANES", .align = Align::right},
               {.heading = "SINCE", .align = Align::right},
               {.heading = "CPU", .align = Align::right},
               {.heading = "MEMORY", .align = Align::right},
               {.heading = "PROGRAM", .fit = Table::Fit::cut}});
  for (const node::HostedJobView& job : jobs)
    table.add_row({job.id.brief(), job.owner.hex().substr(0, 8), job.home == self ? "this machine" : peer_text(job.home_name, job.home),
                   std::string(gateway::name(job.state)), fmt::format("{}/{}", job.lanes, job.slots), time_between(job.since, now),
                   human_duration(job.cpu_time), human_bytes(job.memory_bytes), job.program});
  return table.render(terminal);
}

namespace {

std::string placing_text(const node::PlacingView& placing) {
  std::string text = placing.place;
  if (!placing.needs.empty()) text += fmt::format(", needs {}", placing.needs);
  if (placing.min_slots > 0) text += fmt::format(", begins with {}", counted(placing.min_slots, "worker"));
  text += fmt::format(", lost machines: {}", placing.on_failure);
  if (placing.job_time.count() > 0) text += fmt::format(", at most {}", human_duration(placing.job_time));
  return text;
}

}  // namespace

std::string text_of(const node::JobView& job, Threads threads, node::WallTime now, const Terminal& terminal) {
  const node::JobSummary& summary = job.summary;
  const node::JobCounters& counters = summary.counters;
  Rows rows;
  rows.add("id", "job", summary.id.hash.hex()).add("name", "program", summary.name).add("state", "state", gateway::name(summary.state));
  if (is_over(summary.state)) rows.add("exit_code", "exit code", summary.exit_code);
  rows.add("done", "done", progress_of(summary))
      .add("running", "running", fmt::format("{} of at most {}", summary.running, summary.slots))
      .add("time", "time", run_time(summary, now))
      .add("placing", "placing", placing_text(summary.placing))
      .add("lost", "lost",
           fmt::format("{}, {}: {} resumed, {} restarted", counted(counters.peers_lost, "peer"), counted(counters.lost, "thread"),
                       counters.resumed, counters.restarted));
  if (summary.failed > 0) rows.add("failed", "failed", summary.failed);
  if (summary.skipped > 0) rows.add("skipped", "skipped", summary.skipped);
  rows.add("stored_bytes", "output", human_bytes(summary.stored_bytes));
  if (!summary.sentence.empty()) rows.add("sentence", "problem", summary.sentence);
  std::string text = rows.render(terminal);
  if (const std::string waits = waits_of(job, terminal); !waits.empty()) text += "\n" + waits;
  if (!job.peers.empty()) text += "\n" + peers_table(job, terminal);
  if (threads == Threads::shown) text += "\n" + threads_table(job, terminal);
  return text;
}

std::string waits_of(const node::JobView& job, const Terminal& terminal) {
  if (job.waits.empty()) return "";
  Table table(
      {{.heading = "WAITING", .align = Table::Align::right}, {.heading = "REASON"}, {.heading = "MEANING", .fit = Table::Fit::cut}});
  std::string to_do;
  for (const job::WaitCount& wait : job.waits) {
    const ReasonEntry& entry = entry_of(wait.why.reason);
    table.add_row({std::to_string(wait.count), std::string(entry.name), sentence_of(wait.why)});
    if (!entry.fix.empty()) to_do += fmt::format("{}: {}\n", entry.name, entry.fix);
  }
  return table.render(terminal) + to_do;
}

std::string sentence_of(const Explanation& why) {
  const std::string_view sentence = entry_of(why.reason).sentence;
  return why.detail.empty() ? std::string(sentence) : fmt::format("{}: {}", sentence, why.detail);
}

std::string absent_of(const node::JobView& job, const PeerText& peer_text, const Terminal& terminal) {
  if (job.absent.empty()) return "";
  Table table({{.heading = "PEER"}, {.heading = "REASON"}, {.heading = "WHY IT DOES NOT WORK FOR THE JOB", .fit = Table::Fit::cut}});
  for (const job::PeerReason& one : job.absent)
    table.add_row({peer_text(one.peer), std::string(entry_of(one.why.reason).name),
                   one.why.detail.empty() ? std::string(entry_of(one.why.reason).sentence) : one.why.detail});
  return table.render(terminal);
}

}  // namespace gw::cli
