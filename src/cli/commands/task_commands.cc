#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/job_parts.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "cli/jobs/job_selector.h"
#include "cli/jobs/peer_names.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

using gateway::Client;

std::string duration_of(const node::ThreadView& task) {
  if (task.started_at == job::Time(0)) return "-";
  const job::Time now = std::chrono::duration_cast<job::Time>(std::chrono::system_clock::now().time_since_epoch());
  const job::Time took = (task.ended_at == job::Time(0) ? now : task.ended_at) - task.started_at;
  return took < std::chrono::milliseconds(1) ? fmt::format("{} us", std::chrono::duration_cast<std::chrono::microseconds>(took).count())
                                             : human_duration(std::chrono::duration_cast<std::chrono::milliseconds>(took));
}

std::string first_line(const std::string& sentence) { return sentence.substr(0, sentence.find('\n')); }

bool is_over(const node::ThreadView& task) {
  return task.state == node::ThreadView::State::ended || task.state == node::ThreadView::State::failed;
}

std::string why_of(const node::ThreadView& task) {
  if (task.why.reason != Reason::ok) return sentence_of(task.why);
  return first_line(task.sentence);
}

std::string tasks_table(const std::vector<node::ThreadView>& tasks, const PeerNames& names, const Terminal& terminal) {
  using Align = Table::Align;
  const bool named = std::ranges::any_of(tasks, [](const node::ThreadView& task) { return !task.name.empty(); });
  Table table({{.heading = "TASK", .align = named ? Align::left : Align::right},
               {.heading = "STATE"},
               {.heading = "EXIT", .align = Align::right},
               {.heading = "RUNS", .align = Align::right},
               {.heading = "TIME", .align = Align::right},
               {.heading = "HOST"},
               {.heading = "WHY", .fit = Table::Fit::cut}});
  for (const node::ThreadView& task : tasks)
    table.add_row({named ? fmt::format("{} {}", *task.task, task.name) : std::to_string(*task.task), std::string(gateway::name(task.state)),
                   is_over(task) ? std::to_string(task.exit_code) : "-", task.attempts == 0 ? "-" : std::to_string(task.attempts),
                   duration_of(task), names.text_of(task.host), why_of(task)});
  return table.render(terminal);
}

struct ListOptions {
  std::string job;
  std::string filter = "all";
  std::optional<std::uint32_t> from, limit;
};

Result<int> list_tasks(const ListOptions& options, Invocation& invocation) {
  constexpr std::uint32_t kUsual = 100, kMost = 1000;
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  job::TaskQuery query{
      .filter = *gateway::task_filter(options.filter), .from = options.from.value_or(0), .limit = options.limit.value_or(kUsual)};
  if (query.limit == 0 || query.limit > kMost) return fail(Kind::invalid, "--limit is from 1 to {}", kMost);
  GW_TRY(const job::TaskPage page, client.tasks(id, query));
  std::string text = page.tasks.empty() ? fmt::format("No task of job {} is in this list\n", id.brief())
                                        : tasks_table(page.tasks, PeerNames::of(client), invocation.console.out());
  if (page.next) text += fmt::format("{} of {} shown. More: --from {}\n", page.tasks.size(), page.count, *page.next);
  std::string numbers;
  for (const node::ThreadView& task : page.tasks) numbers += (numbers.empty() ? "" : "\n") + std::to_string(*task.task);
  Json json = {{"id", id.hash.hex()}};
  json.update(gateway::to_json(page));
  invocation.console.print({"godwit.task.list/1", json, text, numbers});
  return 0;
}

struct TaskChoice {
  std::string job;
  std::optional<std::uint32_t> task;
};

Result<node::ThreadView> find_task(Client& client, const job::JobId& id, std::uint32_t number) {
  GW_TRY(const job::TaskPage page, client.tasks(id, {.from = number, .limit = 1}));
  if (page.tasks.empty() || page.tasks.front().task != number)
    return fail(Kind::not_found, "job {} has no task {}: list its tasks with 'godwit task list {}'", id.brief(), number, id.brief());
  return page.tasks.front();
}

std::string time_text(job::Time since_1970) {
  if (since_1970 == job::Time(0)) return "-";
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

// The first bytes of what the task has written to a stream.
Result<std::string> head_of(Client& client, const job::JobId& id, std::uint32_t task, node::Stream stream) {
  constexpr std::size_t kShown = 4096;
  node::FrameQuery query{.order = node::FrameQuery::Order::task, .stream = stream, .tasks = job::TaskSet()};
  query.tasks->add(task);
  std::string bytes;
  GW_TRY_VOID(client.read_frames(id, query, Client::ReadUntil::now, [&](const wire::pb::OutputFrame& frame) {
    bytes += frame.bytes();
    return bytes.size() < kShown ? Client::StreamControl::proceed : Client::StreamControl::stop;
  }));
  bytes.resize(std::min(bytes.size(), kShown));
  return bytes;
}

Result<int> show_task(const TaskChoice& choice, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, choice.job));
  GW_TRY(const node::ThreadView task, find_task(client, id, *choice.task));
  GW_TRY(const std::string errors, head_of(client, id, *choice.task, node::Stream::errors));
  Rows rows;
  rows.add("task", "task", *task.task);
  if (!task.name.empty()) rows.add("name", "name", task.name);
  rows.add("state", "state", gateway::name(task.state));
  if (is_over(task)) rows.add("exit_code", "exit code", task.exit_code);
  rows.add("attempts", "runs", task.attempts)
      .add("host", "host", task.host ? Json(task.host->hash.hex()) : Json(), PeerNames::of(client).text_of(task.host))
      .add("started_at", "started", 0, time_text(task.started_at))
      .add("ended_at", "ended", 0, time_text(task.ended_at))
      .add("time", "time", 0, duration_of(task));
  if (!task.sentence.empty()) rows.add("sentence", "why", task.sentence, first_line(task.sentence));
  if (task.why.reason != Reason::ok) rows.add("reason", "waits", entry_of(task.why.reason).name, sentence_of(task.why));
  std::string text = rows.render(invocation.console.out());
  const std::string printed = printable(errors, Newlines::kept);
  if (!errors.empty()) text += fmt::format("\nstandard error:\n{}{}", printed, printed.ends_with('\n') ? "" : "\n");
  Json json = {{"id", id.hash.hex()}};
  json["task"] = gateway::to_json(task);
  invocation.console.print({"godwit.task.show/1", json, text, std::string(gateway::name(task.state))});
  return 0;
}

Result<int> explain_task(const TaskChoice& choice, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, choice.job));
  GW_TRY(const node::ThreadView task, find_task(client, id, *choice.task));
  const PeerNames names = PeerNames::of(client);
  const ReasonEntry& entry = entry_of(task.why.reason);
  const std::string called = task.name.empty() ? std::to_string(*task.task) : fmt::format("{} ({})", *task.task, task.name);
  std::string text = fmt::format("Task {} of job {} is {}", called, id.brief(), gateway::name(task.state));
  if (task.host) text += fmt::format("{} {}", is_over(task) ? ", on host" : " at host", names.text_of(task.host));
  if (is_over(task)) text += fmt::format(", with exit code {} after {}, in run {}", task.exit_code, duration_of(task), task.attempts);
  text += "\n";
  if (!task.sentence.empty())
    text += fmt::format("{}: {}\n", is_over(task) ? "Why it ended" : "Why it does not run", printable(task.sentence, Newlines::indented));
  if (task.why.reason != Reason::ok) text += fmt::format("Why it does not run: {} ({})\n", sentence_of(task.why), entry.name);
  if (!entry.fix.empty()) text += fmt::format("What to do: {}\n", entry.fix);
  if (task.why.reason != Reason::ok && task.why.reason != Reason::tasks_before) {
    GW_TRY(const node::JobView view, client.job(id));
    if (const std::string peers = absent_of(view, std::bind_front(&PeerNames::text_of, &names), invocation.console.out()); !peers.empty())
      text += "\n" + peers;
  }
  invocation.console.print({"godwit.task.explain/1",
                            {{"id", id.hash.hex()},
                             {"task", *task.task},
                             {"name", task.name},
                             {"state", gateway::name(task.state)},
                             {"reason", entry.name},
                             {"meaning", entry.sentence},
                             {"detail", task.why.detail},
                             {"fix", entry.fix},
                             {"sentence", task.sentence}},
                            text,
                            std::string(entry.name)});
  return 0;
}

void add_choice(CommandTree& tree, Command& parent, const std::string& name, Command::Text text,
                Result<int> (*action)(const TaskChoice&, Invocation&)) {
  Command& command = tree.add(parent, name, std::move(text));
  auto choice = std::make_shared<TaskChoice>();
  command.add_argument("JOB", choice->job, kJobText);
  command.add_number("N", choice->task, "Number of the task", "N", Command::Presence::required);
  tree.add_setting(command, Key::socket);
  command.on_selected([choice, action](Invocation& invocation) { return action(*choice, invocation); });
}

}  // namespace

void add_task_commands(CommandTree& tree) {
  Command& task = tree.add(tree.root(), "task",
                           {.summary = "List, show and explain the tasks of a job",
                            .details = "Run the failed tasks of a job, and those skipped because of them, again with 'godwit job rerun JOB "
                                       "--filter failed'.",
                            .examples = {"godwit task list last --filter failed", "godwit task show last 17"}});
  task.require_subcommand();
  Command& list = tree.add(
      task, "list",
      {.summary = "List the tasks of a job",
       .details = "Lists the state, exit code, runs, time and host of each task. A task that waits for its turn at a "
                  "host is 'waiting'.",
       .examples = {"godwit task list last", "godwit task list study --filter failed", "godwit task list last --from 100 -o json"}});
  auto options = std::make_shared<ListOptions>();
  list.add_argument("JOB", options->job, kJobText);
  list.add_choice("--filter", options->filter, "List only tasks in this state", "FILTER");
  list.add_number("--from", options->from, "Begin with this task", "N");
  list.add_number("--limit", options->limit, "List at most N tasks (default: 100)", "N");
  tree.add_setting(list, Key::socket);
  list.on_selected([options](Invocation& invocation) { return list_tasks(*options, invocation); });
  add_choice(tree, task, "show",
             {.summary = "Show a task: exit code, times, host, runs and standard error",
              .details = "",
              .examples = {"godwit task show last 17", "godwit task show study 17 -o json"}},
             show_task);
  add_choice(tree, task, "explain",
             {.summary = "Explain why a task waits or failed",
              .details = "Prints the reason with its name (docs/reasons.md), its numbers, what it means and what to do.",
              .examples = {"godwit task explain last 17", "godwit task explain study 17 -o json"}},
             explain_task);
}

}  // namespace gw::cli
