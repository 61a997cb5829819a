#include "cli/console/job_progress.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/console/quantity.h"

namespace gw::cli {
namespace {

constexpr std::size_t kBarWidth = 24;

std::string bar(std::uint64_t done, std::uint64_t all) {
  const std::size_t filled = all == 0 ? 0 : static_cast<std::size_t>(kBarWidth * std::min(done, all) / all);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "]";
}

}  // namespace

void JobProgress::start_from(const node::JobSummary& summary) {
  tasks_ = std::max<std::uint64_t>(summary.tasks, summary.threads);
  ended_ = summary.ended;
  failed_ = summary.failed;
  skipped_ = summary.skipped;
  repeated_ = summary.retried;
  if (summary.tasks > 1) tasks_running_ = summary.running;
  resumed_ = summary.counters.resumed;
  restarted_ = summary.counters.restarted;
  peers_lost_ = summary.counters.peers_lost;
}

void JobProgress::place(job::ThreadId thread, const job::PeerId& host) {
  running_[thread] = host;
  hosts_.insert(host);
  known_.insert(thread);
  tasks_ = std::max<std::uint64_t>(tasks_, known_.size());  // the manifest does not list forked threads
}

void JobProgress::finish(job::ThreadId thread) { running_.erase(thread); }

void JobProgress::take(const node::JobEvent& event) {
  using Event = node::JobEvent;
  if (const auto* tasks = std::get_if<Event::TasksEnded>(&event.kind)) {
    ended_ = tasks->ended;
    failed_ = tasks->failed;
    tasks_running_ = tasks->running;
    array_hosts_ = std::max(array_hosts_, tasks->hosts);
  } else if (const auto* skipped = std::get_if<Event::TasksSkipped>(&event.kind)) {
    skipped_ = skipped->skipped;
  } else if (std::holds_alternative<Event::TaskRepeated>(event.kind)) {
    ++repeated_;
  } else if (const auto* placed = std::get_if<Event::ThreadPlaced>(&event.kind)) {
    place(placed->thread, placed->host);
  } else if (const auto* resumed = std::get_if<Event::ThreadResumed>(&event.kind)) {
    ++resumed_;
    place(resumed->thread, resumed->host);
  } else if (const auto* restarted = std::get_if<Event::ThreadRestarted>(&event.kind)) {
    ++restarted_;
    place(restarted->thread, restarted->host);
  } else if (const auto* lost = std::get_if<Event::PeerLost>(&event.kind)) {
    ++peers_lost_;
    std::erase_if(running_, [lost](const auto& entry) { return entry.second == lost->peer; });
  } else if (const auto* ended = std::get_if<Event::ThreadEnded>(&event.kind)) {
    ++ended_;  // of one program alone the code may say anything
    finish(ended->thread);
  } else if (const auto* failed = std::get_if<Event::ThreadFailed>(&event.kind)) {
    ++failed_;
    finish(failed->thread);
  }
}

std::string JobProgress::losses() const {
  std::string text;
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  if (skipped_ > 0) text += fmt::format(", {} skipped", skipped_);
  if (repeated_ > 0) text += fmt::format(", {} repeated", counted(repeated_, "run"));
  if (peers_lost_ > 0) text += fmt::format(", {} lost", counted(peers_lost_, "peer"));
  if (resumed_ > 0) text += fmt::format(", {} resumed", counted(resumed_, "thread"));
  if (restarted_ > 0) text += fmt::format(", {} restarted", counted(restarted_, "thread"));
  return text;
}

std::string JobProgress::line() const {
  std::set<job::PeerId> hosts;
  for (const auto& [thread, host] : running_) hosts.insert(host);
  std::string text = fmt::format("{} {}/{} done", bar(ended_, tasks_), ended_, tasks_);
  const std::uint64_t running = tasks_running_.value_or(running_.size()), on = tasks_running_ ? array_hosts_ : hosts.size();
  if (running > 0) text += fmt::format(", {} running on {}", running, counted(on, "peer"));
  return text + losses();
}

std::string JobProgress::summary() const {
  std::string text = fmt::format("{} of {}", ended_, tasks_);
  const std::uint64_t hosts = std::max<std::uint64_t>(hosts_.size(), array_hosts_);
  if (hosts > 0) text += fmt::format(" on {}", counted(hosts, "peer"));
  return text + losses();
}

}  // namespace gw::cli
