#include "cli/console/watch_screen.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

std::string bar_of(std::uint64_t done, std::uint64_t failed, std::uint64_t all, std::size_t width) {
  if (all == 0 || width == 0) return "";
  const auto part = [&](std::uint64_t count) { return static_cast<std::size_t>(width * std::min(count, all) / all); };
  const std::size_t good = part(done), both = std::max(part(done + failed), good);
  return std::string(good, '#') + std::string(both - good, 'x') + std::string(width - both, '-');
}

std::string hosts_table(const node::JobView& view, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{.heading = "HOST"},
               {.heading = "STATE"},
               {.heading = "SLOTS", .align = Align::right},
               {.heading = "RUNNING", .align = Align::right},
               {.heading = "FINISHED", .align = Align::right},
               {.heading = "SAID LAST", .fit = Table::Fit::cut}});
  for (const node::JobPeerView& peer : view.peers)
    table.add_row({peer_text(peer.name, peer.id), std::string(gateway::name(peer.state)), std::to_string(peer.slots),
                   std::to_string(peer.running), std::to_string(peer.finished), peer.failure});
  return table.render(terminal);
}

// The first lines of the text, each cut to the width.
std::string first_lines(std::string_view text, std::size_t lines, std::size_t width) {
  std::string out;
  while (!text.empty() && lines-- > 0) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fitted(text.substr(0, end), width) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

void WatchScreen::add(Clock::time_point now, const node::JobView& view) {
  view_ = view;
  samples_.push_back({now, over()});
  while (samples_.size() > 2 && now - samples_.front().at > kWindow) samples_.pop_front();
}

std::uint64_t WatchScreen::all() const { return std::max<std::uint64_t>(view_.summary.tasks, view_.summary.threads); }

double WatchScreen::rate() const {
  if (samples_.size() < 2) return 0;
  const double seconds = std::chrono::duration<double>(samples_.back().at - samples_.front().at).count();
  return seconds <= 0 ? 0 : static_cast<double>(samples_.back().over - std::min(samples_.back().over, samples_.front().over)) / seconds;
}

std::optional<std::chrono::seconds> WatchScreen::left() const {
  if (rate() <= 0 || node::is_over(view_.summary.state)) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(static_cast<double>(all() - std::min(all(), over())) / rate()));
}

std::string WatchScreen::line() const {
  const node::JobSummary& job = view_.summary;
  std::string text = fmt::format(
      "{} {}/{} done, {} running on {}, {} waiting, {} failed", gateway::name(job.state), job.ended, all(), job.running,
      counted(static_cast<std::uint64_t>(std::ranges::count_if(view_.peers, [](const auto& peer) { return peer.slots > 0; })), "peer"),
      job.waiting, job.failed);
  if (rate() > 0) text += fmt::format(", {:.1f}/s", rate());
  if (const auto time = left()) text += fmt::format(", {} left", human_duration(*time));
  return text;
}

std::string WatchScreen::render(const Terminal& terminal, std::size_t lines) const {
  const node::JobSummary& job = view_.summary;
  const std::size_t width = terminal.width == 0 ? 80 : terminal.width;
  std::string text = fmt::format("Job {}  {}\n", job.id.brief(), job.name);
  text += bar_of(job.ended, job.failed, all(), width > 2 ? width - 2 : 0) + "\n";
  text += line() + "\n";
  if (job.retried > 0) text += fmt::format("{} repeated\n", counted(job.retried, "run"));
  if (!job.sentence.empty()) text += job.sentence + "\n";
  if (!view_.peers.empty()) text += "\n" + hosts_table(view_, terminal);
  if (const std::string waits = waits_of(view_, terminal); !waits.empty()) text += "\n" + waits;
  std::string failures;
  for (const node::ThreadView& thread : view_.threads)
    if (thread.state == node::ThreadView::State::failed && thread.task)
      failures += fmt::format("task {} failed with code {} {}\n", *thread.task, thread.exit_code,
                              thread.sentence.substr(0, thread.sentence.find('\n')));
  if (!failures.empty()) text += "\n" + failures;
  return first_lines(text, lines, width);
}

}  // namespace gw::cli
