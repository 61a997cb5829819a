#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/commands/commands.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "gateway/client.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

using node::JobState;
using node::PeerView;

struct DaemonStatus {
  node::NodeView node;
  std::vector<PeerView> peers;
  std::vector<node::JobSummary> jobs;
  std::vector<node::HostedJobView> hosted;
  gateway::WebView web;
};

Result<DaemonStatus> ask_all(const Settings& settings) {
  gateway::Client client(settings.socket());
  DaemonStatus status;
  GW_TRY(status.node, client.node());
  GW_TRY(status.peers, client.peers());
  GW_TRY(status.jobs, client.jobs());
  GW_TRY(status.hosted, client.hosted());
  GW_TRY(status.web, client.web());
  return status;
}

std::string reach_text(const node::NodeView& node) {
  const std::string at = node.addresses.empty() ? "nowhere" : node.addresses.front();
  switch (node.reach) {
    case Reach::unknown:
      return fmt::format("unknown yet; listens at {}", at);
    case Reach::open:
      return fmt::format("open; other peers dial {}", at);
    case Reach::outbound:
      return "outbound; other peers reach it through its anchors";
    case Reach::relay_only:
      return "relay only; other peers reach it through relays";
  }
  return "";
}

// "open: 4 alive, 1 suspected" for each grid.
std::vector<std::string> grid_lines(const std::vector<PeerView>& peers) {
  struct Counts {
    std::size_t alive = 0, suspected = 0, silent = 0, slots = 0, free_slots = 0;
  };
  std::map<std::string, Counts> grids;
  for (const PeerView& peer : peers) {
    Counts& grid = grids[peer.grid];
    const bool here = peer.state == PeerView::State::self || peer.state == PeerView::State::alive;
    ++(here ? grid.alive : peer.state == PeerView::State::suspected ? grid.suspected : grid.silent);
    if (here) grid.slots += peer.slots, grid.free_slots += peer.free_slots;
  }
  std::vector<std::string> lines;
  for (const auto& [name, grid] : grids) {
    lines.push_back(fmt::format("{}: {} alive, {} of {} slots free", name, counted(grid.alive, "peer"), grid.free_slots, grid.slots));
    if (grid.suspected > 0) lines.back() += fmt::format(", {} suspected", grid.suspected);
    if (grid.silent > 0) lines.back() += fmt::format(", {} silent", grid.silent);
  }
  return lines;
}

std::string jobs_text(const std::vector<node::JobSummary>& jobs) {
  std::map<JobState, std::size_t> counts;
  std::uint64_t running = 0, waiting = 0;
  for (const node::JobSummary& job : jobs) {
    ++counts[job.state];
    running += job.running;
    waiting += job.waiting;
  }
  if (jobs.empty()) return "none";
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(fmt::format("{} {}", count, gateway::name(state)));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (counts.contains(JobState::running)) text += fmt::format("; threads: {} running, {} waiting", running, waiting);
  return text;
}

std::string relays_text(const node::NodeView& node) {
  std::string text = node.anchors.empty() ? "none needed" : fmt::format("anchors: {}", fmt::join(node.anchors, ", "));
  if (node.relayed_for_others > 0) text += fmt::format("; {} relayed for others", human_bytes(node.relayed_for_others));
  return text;
}

std::string web_text(const gateway::WebView& web) {
  if (web.address.empty()) return "not served; 'godwit up --web' serves it";
  return fmt::format("{}; open it with 'godwit web open'", web.address);
}

std::string up_time(const node::NodeView& node) {
  const auto age = std::chrono::system_clock::now() - node.started_at;
  return human_duration(std::chrono::duration_cast<std::chrono::milliseconds>(std::max(age, node::WallTime::duration(0))));
}

std::string storage_text(const node::StorageView& storage) {
  const std::string full = "the disk is full, no new work is taken: free some space, for example with 'godwit job prune'; ";
  return fmt::format("{}{} with {} of output; kept for {}, up to {}", storage.full ? full : "",
                     counted(storage.finished_jobs, "finished job"), human_bytes(storage.finished_bytes), human_duration(storage.keep_for),
                     human_bytes(storage.keep_bytes));
}

std::string lent_text(const node::StorageView& storage) {
  return fmt::format("{} of {} for {} of other peers", human_bytes(storage.lent_bytes), human_bytes(storage.lent_limit),
                     counted(storage.lent_threads, "thread"));
}

std::string cache_text(const node::StorageView& storage) {
  return fmt::format("{} of {} used; {} with {} found there since the start", human_bytes(storage.cache_bytes),
                     human_bytes(storage.cache_limit), counted(storage.cache_hits, "piece"), human_bytes(storage.cache_hit_bytes));
}

std::string capacity_line(const node::NodeView& node) {
  if (!node.workers_fail.empty()) return fmt::format("none: workers cannot start: {}", node.workers_fail);
  return capacity_text(node.capacity);
}

Result<int> status(Invocation& invocation) {
  GW_TRY(const DaemonStatus status, ask_all(invocation.settings));
  const node::NodeView& node = status.node;
  Rows rows;
  rows.add("peer", "peer", node.id.hash.hex(),
           fmt::format("{}, version {}, up {}", peer_text(node.name, node.id), node.version, up_time(node)))
      .add("reach", "reach", gateway::name(node.reach), reach_text(node))
      .add("grids", "grids", Json(), fmt::format("{}", fmt::join(grid_lines(status.peers), "; ")))
      .add("slots", "slots", Json(), fmt::format("{} of {} free, {} running", node.free_slots, node.slots, counted(node.workers, "worker")))
      .add("share", "shared", Json(), share_text(node.share))
      .add("lending", "lends to", Json(), lending_text(node))
      .add("capacity", "capacity", Json(), capacity_line(node))
      .add("load", "load", Json(), fmt::format("{:.2f} on {}", node.load, counted(node.cores, "core")))
      .add("jobs", "jobs", Json(), jobs_text(status.jobs))
      .add("storage", "storage", Json(), storage_text(node.storage))
      .add("lent_disk", "disk lent", Json(), lent_text(node.storage))
      .add("cache", "cache", Json(), cache_text(node.storage))
      .add("relays", "relays", Json(), relays_text(node))
      .add("web", "dashboard", Json(), web_text(status.web))
      .add("state", "state", node.state);
  const Json json = {{"node", gateway::to_json(node)},
                     {"peers", gateway::to_json(status.peers)["peers"]},
                     {"jobs", gateway::to_json(status.jobs)["jobs"]},
                     {"hosted", gateway::to_json(status.hosted)["hosted"]},
                     {"web", status.web.address.empty() ? Json() : Json(status.web.address)}};
  std::string text = rows.render(invocation.console.out());
  std::vector<node::JobSummary> open = status.jobs;
  std::erase_if(open, [](const node::JobSummary& job) { return is_over(job.state); });
  if (!open.empty()) text += "\n" + table_of(open, std::chrono::system_clock::now(), invocation.console.out());
  if (!status.hosted.empty())
    text += "\nJobs that run here:\n" + table_of(status.hosted, node.id, std::chrono::system_clock::now(), invocation.console.out());
  invocation.console.print({"godwit.status/1", json, text, std::string(gateway::name(node.reach))});
  return 0;
}

Result<int> print_metrics(Invocation& invocation) {
  GW_TRY(const std::string text, gateway::Client(invocation.settings.socket()).metrics());
  Json values = Json::object();
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (const std::size_t blank = line.find(' '); !line.starts_with('#') && blank != std::string_view::npos)
      values[std::string(line.substr(0, blank))] = std::stoull(std::string(line.substr(blank + 1)));
  }
  invocation.console.print({"godwit.metrics/1", {{"metrics", values}}, text, text});
  return 0;
}

}  // namespace

void add_status_command(CommandTree& tree) {
  Command& command =
      tree.add(tree.root(), "status",
               {.summary = "Show the status of the local daemon",
                .details = "Shows the daemon, its reachability, grids, slots, share and jobs, and the jobs that run here for other peers.",
                .examples = {"godwit status", "godwit status -o json"}});
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([](Invocation& invocation) { return status(invocation); });
}

void add_metrics_command(CommandTree& tree) {
  Command& command = tree.add(tree.root(), "metrics",
                              {.summary = "Print the metrics of the local daemon",
                               .details = "Prints them in the Prometheus text format; the API serves the same at /v1/metrics.",
                               .examples = {"godwit metrics", "godwit metrics -o json"}});
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([](Invocation& invocation) { return print_metrics(invocation); });
}

}  // namespace gw::cli
