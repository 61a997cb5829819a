#include <fmt/core.h>

#include <functional>
#include <memory>

#include "cli/commands/job_parts.h"
#include "cli/console/job_tables.h"
#include "cli/jobs/job_selector.h"
#include "cli/jobs/peer_names.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

Result<int> explain_job(const std::string& name, Invocation& invocation) {
  gateway::Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY(const node::JobView view, client.job(id));
  const PeerNames names = PeerNames::of(client);
  const node::JobSummary& summary = view.summary;
  Json waits = Json::array(), failures = Json::array(), absent = Json::array();
  for (const job::WaitCount& wait : view.waits) {
    const ReasonEntry& entry = entry_of(wait.why.reason);
    waits.push_back(
        {{"reason", entry.name}, {"threads", wait.count}, {"sentence", entry.sentence}, {"detail", wait.why.detail}, {"fix", entry.fix}});
  }
  for (const job::PeerReason& one : view.absent)
    absent.push_back({{"peer", one.peer.hash.hex()},
                      {"name", names.name_of(one.peer)},
                      {"reason", entry_of(one.why.reason).name},
                      {"detail", one.why.detail}});
  std::string text = waits_of(view, invocation.console.out());
  if (text.empty())
    text = fmt::format("Job {} is {}: {} running, none waiting\n", id.brief(), gateway::name(summary.state), summary.running);
  if (!summary.sentence.empty()) text += fmt::format("The job {}\n", summary.sentence);
  if (summary.failed > 0 && summary.tasks > 1)
    text += fmt::format("{} of its tasks failed: godwit task list {} --filter failed\n", summary.failed, id.brief());
  if (summary.skipped > 0)
    text += fmt::format("{} of its tasks are skipped because of them: godwit task list {} --filter skipped\n", summary.skipped, id.brief());
  if (const std::string peers = absent_of(view, std::bind_front(&PeerNames::text_of, &names), invocation.console.out()); !peers.empty())
    text += "\n" + peers;
  for (const node::JobPeerView& peer : view.peers) {
    if (peer.failure.empty()) continue;
    failures.push_back({{"peer", peer.id.hash.hex()}, {"name", peer.name}, {"sentence", peer.failure}});
    text += fmt::format("Peer {} said last of a worker: {}\n", peer_text(peer.name, peer.id), peer.failure);
  }
  const std::string first = view.waits.empty() ? "ok" : std::string(entry_of(view.waits.front().why.reason).name);
  invocation.console.print({"godwit.job.explain/1",
                            {{"id", id.hash.hex()},
                             {"state", gateway::name(summary.state)},
                             {"sentence", summary.sentence},
                             {"failed", summary.failed},
                             {"skipped", summary.skipped},
                             {"waits", waits},
                             {"absent", absent},
                             {"failures", failures}},
                            text,
                            first});
  return 0;
}

}  // namespace

void add_explain_command(CommandTree& tree, Command& job) {
  Command& command =
      tree.add(job, "explain",
               {.summary = "Explain why a job waits, and what failed",
                .details = "Prints each reason with its name (docs/reasons.md), its numbers, what it means and what to do; then the live "
                           "peers that do not work for the job and why, and what peers said of workers that died.",
                .examples = {"godwit job explain last", "godwit job explain 3f9a01 -o json"}});
  auto name = std::make_shared<std::string>();
  command.add_argument("JOB", *name, kJobText);
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return explain_job(*name, invocation); });
}

}  // namespace gw::cli
