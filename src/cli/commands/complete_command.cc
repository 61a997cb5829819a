#include <algorithm>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "gateway/client.h"
#include "wire/machine_name.h"

namespace gw::cli {
namespace {

// Shells expand the words that they are offered, so only words that mean themselves are printed.
bool is_harmless(const std::string& word) {
  const auto is_plain = [](char c) { return wire::is_machine_name({&c, 1}); };
  return !word.empty() && !word.starts_with('-') && std::ranges::all_of(word, is_plain);
}

std::set<std::string> job_words(gateway::Client& client) {
  std::set<std::string> words;
  if (const auto jobs = client.jobs())
    for (const node::JobSummary& job : *jobs) words.insert({"last", job.id.brief(), job.name});
  return words;
}

std::set<std::string> peer_words(gateway::Client& client) {
  std::set<std::string> words;
  if (const auto peers = client.peers())
    for (const node::PeerView& peer : *peers) words.insert({peer.id.brief(), peer.name});
  return words;
}

std::set<std::string> grid_words(gateway::Client& client) {
  std::set<std::string> words;
  if (const auto grids = client.grids())
    for (const node::GridView& grid : *grids) words.insert(grid.name);
  return words;
}

// Without a daemon there is nothing to offer, and nothing to complain about in the middle of a line.
Result<int> complete(const std::string& what, Invocation& invocation) {
  gateway::Client client(invocation.settings.socket());
  std::string text;
  for (const std::string& word : what == "job" ? job_words(client) : what == "peer" ? peer_words(client) : grid_words(client))
    if (is_harmless(word)) text += word + "\n";
  invocation.console.print_text(text);
  return 0;
}

}  // namespace

// Hidden: completion scripts call it.
void add_complete_command(CommandTree& tree) {
  Command& command =
      tree.add(tree.root(), "complete",
               {.summary = "Print the jobs, peers or grids that a completion script offers", .examples = {"godwit complete job"}});
  command.hide();
  auto what = std::make_shared<std::string>();
  command.add_choice("LIVE", *what, "job, peer or grid", "LIVE", Command::Presence::required);
  command.on_selected([what](Invocation& invocation) { return complete(*what, invocation); });
}

}  // namespace gw::cli
